"""Enters a code into boxes of one character each."""

from typing import Final

from playwright.async_api import ElementHandle, Locator

from browse_together.contract.actions import interaction
from browser_service.actions.support.field_values import not_as_given
from browser_service.host import world
from browser_service.host.elements.locators import none_if_gone
from browser_service.host.scripts import results, script
from browser_service.host.tabs.presses import sent, typing

_LEAST: Final = 3
_BOX: Final = script("code_box")
_TEXT: Final = results.bounded(script("code_text"))


async def have_room(first: ElementHandle, text: str) -> bool:
    """Return whether an element is the first of several boxes of one character that can take a text."""
    return len(text) >= _LEAST and await _shown(first, text) is not None


async def enter(first: ElementHandle, text: str, selector: str | None, timeout_ms: float) -> str:
    """Type a character into each box that does not have it: the page may have moved on by itself from one to the next.
    Return what was done. Raises WithoutEffect if the boxes have something else then."""
    for number, sign in enumerate(text):
        shown = await none_if_gone(_shown(first, text))
        if shown is None or shown == text:
            break  # it was sent once it was complete, say
        box = await world.element(first, _BOX, [len(text), number])
        if box is not None and await box.input_value(timeout=timeout_ms) != sign:
            await box.select_text(timeout=timeout_ms)
            await sent(box.type(sign, timeout=timeout_ms), typing(sign))
    shown = await none_if_gone(_shown(first, text))
    if shown not in {text, None}:
        raise not_as_given(
            f"The {len(text)} boxes of one character show {len(shown)} characters, and not those given.", selector
        )
    return f"in {len(text)} boxes of one character"


async def in_boxes(
    element: Locator | ElementHandle, has: str, text: str, action: interaction.Fill | interaction.Type
) -> str:
    """Enter the rest of a text of which an element took one character at most, if it is the first of several boxes.
    Return what was done, "" if it is none. Raises WithoutEffect."""
    if len(has) > 1 or has == text:
        return ""
    first = await none_if_gone(_handle(element, action.timeout))
    if first is None or not await have_room(first, text):
        return ""
    return await enter(first, text, action.selector, action.timeout)


async def _shown(first: ElementHandle, text: str) -> str | None:
    """Return what the boxes show together; None if they are none."""
    return next(iter(results.read(list[str], await world.evaluate(first, _TEXT, len(text)))), None)


async def _handle(element: Locator | ElementHandle, timeout_ms: float) -> ElementHandle:
    return await world.handle_of(element, timeout_ms) if isinstance(element, Locator) else element
