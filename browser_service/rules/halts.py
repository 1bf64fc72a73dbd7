"""Which agents a person has paused or stopped: single ones, or all with those who come."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock

PAUSE_S: Final = 600.0
"""How long a pause lasts at most, so that a forgotten one holds nobody for ever."""
_MOST: Final = 1_000


@dataclass(frozen=True)
class Halt:
    """One pause or stop, by whom and since when: `since` by the clock of the rules, `at` as Unix time."""

    how: Literal["pause", "stop"]
    by: str
    since: float
    at: float = field(default_factory=time.time)

    @property
    def stops(self) -> bool:
        return self.how == "stop"

    def left_s(self, now: float) -> float:
        """Return how many seconds it still lasts; a stop lasts until the person ends it."""
        return self.since + PAUSE_S - now if not self.stops else float("inf")


class Halts:
    """The pauses and stops. A single agent's own comes before that of all; who was let go alone is free of both."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self._single = Bounded[str, Halt | None](_MOST)
        self._all: Halt | None = None
        self.any = False
        """Whether any agent was halted since all could go on."""
        self._waiting: list[Callable[[], None]] = []
        self.on_change: Callable[[], None] = lambda: None

    @property
    def of_all(self) -> Halt | None:
        """Return what holds all agents, and those who come."""
        return self._now(self._all)

    def of(self, client_id: str) -> Halt | None:
        return self._now(self._single.get(client_id, self._all))

    def in_force(self) -> dict[str, Halt | None]:
        """Return what holds now by client, what holds all under "", with None for a client that was let go alone."""
        whole = {"": self.of_all} if self.of_all else {}
        return whole | {key: now for key, each in self._single.items() if (now := self._now(each)) or whole}

    def restore(self, client_id: str, halt: Halt | None) -> None:
        """Take back what held at an earlier start, as `in_force` named it."""
        self.any = True
        if client_id:
            self._single[client_id] = halt
        else:
            self._all = halt

    def begin(self, client_id: str | None, how: Literal["pause", "stop"], by: str) -> bool:
        """Halt a client; without an id, all. A pause ends no stop. Returns whether anything changed."""
        halt = Halt(how, by, self.clock())
        before = self._all if client_id is None else self.of(client_id)
        if before is not None and before.stops and not halt.stops:
            return False
        self.any = True
        if client_id is None:
            for key in [key for key, each in self._single.items() if halt.stops or not (each and each.stops)]:
                del self._single[key]
            self._all = halt
        else:
            self._single[client_id] = halt
        self._tell()
        return True

    def end(self, client_id: str | None) -> None:
        """Let a client go on; without an id, all."""
        if client_id is None:
            self._single.clear()
            self._all, self.any = None, False
        else:
            self._single[client_id] = None
        self._tell()

    @contextmanager
    def telling(self, on_change: Callable[[], None]) -> Iterator[None]:
        """Call `on_change` at each change within the block."""
        self._waiting.append(on_change)
        try:
            yield
        finally:
            self._waiting.remove(on_change)

    def _now(self, halt: Halt | None) -> Halt | None:
        return halt if halt is not None and halt.left_s(self.clock()) > 0 else None

    def _tell(self) -> None:
        self.on_change()
        for on_change in [*self._waiting]:
            on_change()
