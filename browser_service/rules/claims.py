"""Claims: who holds a name, and who waits for it.

Use renews a claim. An idle claim lapses, unless it is kept for longer; the next client to come then takes the name. A
name that becomes free while somebody waits is offered to the first in line, and passes on if the offer is not used.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from browser_service.rules.turns import Line, Place, Send
from browser_service.rules.window import Clock
from shared.calls import ClientRef

OFFER_S = 12.0
_LAPSED_ONES_KEPT = 1_000


class Claim:
    """A client's claim on a name. Times are in seconds of `clock`."""

    def __init__(self, client: ClientRef, clock: Clock, reason: str = "") -> None:
        self.client = client
        self.reason = reason
        self.used_at = clock()
        self.kept_until = 0.0
        self.offered_until: float | None = None
        """When the offer ends; None once the claim was used, or if it was never offered."""
        self._clock = clock

    @property
    def client_id(self) -> str:
        return self.client.client_id

    @property
    def holder_name(self) -> str:
        """Return the holder's name as others may see it."""
        return self.client.named

    @property
    def idle_s(self) -> float:
        return self._clock() - self.used_at

    @property
    def kept_s(self) -> float:
        """Return for how many more seconds the claim is kept even if idle."""
        return max(0.0, self.kept_until - self._clock())

    def use(self, reason: str = "", keep_s: float = 0) -> None:
        """Renew the claim, and keep it for at least `keep_s` seconds even if idle."""
        now = self._clock()
        self.used_at, self.offered_until = now, None
        self.reason = reason or self.reason
        self.kept_until = max(self.kept_until, now + keep_s)


C = TypeVar("C", bound=Claim)


@dataclass(eq=False)
class Candidate(Place, Generic[C]):
    """A call that waits for a name, with the claim that it will get."""

    claim: C


class MoveCause(StrEnum):
    IDLE = "idle"
    """The claim had lapsed, or nobody held the name."""
    FORCED = "forced"
    OFFERED = "offered"
    UNUSED = "unused"


class Move(NamedTuple, Generic[C]):
    """The passing of a name from one holder to another, or to nobody."""

    key: str
    cause: MoveCause
    before: C | None
    after: C | None


class Claimable(Generic[C]):
    """A name that one client at a time holds. `advance` applies what the clock has made due.

    `lapses_at` returns when a claim lapses; a claim that is `in_use` does not lapse.
    """

    def __init__(
        self,
        key: str,
        lapses_at: Callable[[C], float],
        on_move: Callable[[Move[C]], None],
        send: Send,
        *,
        clock: Clock,
        in_use: Callable[[C], bool] = lambda _: False,
    ) -> None:
        self.claim: C | None = None
        """The last claim, which may have lapsed."""
        self.line = Line[Candidate[C]](send, lambda: self.claim.holder_name if self.claim else "")
        self._key = key
        self._lapses_at = lapses_at
        self._on_move = on_move
        self._clock = clock
        self._in_use = in_use

    @property
    def lapsed(self) -> bool:
        """Return whether the next client to come may have the name."""
        claim = self.claim
        return claim is None or (self._clock() >= self._lapses_at(claim) and not self._in_use(claim))

    @property
    def unused(self) -> bool:
        """Return whether an offer of the name ran out with nobody else in line."""
        return self.claim is not None and self.claim.offered_until is not None and self.lapsed and not self.line

    def free_in(self) -> float:
        """Return the seconds until the claim lapses if its holder stays idle; infinite if it never does."""
        return max(0.0, self._lapses_at(self.claim) - self._clock()) if self.claim is not None else 0.0

    def take(self, claim: C, cause: MoveCause) -> None:
        """Make `claim` the current one, and grant the other places of its client in the line."""
        for candidate in [each for each in self.line if each.client_id == claim.client_id]:
            self.line.serve(candidate)
        self._move(cause, claim)

    def free(self) -> None:
        """Release the name, and offer it to the first in line."""
        self.claim = None
        self.advance()
        self.line.wake()

    def wait(self, candidate: Candidate[C]) -> None:
        self.line.join(candidate)
        self.advance()

    def leave(self, candidate: Candidate[C]) -> None:
        """Take a candidate out of the line. A claim that was granted stays granted."""
        if self.line.leave(candidate):
            self.line.tell()

    def advance(self) -> None:
        """Offer a free name to the first in line."""
        if not self.line.places:
            return
        first = self.line.first() if self.lapsed else None
        if first is not None:
            now = self._clock()
            first.claim.used_at, first.claim.offered_until = now, now + OFFER_S
            unused = self.claim is not None and self.claim.offered_until is not None
            self.take(first.claim, MoveCause.UNUSED if unused else MoveCause.OFFERED)
        self.line.tell()

    def _move(self, cause: MoveCause, after: C) -> None:
        before, self.claim = self.claim, after
        self._on_move(Move(self._key, cause, before, after))
        self.line.tell()
        self.line.wake()


