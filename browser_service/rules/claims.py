"""Who holds a name, and who waits for it. Rules alone: no browser, no clock of its own, nothing asynchronous.

A claim is renewed by use and lapses when idle, unless it is kept for longer; whoever comes then takes it. A name that
becomes free while somebody waits is offered to the first in line, and passes on where the offer is not used.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from shared.calls import ClientRef

OFFER_S = 12.0
_LAPSED_ONES_KEPT = 1_000

Clock = Callable[[], float]


@dataclass
class Claim:
    """A holder's, from when it got the name."""

    who: ClientRef
    reason: str
    since: float
    used_at: float
    kept_until: float = 0.0
    offered_until: float | None = None
    """Until the first use, where it was waited for."""


@dataclass(eq=False)
class Place:
    """In the line for a name."""

    key: str
    who: ClientRef
    reason: str = ""
    granted: bool = False


class Why(StrEnum):
    IDLE = "idle"
    FORCED = "forced"
    OFFERED = "offered"
    UNUSED = "unused"


class Move(NamedTuple):
    """A name went from one holder to another, or to nobody."""

    key: str
    why: Why
    before: Claim | None
    after: Claim | None


class Claims:
    """Keys are any text. What is due by the clock happens at the next question, or in `advance`."""

    def __init__(
        self, idle_s: float, on_move: Callable[[Move], None], *, clock: Clock = time.monotonic, offer_s: float = OFFER_S
    ) -> None:
        self.clock = clock
        self.offer_s = offer_s
        self._idle_s = idle_s
        self._on_move = on_move
        self._held: dict[str, Claim] = {}
        self._lines: dict[str, deque[Place]] = {}

    def holder(self, key: str) -> Claim | None:
        """Whose it is, though it may be idle by now."""
        self.advance(key)
        return self._held.get(key)

    def line(self, key: str) -> list[Place]:
        self.advance(key)
        return [*self._lines.get(key, ())]

    def held(self) -> dict[str, Claim]:
        for key in [*self._held]:
            self.advance(key)
        return {**self._held}

    def free_in(self, key: str) -> float:
        """Seconds until it lapses, if its holder does nothing."""
        claim = self.holder(key)
        return max(0.0, self._lapses_at(claim) - self.clock()) if claim else 0.0

    def claim(self, key: str, who: ClientRef, reason: str = "", keep_s: float = 0) -> Claim | None:
        """Renew what is one's own, take what is free or idle; None where another holds it."""
        self.advance(key)
        held = self._held.get(key)
        if held is not None and held.who.client_id == who.client_id:
            return self._use(held, reason, keep_s)
        if held is not None and not self._lapsed(held):
            return None
        return self._take(key, who, reason, keep_s, Why.IDLE)

    def force(self, key: str, who: ClientRef, reason: str, keep_s: float = 0) -> Claim:
        """Take it from whoever holds it; those in line wait on."""
        return self.claim(key, who, reason, keep_s) or self._take(key, who, reason, keep_s, Why.FORCED)

    def wait(self, key: str, who: ClientRef, reason: str = "") -> Place:
        """A place at the end of the line; it is `granted` when its turn has come."""
        place = Place(key, who, reason)
        self._lines.setdefault(key, deque()).append(place)
        self.advance(key)
        return place

    def leave(self, place: Place) -> None:
        line = self._lines.get(place.key)
        if line is not None and place in line:
            line.remove(place)
            if not line:
                del self._lines[place.key]

    def release(self, key: str, client_id: str) -> bool:
        """Whether it was the client's to give up."""
        self.advance(key)
        held = self._held.get(key)
        if held is None or held.who.client_id != client_id:
            return False
        del self._held[key]
        self.advance(key)
        return True

    def gone(self, client_id: str) -> None:
        """A client that left holds nothing, and waits for nothing."""
        for key in [*self._lines]:
            for place in [place for place in self._lines[key] if place.who.client_id == client_id]:
                self.leave(place)
        for key in [*self._held]:
            self.release(key, client_id)

    def of(self, client_id: str) -> int:
        """How many names a client holds or waits for."""
        held = sum(claim.who.client_id == client_id for claim in self._held.values())
        return held + sum(place.who.client_id == client_id for line in self._lines.values() for place in line)

    def advance(self, key: str) -> None:
        """What is due: an offer that nobody used ends, and a free name goes to the first in line."""
        held = self._held.get(key)
        if held is not None and held.offered_until is not None and self._lapsed(held) and key not in self._lines:
            del self._held[key]
            self._on_move(Move(key, Why.UNUSED, held, None))
        elif key in self._lines and (held is None or self._lapsed(held)):
            self._offer(key, held)

    def _offer(self, key: str, before: Claim | None) -> None:
        first = self._lines[key][0]
        for place in [place for place in self._lines[key] if place.who.client_id == first.who.client_id]:
            place.granted = True
            self.leave(place)
        now = self.clock()
        after = self._held[key] = Claim(first.who, first.reason, now, now, offered_until=now + self.offer_s)
        unused = before is not None and before.offered_until is not None
        self._on_move(Move(key, Why.UNUSED if unused else Why.OFFERED, before, after))

    def _take(self, key: str, who: ClientRef, reason: str, keep_s: float, why: Why) -> Claim:
        before, now = self._held.get(key), self.clock()
        self._drop_lapsed()
        taken = self._held[key] = self._use(Claim(who, reason, now, now), reason, keep_s)
        for place in [place for place in self._lines.get(key, ()) if place.who.client_id == who.client_id]:
            place.granted = True
            self.leave(place)
        if before is not None:
            self._on_move(Move(key, why, before, taken))
        return taken

    def _use(self, claim: Claim, reason: str, keep_s: float) -> Claim:
        now = self.clock()
        claim.used_at, claim.offered_until = now, None
        claim.reason = reason or claim.reason
        claim.kept_until = max(claim.kept_until, now + keep_s)
        return claim

    def _lapses_at(self, claim: Claim) -> float:
        if claim.offered_until is not None:
            return claim.offered_until
        return max(claim.used_at + self._idle_s, claim.kept_until)

    def _lapsed(self, claim: Claim) -> bool:
        return self.clock() >= self._lapses_at(claim)

    def _drop_lapsed(self) -> None:
        """Names that were left behind stay only while they are few."""
        if len(self._held) > _LAPSED_ONES_KEPT:
            self._held = {key: claim for key, claim in self._held.items() if not self._lapsed(claim)}
