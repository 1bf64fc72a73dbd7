"""Finds elements by selectors and refs, and evaluates functions of them."""

import re
from collections.abc import Awaitable
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import FrameLocator, Locator, Page

from browser_service.host import errors
from browser_service.host.elements import frames
from browser_service.host.scripts import applied, script
from shared.errors import InvalidSelector
from shared.wire import REF_PATTERN

_LOOK_MS: Final = 1_500
_SCOPED: Final = re.compile(rf"{REF_PATTERN[:-1]}(?= *>>|$)")

DESCRIBE: Final = script("candidates")

_AFTER_ACT: Final = script("after_act")
ON_NONE: Final = "act => arg => act([], arg)"
_ON_LISTED: Final = "act => (_, [found, arg]) => act(found, arg)"


def is_ref(selector: str) -> bool:
    return re.fullmatch(REF_PATTERN, selector) is not None


def scope_of(selector: str) -> str | None:
    """Return the ref that a selector begins with: `e12`, or `e12 >> role=button`."""
    found = _SCOPED.match(selector)
    return found.group() if found else None


def is_xpath(selector: str) -> bool:
    return selector.startswith(("//", "(//", "..", "xpath="))


def find(page: Page, selector: str, frame: str | None) -> Locator:
    """Return the locator of a selector: a ref anywhere, the rest in the page or in one of its frames."""
    if scope_of(selector):
        return page.locator(f"aria-ref={selector}")
    root: Page | FrameLocator = page
    if frame:
        root = page.locator(f"aria-ref={frame}").content_frame if is_ref(frame) else page.frame_locator(frame)
    return frames.within(root, selector)


async def in_page(found: Locator, source: str, arg: object = None) -> Any:  # Any: whatever JSON the script gives
    """Evaluate a function of the elements found, without waiting for any.

    Those within a ref are taken one by one: Playwright knows no refs when it looks up several.
    """
    if "aria-ref=" not in str(found):
        return await found.evaluate_all(source, arg)
    elements = [await found.nth(n).element_handle(timeout=_LOOK_MS) for n in range(await found.count())]
    if not elements:
        return await found.page.evaluate(applied(ON_NONE, source), arg)
    return await elements[0].evaluate(applied(_ON_LISTED, source), [elements, arg])


async def unless_unchanged(act: Awaitable[None]) -> None:
    """Tick, without Playwright's own look at the result, which comes too early if a server is asked."""
    try:
        await act
    except PlaywrightError as error:
        if "did not change its state" not in str(error):
            raise


async def read_back(found: Locator, expression: str) -> Any:  # Any: whatever JSON the expression gives
    """Read what an act left behind, or None if its element went with it.

    The act is done, so this waits for nothing but a turn of the page's own scripts. A label stands for its control, as
    it does for Playwright's own acts.
    """
    try:
        values = await in_page(found, applied(_AFTER_ACT, expression))
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return None
    return values[0] if values else None


async def unless_gone(found: Awaitable[Any]) -> Any:  # Any: whatever JSON it gives
    """Return None if the act led away from the document."""
    try:
        return await found
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return None


async def check_syntax(found: Locator, selector: str, page: Page) -> None:
    """Raise InvalidSelector for what no engine can parse; waiting for it would be in vain."""
    try:
        await found.count()
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        first = str(error).splitlines()[0]
        raise InvalidSelector(
            f"Selector {selector!r} has a syntax error: {first}", details={"selector": selector, "url": page.url}
        ) from None
