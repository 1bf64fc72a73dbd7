"""Replaces the text of editors that keep it outside the element which takes the keys."""

from typing import Final

from playwright.async_api import ElementHandle, Locator, Page
from typing_extensions import TypedDict

from browser_service.host import results
from browser_service.host.elements.field_values import not_as_given
from browser_service.host.elements.locators import evaluate_all
from browser_service.host.scripts import script
from shared.next_calls import next_call

_IS_EDITOR: Final = script("editor")
_PASTE: Final = results.bounded(script("paste"))
_TEXT: Final = results.bounded(script("editor_text"))


class _Shown(TypedDict):
    """The result of _TEXT."""

    shown: str
    shows: bool


async def is_editor(element: Locator) -> bool:
    return (await evaluate_all(list[bool], element, _IS_EDITOR))[:1] == [True]


async def replace_text(page: Page, element: ElementHandle, selector: str, text: str, timeout_ms: float) -> str:
    """Select all text of an editor, paste over it as a person would, and return what it then shows. Typing into its
    hidden field would only add to the old text. Raises WithoutEffect."""
    await element.press("ControlOrMeta+a", timeout=timeout_ms)
    if not text:
        await page.keyboard.press("Delete")
    elif results.value_of(await element.evaluate(_PASTE, {"text": text, "html": None})) == "ignored":
        await page.keyboard.insert_text(text)
    seen = results.read(_Shown, await element.evaluate(_TEXT, text))
    if not seen["shows"]:
        raise not_as_given(
            f"The text was pasted over all that was selected in the editor, which shows {seen['shown']!r}.",
            selector,
            hint=f"See what became of it before you enter it again: {next_call('snapshot')}.",
        )
    return f"pasted over the editor's whole text; it shows {seen['shown']!r} now"
