"""Moves the focus, and pastes where it is."""

from typing import Final

from playwright.async_api import ElementHandle
from typing_extensions import TypedDict

from browse_together.contract.actions import editing
from browse_together.contract.cuts import cut
from browse_together.contract.errors import ElementNotInteractable
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.elements import targets
from browser_service.host.elements.filled_fields import Field
from browser_service.host.elements.locators import none_if_gone, read_back
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import results, script

_HAS_FOCUS: Final = "e => e.getRootNode().activeElement === e || e.matches(':focus-within')"
_PASTE: Final = results.bounded(script("paste"))
_VALUE: Final = results.bounded(script("pasted_value"))
_VALUE_CHARACTERS: Final = 200


class Pasted(TypedDict):
    value: str | None
    field: Field | None


async def focus(page: BrowserPage, action: editing.Focus) -> Json:
    element = await page.elements.find(action.selector, action.frame, strict=action.strict)
    await element.focus(**action.own_arguments(), timeout=action.timeout)
    if not await read_back(bool, element, _HAS_FOCUS):
        raise ElementNotInteractable(
            f"The element matching '{action.selector}' did not take the focus: no field, no link, no tabindex; or the "
            "page moved it on.",
            hint=f"Focus what is inside it, or click it: {next_call('snapshot')}.",
        )
    return {"observed": "it has the focus now"}


async def blur(page: BrowserPage, action: editing.Blur) -> Json:
    element = await page.elements.find(action.selector, action.frame, strict=action.strict)
    had = results.value_of(await world.evaluate(element, results.bounded(_HAS_FOCUS), timeout_ms=action.timeout))
    await element.blur(**action.own_arguments(), timeout=action.timeout)
    if await read_back(bool, element, _HAS_FOCUS):
        return {"observed": "it still has the focus: the page gave it back"}
    return {"observed": "it has lost the focus" if had else "it did not have the focus, and has not now"}


async def paste(page: BrowserPage, action: editing.Paste) -> Json:
    if action.selector is not None:
        named = await page.elements.find(action.selector, action.frame, strict=action.strict)
        await named.focus(timeout=action.timeout)
        element = await world.handle_of(named, action.timeout)
    else:
        element = await targets.focused_element(page.playwright)
    taker = results.value_of(await world.evaluate(element, _PASTE, {"text": action.text, "html": action.html}))
    if taker == "ignored":
        raise ElementNotInteractable(
            "Nothing took what was pasted: neither an editable element nor a handler of the page.",
            hint=f"Name the field: {next_call('paste', selector='...', text='...')}.",
        )
    result = await none_if_gone(_pasted(element))
    field = result["field"] if result is not None else None
    if field is not None and action.selector is not None:
        page.remember_field(action.selector, action.frame, field, strict=action.strict)
    elif field is not None:
        page.remember_field(field["selector"], field["frame"], field)
    return {"pasted": taker, "observed": _describe_paste(result and result["value"], taker)}


async def _pasted(element: ElementHandle) -> Pasted:
    return results.read(Pasted, await world.evaluate(element, _VALUE))


def _describe_paste(value: str | None, taker: object) -> str:
    """Describe what the element has after the paste; the page may have changed it."""
    observed = "the page's own handler took it" if taker == "taken" else "it was inserted"
    if value is None:
        return observed
    text = value if len(value) <= _VALUE_CHARACTERS else f"{cut(value, _VALUE_CHARACTERS)}…"
    return f"{observed}; the element has {text!r} now"
