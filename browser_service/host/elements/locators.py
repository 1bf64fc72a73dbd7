"""Finds elements by selectors and refs, and evaluates functions on them."""

import contextlib
import json
import re
from collections.abc import Awaitable
from typing import Final, TypeVar
from urllib.parse import quote

from playwright.async_api import ElementHandle, Frame, FrameLocator, Locator, Page, Playwright
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from browse_together.contract.errors import InvalidSelector
from browse_together.contract.wire import REF_PATTERN
from browser_service.host import errors
from browser_service.host.elements import frames
from browser_service.host.elements.handles import taken
from browser_service.host.scripts import call_of, script
from browser_service.host.scripts.results import BadResult, Evaluates, bounded, of_kind, read

T = TypeVar("T")
_HANDLE_MS: Final = 1_500
_ENGINE: Final = "as-given"
_OF_ORIGIN: Final = "of-origin"
_NO_EDITOR: Final = "no-editor"
TREE_BOUNDS: Final = "within-bounds"
_NOT_AS_GIVEN: Final = ("Error: not as given", "Invalid frame in aria-ref selector", f'Unknown engine "{_ENGINE}"')
"""Beginnings of these errors. Playwright registers no engine in a context that existed when it attached to the
browser."""
_LOOKED_UP: Final = re.compile(
    rf'\.locator\("{_ENGINE}=[^"]*"\)\.or_\(locator\("{_ENGINE}=there"\)\)|\.locator\("{_NO_EDITOR}=1"\)'
)
_ONE_REF: Final = re.compile(rf" selector='(aria-ref={REF_PATTERN[1:-1]})(?: >> nth=0)?'>$")
_LEADING_REF: Final = re.compile(rf"{REF_PATTERN[:-1]}(?= *>>|$)")


GONE: Final = ("Failed to find element matching selector", "Invalid frame in aria-ref selector")
"""Parts of Playwright's errors for a ref whose element is gone."""


class Candidate(TypedDict):
    """What tells an element apart from others."""

    tag: str
    text: str
    visible: bool


class Candidates(TypedDict):
    """The result of DESCRIBE."""

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
    """Return the locator of a selector. A ref is found anywhere, any other selector in the page or the given frame."""
    if leading_ref(selector):
        return page.locator(f"aria-ref={selector}")
    root: Page | FrameLocator = page
    if frame:
        root = page.locator(f"aria-ref={frame}").content_frame if is_ref(frame) else page.frame_locator(frame)
    return frames.locate(root, selector)


async def register_engines(playwright: Playwright) -> None:
    """Register the selector engines that `as_given`, `no_editor` and `is_of_origin` use, and the limits of Playwright's
    trees. They run where a page's scripts cannot reach them."""
    engines = {
        _ENGINE: script("ref_engine"),
        _OF_ORIGIN: script("origin_engine"),
        _NO_EDITOR: script("text_engine"),
        TREE_BOUNDS: script("tree_bounds"),
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
    documents. In an attached browser, the document itself is asked."""
    try:
        return await frame.locator(f"{_OF_ORIGIN}={quote(origin, safe='')}").count() > 0
    except PlaywrightError as error:
        if f'Unknown engine "{_OF_ORIGIN}"' not in str(error):
            raise
        return bool(await frame.evaluate("origin => self.origin === origin", origin))


def is_not_as_given(error: PlaywrightError) -> bool:
    first = str(error).partition("\n")[0]
    return any(words in first for words in _NOT_AS_GIVEN)


def no_editor(element: Locator) -> Locator:
    """Return a locator of the same element. Acts by it fail at once if the element takes text for an editor:
    `is_of_editor` recognises that error."""
    return element.locator(f"{_NO_EDITOR}=1")


def is_of_editor(error: PlaywrightError) -> bool:
    return "Error: of an editor" in str(error).partition("\n")[0]


def knows_no_editors(error: PlaywrightError) -> bool:
    """Return whether the context existed before Playwright attached to its browser, and so has no engine of ours."""
    return f'Unknown engine "{_NO_EDITOR}"' in str(error)


def without_engines(error: PlaywrightError) -> PlaywrightError:
    """Return the error of an act by `as_given` or `no_editor` in the words that it would have without them."""
    return type(error)(_LOOKED_UP.sub("", error.message))


async def handle_of_ref(locator: Locator) -> Locator | ElementHandle:
    """Return a ref's element as a handle, on which functions are evaluated at once; return any other locator
    unchanged."""
    if "aria-ref=" not in str(locator) or not await locator.count():
        return locator
    handle = await none_if_gone(locator.element_handle(timeout=_HANDLE_MS))
    return taken(handle) if handle is not None else locator


async def evaluate_all(
    kind: type[T], locator: Locator | ElementHandle | Evaluates, source: str, arg: object = None
) -> T:
    """Evaluate a function on the elements found (on no element for a document), without waiting for any. Raises
    BadResult for a result that is too large or of the wrong kind.

    Elements within a ref are taken one by one, because Playwright resolves no refs when it looks up several.
    """
    if isinstance(locator, Locator):
        return read(kind, await _evaluate_all(locator, bounded(source), arg))
    on = _ON_ONE if isinstance(locator, ElementHandle) else ON_NONE
    return read(kind, await locator.evaluate(bounded(call_of(on, source)), arg))


async def _evaluate_all(locator: Locator, source: str, arg: object) -> object:
    if "aria-ref=" not in str(locator):
        return await locator.evaluate_all(source, arg)
    if one := _ONE_REF.search(str(locator)):
        with contextlib.suppress(NoElement):
            return await evaluate_one(locator.page, one[1], call_of(_ON_ONE, source), arg)
    count = await locator.count()
    elements = [taken(await locator.nth(number).element_handle(timeout=_HANDLE_MS)) for number in range(count)]
    if not elements:
        return await locator.page.evaluate(call_of(ON_NONE, source), arg)
    return await elements[0].evaluate(call_of(_ON_LISTED, source), [elements, arg])


class NoElement(Exception):
    """There is no such element, or no longer."""


async def evaluate_one(page: Page, selector: str, source: str, arg: object) -> object:
    """Evaluate a function on the only element of a selector or ref, with one message. Raises NoElement."""
    try:
        return await page.eval_on_selector(selector, source, arg)
    except PlaywrightError as error:
        if any(words in str(error) for words in GONE):
            raise NoElement from None
        raise


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
