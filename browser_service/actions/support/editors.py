"""Replaces the text of editors, and finds out whether an element takes text for one."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from playwright.async_api import ElementHandle, Locator, Page
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from browse_together.contract.next_calls import next_call
from browser_service.actions.support.field_values import not_as_given
from browser_service.host import world
from browser_service.host.elements import locators
from browser_service.host.scripts import results, script
from browser_service.host.tabs.presses import chord, sent

T = TypeVar("T")
_PASTE: Final = results.bounded(script("paste"))
_TEXT: Final = results.bounded(script("editor_text"))


class _Shown(TypedDict):
    """The result of _TEXT."""

    shown: str
    shows: bool


class _TakesForEditor(Exception):
    """The element takes text for an editor; nothing was entered."""


async def unless_editor(element: Locator, act: Callable[[Locator], Awaitable[None]]) -> None:
    """Do an act on an element that has its own text; for an element that serves an editor, `or_of_editor` does
    something else. Playwright checks this while it looks the element up, because a separate message would cost a round
    trip."""
    try:
        await act(locators.no_editor(element))
    except PlaywrightError as error:
        if locators.is_of_editor(error):
            raise _TakesForEditor from None
        raise locators.without_engines(error) from error


async def or_of_editor(filling: Awaitable[T], replacing: Callable[[], Awaitable[T]]) -> T:
    """Return the result of filling a field or, if the field turns out to serve an editor, of replacing the editor's
    text."""
    try:
        return await filling
    except _TakesForEditor:
        return await replacing()


async def replace_text(page: Page, element: ElementHandle, selector: str, text: str, timeout_ms: float) -> str:
    """Select all text of an editor, paste over it as a person would, and return what it then shows. Typing into its
    hidden field would only add to the old text. Raises WithoutEffect."""
    await sent(element.press("ControlOrMeta+a", timeout=timeout_ms), chord("ControlOrMeta+a"))
    if not text:
        await sent(page.keyboard.press("Delete"), chord("Delete"))
    elif results.value_of(await world.evaluate(element, _PASTE, {"text": text, "html": None})) == "ignored":
        await page.keyboard.insert_text(text)
    seen = await _shown(element, text)
    if not seen["shows"]:
        raise not_as_given(
            f"The text was pasted over all that was selected in the editor, which shows {seen['shown']!r}.",
            selector,
            hint=f"See what became of it before you enter it again: {next_call('snapshot')}.",
        )
    return f"pasted over the editor's whole text; it shows {seen['shown']!r} now"


async def typed_into(element: ElementHandle | Locator, text: str) -> str:
    """Return what an editor shows after keys went to its hidden field, whose own value tells nothing."""
    seen = await _shown(element, text)
    return "the editor shows it" if seen["shows"] else f"the editor shows {seen['shown']!r}, which lacks what was typed"


async def _shown(element: ElementHandle | Locator, text: str) -> _Shown:
    return results.read(_Shown, await world.evaluate(element, _TEXT, text))
