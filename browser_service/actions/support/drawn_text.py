"""Finds text that a style sheet draws (::before and ::after), which Playwright's selectors do not find."""

import asyncio
import json
import re
from typing import Any, Final

from playwright.async_api import Locator
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser_service.host.elements.locators import none_if_gone
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, value_of
from shared.actions.waiting import WaitForSelector
from shared.errors import TimedOut
from shared.next_calls import next_call

_POLL_MS: Final = 300
_MOST_ELEMENTS: Final = 5_000
_SEARCH_MS: Final = 50

_DRAWN_TEXT: Final = bounded(script("drawn_text"))


TextQuery = dict[str, Any]  # Any: JSON, for _DRAWN_TEXT


def text_query(selector: str) -> TextQuery | None:
    """Return the text that a selector asks for, if it asks for nothing else."""
    match = re.fullmatch(r"text\s*=\s*(.+)|((['\"]).+\3)", selector, re.DOTALL)
    if match is None or ">>" in selector:
        return None
    literal = (match.group(1) or match.group(2)).strip()
    regex = re.fullmatch(r"/(.+)/([a-z]*)", literal, re.DOTALL)
    exact = len(literal) > 1 and literal[0] == literal[-1] and literal[0] in "'\""
    text = _unquoted(literal) if exact else literal
    return {
        "exact": exact,
        "regex": regex.group(1) if regex else None,
        "flags": regex.group(2) if regex else "",
        "text": " ".join(text.split()),
        "most": _MOST_ELEMENTS,
        "ms": _SEARCH_MS,
    }


async def wait_for(root: Locator, element: Locator, query: TextQuery, action: WaitForSelector) -> None:
    """Wait until a text appears or goes, whether in an element or drawn. Drawn text is polled."""
    clock, appears = asyncio.get_running_loop().time, action.state == "visible"
    deadline = clock() + action.timeout / 1000
    while (left_ms := (deadline - clock()) * 1000) > 0:
        try:
            await element.wait_for(state=action.state, timeout=min(_POLL_MS, max(1, left_ms)))
        except PlaywrightTimeout:
            if appears and await _is_drawn(root, query):
                return
        else:
            if appears or not await _is_drawn(root, query):
                return
            await asyncio.sleep(_POLL_MS / 1000)  # drawn text changes without an event
    if appears:
        await element.wait_for(state=action.state, timeout=1)  # its error names what is there instead
    raise TimedOut(
        f"{action.selector} was not {action.state} within {action.timeout} ms.",
        hint="The page stays open. Give it longer with `timeout` (ms), or look what it shows: "
        f"{next_call('snapshot')}.",
    )


async def _is_drawn(root: Locator, query: TextQuery) -> bool:
    """Return whether the text is drawn anywhere in a document; False if the document went."""
    answer = await none_if_gone(root.evaluate(_DRAWN_TEXT, query))
    return answer is not None and bool(value_of(answer))


def _unquoted(literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]
