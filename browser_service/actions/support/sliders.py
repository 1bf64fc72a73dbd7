"""Moves sliders with the keys that a person would press: pages may heed nothing else."""

import math
from typing import Final, NamedTuple

from playwright.async_api import ElementHandle, Locator, Page

from browser_service.host import world
from browser_service.host.scripts import results, script
from browser_service.host.tabs.presses import chord, sent

_STATE: Final = results.bounded(script("slider_state"))
_BESIDE: Final = results.bounded(script("range_beside"))
_MOST_KEYS: Final = 400
"""Limit for one slider; each key takes two messages."""


class _State(NamedTuple):
    now: float
    least: float
    most: float


async def move_slider(page: Page, slider: ElementHandle, value: float, timeout_ms: float) -> None:
    """Press keys until a slider has a value, or passes it because its steps skip it. Read afterwards which it has."""
    state = await _state(slider)
    if value in {state.least, state.most}:
        await sent(slider.press("Home" if value == state.least else "End", timeout=timeout_ms), chord("Home"))
        return
    pressed = 0
    while pressed < _MOST_KEYS and state.now != value:
        key, before = "ArrowRight" if value > state.now else "ArrowLeft", state
        await sent(slider.press(key, timeout=timeout_ms), chord(key))
        state, pressed = await _state(slider), pressed + 1
        step = abs(state.now - before.now)
        if not step or math.isnan(step) or abs(value - state.now) >= abs(value - before.now):
            return  # it does not move, or has passed the value
        for _ in range(min(_MOST_KEYS - pressed, int(abs(value - state.now) / step + 1e-9))):
            await sent(page.keyboard.press(key), chord(key))
            pressed += 1
        state = await _state(slider)


async def take_last_step(element: Locator | ElementHandle, value: str, timeout_ms: float) -> None:
    """Have a range input that has a value get it once more, by a key: from one step beside it."""
    beside, key = results.read(tuple[str, str], await world.evaluate(element, _BESIDE))
    await element.fill(beside, timeout=timeout_ms)
    await sent(element.press(key, timeout=timeout_ms), chord(key))
    if await element.input_value(timeout=timeout_ms) != value:
        await element.fill(value, timeout=timeout_ms)


async def _state(slider: ElementHandle) -> _State:
    return results.read(_State, await world.evaluate(slider, _STATE))
