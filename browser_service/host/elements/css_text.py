"""Finds text that a style sheet draws (content of ::before and ::after), which Playwright's selectors do not."""

import asyncio
import json
import re
from typing import Any, Final

from playwright.async_api import Locator
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.host.elements.locators import unless_gone
from browser_service.host.scripts import script
from shared.actions.waiting import WaitForSelector
from shared.errors import TimedOut
from shared.next_calls import next_call

_LOOK_EVERY_MS: Final = 300
_MOST: Final = 5_000
_WITHIN_MS: Final = 50

_DRAWN: Final = script("drawn_text")


def text_of(selector: str) -> dict[str, Any] | None:  # Any: JSON, for _DRAWN
    """Return the text that a selector asks for, if it asks for nothing else."""
    found = re.fullmatch(r"text\s*=\s*(.+)|((['\"]).+\3)", selector, re.DOTALL)
    if found is None or ">>" in selector:
        return None
    said = (found.group(1) or found.group(2)).strip()
    regex = re.fullmatch(r"/(.+)/([a-z]*)", said, re.DOTALL)
    exact = len(said) > 1 and said[0] == said[-1] and said[0] in "'\""
    text = _unquoted(said) if exact else said
    return {
        "exact": exact,
        "regex": regex.group(1) if regex else None,
        "flags": regex.group(2) if regex else "",
        "text": " ".join(text.split()),
        "most": _MOST,
        "ms": _WITHIN_MS,
    }


async def wait_for(
    root: Locator,
    element: Locator,
    text: dict[str, Any],  # Any: as `wanted` gives it
    action: WaitForSelector,
) -> None:
    """Wait until a text appears or goes, as an element or drawn in the document; the drawn one is polled."""
    clock, appears = asyncio.get_running_loop().time, action.state == "visible"
    until = clock() + action.timeout / 1000
    while (left_ms := (until - clock()) * 1000) > 0:
        try:
            await element.wait_for(state=action.state, timeout=min(_LOOK_EVERY_MS, max(1, left_ms)))
        except PlaywrightTimeout:
            if appears and await _is_drawn(root, text):
                return
        else:
            if appears or not await _is_drawn(root, text):
                return
            await asyncio.sleep(_LOOK_EVERY_MS / 1000)  # generated text changes without an event
    if appears:
        await element.wait_for(state=action.state, timeout=1)  # its error says what there is instead
    raise TimedOut(
        f"{action.selector} was not {action.state} within {action.timeout} ms.",
        hint="The page stays open. Give it longer with `timeout` (ms), or look what it shows: "
        f"{next_call('snapshot')}.",
    )


async def _is_drawn(root: Locator, text: dict[str, Any]) -> bool:  # Any: as there
    """Say if the text is drawn somewhere in a document, which must not be leaving."""
    return bool(await unless_gone(root.evaluate(_DRAWN, text)))


def _unquoted(said: str) -> str:
    try:
        return str(json.loads(said))
    except ValueError:
        return said[1:-1]
