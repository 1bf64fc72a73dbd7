"""Finds elements by selectors and refs, and evaluates functions of them."""

import re
from collections.abc import Awaitable
from typing import Final, TypeVar

from playwright.async_api import ElementHandle, FrameLocator, Locator, Page
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from browser_service.host import errors
from browser_service.host.elements import frames
from browser_service.host.results import bounded, of_kind, read
from browser_service.host.scripts import call_of, script
from shared.errors import InvalidSelector
from shared.wire import REF_PATTERN

T = TypeVar("T")
_HANDLE_MS: Final = 1_500
_LEADING_REF: Final = re.compile(rf"{REF_PATTERN[:-1]}(?= *>>|$)")


class Candidate(TypedDict):
    """Is what tells an element found from others."""

    tag: str
    text: str
    visible: bool


class Candidates(TypedDict):
    """Is what DESCRIBE gives."""

    value: list[Candidate]


DESCRIBE: Final = script("candidates")

_AFTER_ACT: Final = script("after_act")
ON_NONE: Final = "act => arg => act([], arg)"
_ON_ONE: Final = "act => (e, arg) => act([e], arg)"
_ON_LISTED: Final = "act => (_, [found, arg]) => act(found, arg)"


def is_ref(selector: str) -> bool:
    return re.fullmatch(REF_PATTERN, selector) is not None


def leading_ref(selector: str) -> str | None:
    """Return the ref that a selector begins with: `e12`, or `e12 >> role=button`."""
    match = _LEADING_REF.match(selector)
    return match.group() if match else None


def is_xpath(selector: str) -> bool:
    return selector.startswith(("//", "(//", "..", "xpath="))


def find(page: Page, selector: str, frame: str | None) -> Locator:
    """Return the locator of a selector: a ref anywhere, the rest in the page or in one of its frames."""
    if leading_ref(selector):
        return page.locator(f"aria-ref={selector}")
    root: Page | FrameLocator = page
    if frame:
        root = page.locator(f"aria-ref={frame}").content_frame if is_ref(frame) else page.frame_locator(frame)
    return frames.locate(root, selector)


async def handle_of_ref(locator: Locator) -> Locator | ElementHandle:
    """Return the element itself of a ref, of which a function is evaluated at once; any other locator as it is."""
    if "aria-ref=" not in str(locator) or not await locator.count():
        return locator
    return await none_if_gone(locator.element_handle(timeout=_HANDLE_MS)) or locator


async def evaluate_all(kind: type[T], locator: Locator | ElementHandle, source: str, arg: object = None) -> T:
    """Evaluate a function of the elements found, without waiting for any. Raises BadResult for one that is too
    large, or not of the kind.

    Those within a ref are taken one by one: Playwright knows no refs when it looks up several.
    """
    if isinstance(locator, ElementHandle):
        return read(kind, await locator.evaluate(bounded(call_of(_ON_ONE, source)), arg))
    return read(kind, await _evaluate_all(locator, bounded(source), arg))


async def _evaluate_all(locator: Locator, source: str, arg: object) -> object:
    if "aria-ref=" not in str(locator):
        return await locator.evaluate_all(source, arg)
    count = await locator.count()
    elements = [await locator.nth(number).element_handle(timeout=_HANDLE_MS) for number in range(count)]
    if not elements:
        return await locator.page.evaluate(call_of(ON_NONE, source), arg)
    return await elements[0].evaluate(call_of(_ON_LISTED, source), [elements, arg])


async def evaluate_first(kind: type[T], locator: Locator, source: str, arg: object = None) -> T | None:
    """Return the first result of a function that gives a list; None if it is empty, or the element went."""
    found = await none_if_gone(evaluate_all(list[object], locator, source, arg))
    return of_kind(kind, found[0]) if found else None


async def read_back(kind: type[T], locator: Locator, expression: str) -> T | None:
    """Read what an act left behind, or None if its element went with it.

    The act is done, so this waits for nothing but a turn of the page's own scripts. A label stands for its control, as
    it does for Playwright's own acts.
    """
    return await evaluate_first(kind, locator, call_of(_AFTER_ACT, expression))


async def none_if_gone(evaluation: Awaitable[T]) -> T | None:
    """Return the result of an evaluation, or None if the act led away from the document."""
    try:
        return await evaluation
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return None


async def without_state_check(act: Awaitable[None]) -> None:
    """Tick, without Playwright's own look at the result, which comes too early if a server is asked."""
    try:
        await act
    except PlaywrightError as error:
        if "did not change its state" not in str(error):
            raise


async def check_syntax(locator: Locator, selector: str, page: Page) -> None:
    """Raise InvalidSelector for what no engine can parse; waiting for it would be in vain."""
    try:
        await locator.count()
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        first = str(error).splitlines()[0]
        raise InvalidSelector(
            f"Selector {selector!r} has a syntax error: {first}", details={"selector": selector, "url": page.url}
        ) from None
