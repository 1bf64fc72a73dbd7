"""The states of a page, the events that move it from one to another, and the log of its crashes."""

import time
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from browser_service.rules.window import Clock

CRASHES: Final = 3
_WITHIN_S: Final = 60.0
"""After CRASHES crashes at one URL within this time, the page does not reload by itself."""


class CrashLog:
    """The last crashes of one page, with the URL and the time of each."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._crashes: deque[tuple[str, float]] = deque(maxlen=CRASHES)

    def note(self, url: str) -> bool:
        """Note a crash. Returns True if it is one too many at that URL."""
        self._crashes.append((url, self._clock()))
        (first_url, first_at), (_, now) = self._crashes[0], self._crashes[-1]
        same_url = all(each == first_url for each, _ in self._crashes)
        return len(self._crashes) == CRASHES and same_url and now - first_at <= _WITHIN_S

    def allow_one(self) -> None:
        """Let one load pass: if it crashes at that URL within _WITHIN_S, that is again one too many."""
        now = self._clock()
        self._crashes.extend([(url, now) for url, _ in self._crashes][1:])
        self._crashes.popleft()


class Life(StrEnum):
    """The state of a page, as far as its host knows."""

    NEW = "new"
    """It was never open here."""
    OPEN = "open"
    """It has a tab that works."""
    SUSPECT = "suspect"
    """A call on its tab timed out. Before the next use, we ask the tab whether it responds."""
    LEAVING = "leaving"
    """We asked its tab to close, and its document may still refuse."""
    VANISHED = "vanished"
    """Its tab closed in the browser. A moment later it is known whether the whole browser ended."""
    LOST = "lost"
    """Its browser ended, and its tab with it."""
    CRASHED = "crashed"
    """Its renderer died."""
    QUARANTINED = "quarantined"
    """Its renderer died again and again at one URL, or we stopped it. The page does not reload by itself."""
    PARKED = "parked"
    """We closed its window because nobody used it."""
    AWAY = "away"
    """We gave up its window, and the next call opens another."""
    CLOSED = "closed"
    SESSION_CLOSED = "session closed"

    @property
    def live(self) -> bool:
        """True while the page has a tab that can be used."""
        return self in _LIVE

    @property
    def over(self) -> bool:
        """True once the page is closed for good."""
        return self in _OVER

    @property
    def closed(self) -> bool:
        """True if the page was closed, by a call or in the browser, and not merely lost with the browser."""
        return self in _CLOSED

    @property
    def crashed(self) -> bool:
        """True while its last renderer is known to have died."""
        return self in _CRASHED


class LifeEvent(StrEnum):
    """Something that happens to a page and may change its state."""

    OPENED = "opened"
    DOUBTED = "doubted"
    """A call on it timed out."""
    ANSWERED = "answered"
    """It responds after all."""
    ASKED_TO_LEAVE = "asked to leave"
    """Its tab closes unless its document refuses."""
    STAYED = "stayed"
    """Its document refused to be left."""
    PARKED = "parked"
    """We close its window because nobody uses it."""
    LEFT = "left"
    """We give up its window, if it has one."""
    TAB_CLOSED = "tab closed"
    BROWSER_ENDED = "browser ended"
    """Its browser ended with all tabs, or its session let go of it."""
    FOUND = "found"
    """Its session has the same browser again, with its tab."""
    CRASHED = "crashed"
    CRASHED_REPEATEDLY = "crashed repeatedly"
    """A renderer died at the same URL as those before it."""
    STOPPED = "stopped"
    """We killed its tab because it harmed others."""
    FREED = "freed"
    """Somebody asks to load it despite its crashes."""
    CLOSED = "closed"
    SESSION_CLOSED = "session closed"


class IllegalMove(Exception):
    """An event that cannot happen to a page in its state: a defect of the host."""


_LIVE: Final = frozenset({Life.OPEN, Life.SUSPECT, Life.LEAVING})
_OVER: Final = frozenset({Life.CLOSED, Life.SESSION_CLOSED})
_CLOSED: Final = _OVER | {Life.VANISHED}
_CRASHED: Final = frozenset({Life.CRASHED, Life.QUARANTINED})

_Moves = Mapping[LifeEvent, Life]

_ENDS: Final[_Moves] = {LifeEvent.CLOSED: Life.CLOSED, LifeEvent.SESSION_CLOSED: Life.SESSION_CLOSED}
_OPENS: Final[_Moves] = {
    **_ENDS,
    LifeEvent.OPENED: Life.OPEN,
    LifeEvent.CRASHED_REPEATEDLY: Life.QUARANTINED,
    LifeEvent.STOPPED: Life.QUARANTINED,
}
_WORKS: Final[_Moves] = {
    **_OPENS,
    LifeEvent.DOUBTED: Life.SUSPECT,
    LifeEvent.ANSWERED: Life.OPEN,
    LifeEvent.ASKED_TO_LEAVE: Life.LEAVING,
    LifeEvent.PARKED: Life.PARKED,
    LifeEvent.LEFT: Life.AWAY,
    LifeEvent.TAB_CLOSED: Life.VANISHED,
    LifeEvent.BROWSER_ENDED: Life.LOST,
    LifeEvent.CRASHED: Life.CRASHED,
}


def _without_tab(life: Life, moves: _Moves) -> _Moves:
    """Add that no end of a tab changes a page that has none, or whose end is known."""
    return {LifeEvent.LEFT: life, LifeEvent.TAB_CLOSED: life, LifeEvent.BROWSER_ENDED: life, **moves}


MOVES: Final[Mapping[Life, _Moves]] = MappingProxyType(
    {
        Life.NEW: _without_tab(Life.NEW, _OPENS),
        Life.OPEN: _WORKS,
        Life.SUSPECT: _WORKS,
        Life.LEAVING: {**_WORKS, LifeEvent.STAYED: Life.OPEN},
        Life.VANISHED: {
            **_OPENS,
            LifeEvent.LEFT: Life.AWAY,
            LifeEvent.TAB_CLOSED: Life.VANISHED,
            LifeEvent.BROWSER_ENDED: Life.LOST,
            LifeEvent.CRASHED: Life.CRASHED,
        },
        Life.LOST: {
            **_OPENS,
            LifeEvent.LEFT: Life.AWAY,
            LifeEvent.FOUND: Life.OPEN,
            LifeEvent.TAB_CLOSED: Life.VANISHED,
            LifeEvent.BROWSER_ENDED: Life.LOST,
            LifeEvent.CRASHED: Life.CRASHED,
        },
        Life.CRASHED: _without_tab(Life.CRASHED, _OPENS),
        Life.QUARANTINED: _without_tab(Life.QUARANTINED, {**_OPENS, LifeEvent.FREED: Life.CRASHED}),
        Life.PARKED: _without_tab(Life.PARKED, _OPENS),
        Life.AWAY: _without_tab(Life.AWAY, _OPENS),
        # what was under way when a page was closed may still come to its end
        Life.CLOSED: _without_tab(Life.CLOSED, dict.fromkeys((*_ENDS, LifeEvent.OPENED), Life.CLOSED)),
        Life.SESSION_CLOSED: _without_tab(
            Life.SESSION_CLOSED, dict.fromkeys((*_ENDS, LifeEvent.OPENED), Life.SESSION_CLOSED)
        ),
    }
)
"""For each state, the events that can happen, and the state that each leads to."""


def after(life: Life, event: LifeEvent) -> Life:
    """Return the state after an event. Raises IllegalMove for one that cannot happen in that state."""
    try:
        return MOVES[life][event]
    except KeyError:
        raise IllegalMove(f"A page that is {life} cannot be {event}.") from None
