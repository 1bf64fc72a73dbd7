"""Finds elements by selectors and refs, and evaluates functions on them."""

import json
import re
from collections.abc import Awaitable
from typing import Any, Final, TypeVar
from urllib.parse import quote

from playwright.async_api import ElementHandle, Frame, FrameLocator, Locator, Page, Playwright
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from browse_together.contract.errors import InvalidSelector
from browse_together.contract.wire import REF_PATTERN
from browser_service.host import errors, world
from browser_service.host.elements import frames
from browser_service.host.scripts import call_of, script
from browser_service.host.scripts.results import BadResult, bounded, of_kind, read
from browser_service.host.world.worlds import ENGINE

T = TypeVar("T")
_ENGINE: Final = "as-given"
_OF_ORIGIN: Final = "of-origin"
_NO_EDITOR: Final = "no-editor"
_OR_LABEL: Final = "or-label"
TREE_BOUNDS: Final = "within-bounds"
_NOT_AS_GIVEN: Final = ("Error: not as given", "Invalid frame in aria-ref selector")
"""Beginnings of these errors."""
_LOOKED_UP: Final = re.compile(
    rf'\.locator\("{_ENGINE}=[^"]*"\)\.or_\(locator\("{_ENGINE}=there"\)\)|\.locator\("(?:{_NO_EDITOR}|{_OR_LABEL})=1"\)'
)
_LEADING_REF: Final = re.compile(rf"{REF_PATTERN[:-1]}(?= *>>|$)")


class Candidate(TypedDict):
    """What tells an element apart from others."""

    tag: str
    text: str
    visible: bool
    near: str
    """What a person sees in the part around it that has none of the others."""
    after: str
    """The words before it, if there are none near."""
    at: str
    css: str
    """CSS that finds it alone in its document; "" for none."""


class Candidates(TypedDict):
    """The result of DESCRIBE."""

    value: list[Candidate]


DESCRIBE: Final = script("candidates")

_AFTER_ACT: Final = script("after_act")
_ON_NONE: Final = "act => arg => act([], arg)"


def is_ref(selector: str) -> bool:
    return re.fullmatch(REF_PATTERN, selector) is not None


def leading_ref(selector: str) -> str | None:
    """Return the ref that a selector begins with: `e12`, or `e12 >> role=button`."""
    match = _LEADING_REF.match(selector)
    return match.group() if match else None


def is_xpath(selector: str) -> bool:
    return selector.startswith(("//", "(//", "..", "xpath="))


def find(page: Page, selector: str, frame: str | None) -> Locator:
    """Return the locator of a selector. A ref is found anywhere, any other selector in the page or the given frame."""
    if leading_ref(selector):
        return page.locator(f"aria-ref={selector}")
    root: Page | FrameLocator = page
    if frame:
        root = page.locator(f"aria-ref={frame}").content_frame if is_ref(frame) else page.frame_locator(frame)
    return frames.locate(root, selector)


async def register_engines(playwright: Playwright) -> None:
    """Register our selector engines, which run where a page's scripts cannot reach them: in the contexts of now and
    later, but not in documents in which Playwright has looked for anything before."""
    engines = {
        _ENGINE: script("ref_engine"),
        _OF_ORIGIN: script("origin_engine"),
        _NO_EDITOR: script("text_engine"),
        _OR_LABEL: script("label_engine"),
        TREE_BOUNDS: script("tree_bounds"),
        ENGINE: script("kept_engine"),
    }
    for name, source in engines.items():
        await playwright.selectors.register(name, script=call_of(source), content_script=True)


def as_given(page: Page, selector: str, expected: dict[str, object], *, strict: bool) -> Locator:
    """Return a locator for an act on the element of a ref, or on something inside it. It works only while the element
    is as expected, and else fails at once with an error that `is_not_as_given` recognizes."""
    ref, _, inner = selector.partition(">>")
    given = page.locator(f"aria-ref={ref.strip()}").locator(f"{_ENGINE}={quote(json.dumps(expected))}")
    found = given.or_(page.locator(f"{_ENGINE}=there"))
    if inner:
        found = found.locator(inner.strip())
        return found if strict else found.first
    return found


async def is_of_origin(frame: Frame, origin: str) -> bool:
    """Return whether a frame's document has an origin. Its address does not tell, because a server may sandbox uploaded
    documents."""
    return await frame.locator(f"{_OF_ORIGIN}={quote(origin, safe='')}").count() > 0


def is_not_as_given(error: PlaywrightError) -> bool:
    first = str(error).partition("\n")[0]
    return any(words in first for words in _NOT_AS_GIVEN)


def no_editor(element: Locator) -> Locator:
    """Return a locator of the same element. Acts by it fail at once if the element takes text for an editor:
    `is_of_editor` recognises that error."""
    return element.locator(f"{_NO_EDITOR}=1")


def is_of_editor(error: PlaywrightError) -> bool:
    return "Error: of an editor" in str(error).partition("\n")[0]


async def click(element: Locator, **how: Any) -> None:  # Any: Playwright's arguments
    """Click an element, or the label that covers it where that is its own."""
    try:
        await element.locator(f"{_OR_LABEL}=1").click(**how)
    except PlaywrightError as error:
        raise without_engines(error) from error


def without_engines(error: PlaywrightError) -> PlaywrightError:
    """Return the error of an act by `as_given`, `no_editor` or `click` in the words that it would have without them."""
    return type(error)(_LOOKED_UP.sub("", error.message))


async def evaluate_all(kind: type[T], target: world.Target, source: str, arg: object = None) -> T:
    """Evaluate a function on the elements found (on no element for a document), without waiting for any. Raises
    BadResult for a result that is too large or of the wrong kind."""
    if isinstance(target, Page | Frame):
        return read(kind, await world.evaluate(target, bounded(call_of(_ON_NONE, source)), arg))
    found = [target] if isinstance(target, ElementHandle) else target
    return read(kind, await world.evaluate_all(found, bounded(source), arg))


async def read_back(kind: type[T], locator: Locator, expression: str) -> T | None:
    """Read what an act left behind, or return None if the element went.

    The act is over, so this waits only for a turn of the page's own scripts. A label stands for its control, as in
    Playwright's own acts.
    """
    found = await none_if_gone(evaluate_all(list[object], locator, call_of(_AFTER_ACT, expression)))
    return of_kind(kind, found[0]) if found else None


async def none_if_gone(evaluation: Awaitable[T]) -> T | None:
    """Return the result of an evaluation, or None if the act led away from the document. Raises BadResult."""
    try:
        return await evaluation
    except PlaywrightError as error:
        if errors.is_closed(error) or isinstance(error, BadResult):
            raise
        return None


async def without_state_check(act: Awaitable[None]) -> None:
    """Tick without Playwright's own check of the result, which comes too early if a server is asked."""
    try:
        await act
    except PlaywrightError as error:
        if "did not change its state" not in str(error):
            raise


async def check_syntax(locator: Locator, selector: str, page: Page) -> None:
    """Raise InvalidSelector for what no engine can parse, because waiting for it would be futile."""
    try:
        await locator.count()
    except PlaywrightError as error:
        if errors.is_closed(error) or errors.TOO_LONG in str(error):
            raise
        first = str(error).splitlines()[0]
        raise InvalidSelector(
            f"Selector {selector!r} has a syntax error: {first}", details={"selector": selector, "url": page.url}
        ) from None