@dataclass(eq=False)
class Claims:
    """Claims on any names. What the clock has made due is applied by the next question, or by `advance`."""

    idle_s: float
    on_move: Callable[[Move[Claim]], None]
    send: Send = lambda _: None
    clock: Clock = time.monotonic

    def __post_init__(self) -> None:
        self._names: dict[str, Claimable[Claim]] = {}

    def holder(self, key: str) -> Claim | None:
        """Return the claim on a name, which may be idle."""
        self.advance(key)
        return self._names[key].claim if key in self._names else None

    def line(self, key: str) -> list[Candidate[Claim]]:
        self.advance(key)
        return [*self._names[key].line] if key in self._names else []

    def held(self) -> dict[str, Claim]:
        claims = {key: self.holder(key) for key in [*self._names]}
        return {key: claim for key, claim in claims.items() if claim is not None}

    def free_in(self, key: str) -> float:
        """Return the seconds until the claim lapses if its holder stays idle."""
        self.advance(key)
        return self._names[key].free_in() if key in self._names else 0.0

    def claim(self, key: str, client: ClientRef, reason: str = "", keep_s: float = 0) -> Claim | None:
        """Renew the client's claim, or take a name that is free or idle. Return None if another client holds it."""
        self.advance(key)
        name = self._name(key)
        if name.claim is not None and name.claim.client_id == client.client_id:
            name.claim.use(reason, keep_s)
            return name.claim
        return self._take(key, client, reason, keep_s, MoveCause.IDLE) if name.lapsed else None

    def force(self, key: str, client: ClientRef, reason: str, keep_s: float = 0) -> Claim:
        """Take the name from its holder. Whoever waits in line goes on waiting."""
        return self.claim(key, client, reason, keep_s) or self._take(key, client, reason, keep_s, MoveCause.FORCED)

    def wait(self, key: str, client: ClientRef, reason: str = "", call_id: str = "") -> Candidate[Claim]:
        """Return a place at the end of the line, which is granted in its turn."""
        candidate = Candidate(call_id, client.client_id, Claim(client, self.clock, reason))
        self._name(key).wait(candidate)
        return candidate

    def leave(self, key: str, candidate: Candidate[Claim]) -> None:
        self._name(key).leave(candidate)
        self.advance(key)

    def release(self, key: str, client_id: str) -> bool:
        """Release the name, and return whether the client held it."""
        claim = self.holder(key)
        if claim is None or claim.client_id != client_id:
            return False
        self._names[key].free()
        self.advance(key)
        return True

    def forget_client(self, client_id: str) -> None:
        """Release everything that a departed client holds, and take it out of all lines."""
        for name in self._names.values():
            for candidate in [each for each in name.line if each.client_id == client_id]:
                name.leave(candidate)
        for key in [*self._names]:
            self.release(key, client_id)

    def count(self, client_id: str) -> int:
        """Return how many names a client holds or waits for."""
        names = self._names.values()
        held = sum(name.claim is not None and name.claim.client_id == client_id for name in names)
        return held + sum(candidate.client_id == client_id for name in names for candidate in name.line)

    def advance(self, key: str) -> None:
        """End an unused offer, and offer a free name to the first in line."""
        if (name := self._names.get(key)) is None:
            return
        if name.unused:
            unused, name.claim = name.claim, None
            self.on_move(Move(key, MoveCause.UNUSED, unused, None))
        name.advance()
        if name.claim is None and not name.line:
            del self._names[key]

    def advance_all(self) -> None:
        """Advance all names with a line."""
        for key in [key for key, name in self._names.items() if name.line]:
            self.advance(key)

    def _take(self, key: str, client: ClientRef, reason: str, keep_s: float, cause: MoveCause) -> Claim:
        self._drop_lapsed()
        claim = Claim(client, self.clock, reason)
        claim.use(keep_s=keep_s)
        self._name(key).take(claim, cause)
        return claim

    def _name(self, key: str) -> Claimable[Claim]:
        if key not in self._names:
            self._names[key] = Claimable(key, self._lapses_at, self.on_move, self.send, clock=self.clock)
        return self._names[key]

    def _lapses_at(self, claim: Claim) -> float:
        if claim.offered_until is not None:
            return claim.offered_until
        return max(claim.used_at + self.idle_s, claim.kept_until)

    def _drop_lapsed(self) -> None:
        """Forget lapsed names without a line, once there are more than 1,000 names."""
        if len(self._names) > _LAPSED_ONES_KEPT:
            self._names = {key: name for key, name in self._names.items() if not name.lapsed or name.line}
