"""Checks fields a moment after acts left them: a page may take back what it was given."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Locator

from browser_service.host.elements.locators import in_page
from browser_service.host.scripts import script
from browser_service.rules.bounded import Bounded

_MOST: Final = 8
"""A page's last fields, this many, are looked at again."""
_LOOK_WITHIN_S: Final = 0.3
_READS_FOR_S: Final = 3.0
"""Calls that only read leave a field this long for the next call to look at."""
SHOWN: Final = 120
"""A field is shown with this many characters."""
_SHOWS: Final = script("shown_field")


@dataclass(frozen=True)
class _Note:
    at: float
    moves: int
    element: Locator
    shows: str


class FieldsLeft:
    """Remembers the fields of one page as acts left them, until the next act."""

    def __init__(self) -> None:
        self._notes = Bounded[tuple[str, str], _Note](_MOST)

    def note(self, client_id: str, moves: int, selector: str, element: Locator, shows: str) -> None:
        """Note how an act left a field, and the page's count of navigations."""
        self._notes[client_id, selector] = _Note(time.monotonic(), moves, element, shows)

    async def check(self, client_id: str, moves: int, *, acts: bool) -> list[str]:
        """Report, once, which fields no longer show what an act left. The next act ends that: it may change them."""
        if not self._notes:
            return []
        now = time.monotonic()
        mine = {key: note for key, note in self._notes.items() if key[0] == client_id and note.moves == moves}
        shown = await asyncio.gather(*(_shows(note.element) for note in mine.values()))
        lost: list[str] = []
        for (key, note), shows in zip(mine.items(), shown, strict=True):
            if shows not in {note.shows, None}:
                lost.append(f"{key[1]} was left as {note.shows}, and is {shows} by now.")
            if shows != note.shows or now - note.at > _READS_FOR_S:
                self._notes.pop(key, None)
        if acts:
            self._notes.clear()
        return lost


async def _shows(element: Locator) -> str | None:
    """Return what a field shows; None if it went, or its page is busy."""
    try:
        async with asyncio.timeout(_LOOK_WITHIN_S):
            return next(iter(await in_page(element, _SHOWS, SHOWN)), None)
    except (TimeoutError, PlaywrightError):
        return None
