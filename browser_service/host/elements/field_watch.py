"""Checks fields again a little after an act, because a page may revert them."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator

from browser_service.host.elements.locators import evaluate_all, leading_ref
from browser_service.host.scripts import script
from browser_service.rules.bounded import Bounded

_MOST_FIELDS: Final = 8
"""How many of a page's last fields are checked again."""
_LOOK_S: Final = 0.3
_WATCH_S: Final = 3.0
"""How long a field stays to be checked by calls that only read."""
FIELD_CHARACTERS: Final = 120
_SHOWN_FIELD: Final = script("shown_field")


@dataclass(frozen=True)
class _Field:
    filled_at: float
    moves: int
    element: Locator
    text: str


class FieldWatch:
    """The fields of one page as acts left them, until the next act."""

    def __init__(self) -> None:
        self._fields = Bounded[tuple[str, str], _Field](_MOST_FIELDS)
        self._last: tuple[tuple[str, str], _Field] | None = None

    def note(self, client_id: str, moves: int, selector: str, element: Locator, text: str) -> None:
        """Note what an act left in a field, with the page's count of navigations."""
        self._fields[client_id, selector] = _Field(time.monotonic(), moves, element, text)

    async def check(self, client_id: str, moves: int, *, acts: bool) -> list[str]:
        """Report, once, which fields no longer show what an act left. The next act ends the watch, as it may change
        them."""
        now = time.monotonic()
        own = {key: field for key, field in self._fields.items() if key[0] == client_id and field.moves == moves}
        if acts:
            self._fields.clear()
            self._last = max(own.items(), key=lambda item: item[1].filled_at, default=None)
        texts = await asyncio.gather(*(_text(field) for field in own.values()))
        reports: list[str] = []
        for (key, field), text in zip(own.items(), texts, strict=True):
            if text not in {field.text, None}:
                reports.append(_report(key[1], field, text))
                self._last = None
            if (text != field.text or now - field.filled_at > _WATCH_S) and self._fields.get(key) is field:
                self._fields.pop(key)
        return reports

    async def check_last(self, client_id: str, moves: int, selector: str | None) -> list[str]:
        """Report whether the previous act's field was emptied or changed as the running act, on `selector`, took the
        focus from it, because a picker may keep only confirmed input."""
        last, self._last = self._last, None
        if last is None or last[0][0] != client_id or last[0][1] == selector or last[1].moves != moves:
            return []
        text = await _text(last[1])
        return [_report(last[0][1], last[1], text)] if text not in {last[1].text, None} else []

    @property
    def is_empty(self) -> bool:
        return not self._fields

    @property
    def by_selectors(self) -> bool:
        """Whether each field is found by a selector, which takes two messages. An act sent after these does nothing
        before its third message, and one page answers in order, so the check comes first."""
        return not any(leading_ref(selector) for _, selector in self._fields)


def _report(selector: str, field: _Field, text: str | None) -> str:
    return f"{selector} was left as {field.text}, and is {text} by now."


async def _text(field: _Field) -> str | None:
    """Return what a field shows; None if it is gone. If its page is too busy, return the earlier text, so that the next
    check can report a change."""
    try:
        async with asyncio.timeout(_LOOK_S):
            return next(iter(await evaluate_all(list[str], field.element, _SHOWN_FIELD, FIELD_CHARACTERS)), None)
    except TimeoutError:
        return field.text
    except PlaywrightError:
        return None
