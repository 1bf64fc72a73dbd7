"""What people and agents wrote to each other: a short thread for each client, in memory."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from browser_service.rules.bounded import Bounded
from browser_service.rules.quotas import rate_limited
from browser_service.rules.window import Clock, MovingWindow

_THREADS: Final = 200
_LINES: Final = 20
_A_MINUTE: Final = 10


@dataclass(frozen=True)
class Line:
    """A line of a thread: who wrote it, at which Unix time, and the element that it is about."""

    by: str
    text: str
    of_person: bool
    about: str = ""
    at: float = field(default_factory=time.time)


@dataclass
class _Thread:
    written: MovingWindow
    lines: deque[Line] = field(default_factory=lambda: deque(maxlen=_LINES))


class Threads:
    """The latest lines by client."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._threads = Bounded[str, _Thread](_THREADS)
        self.on_change: Callable[[], None] = lambda: None

    def of(self, client_id: str) -> list[Line]:
        """Return a client's lines, the oldest first."""
        thread = self._threads.get(client_id)
        return [*thread.lines] if thread is not None else []

    def add(self, client_id: str, line: Line) -> None:
        """Add a line. Raises RateLimited if the client itself writes too many."""
        thread = self._threads.get(client_id) or _Thread(MovingWindow(_A_MINUTE, self._clock))
        if not line.of_person:
            if free_in := thread.written.free_in():
                raise rate_limited(
                    f"You wrote your person {_A_MINUTE} lines within a minute, which is the limit.",
                    free_in,
                    "Say it in one line then, or at the end of your turn.",
                    {"limit": "linesPerMinute", "value": _A_MINUTE},
                )
            thread.written.add()
        thread.lines.append(line)
        self._threads[client_id] = thread
        self.on_change()

    def forget(self, client_id: str) -> None:
        self._threads.pop(client_id, None)
