"""Claims: who holds a name, and who waits for it.

Use renews a claim. An idle claim lapses, unless it is kept for longer; the next client to come then takes the name. A
name that becomes free while somebody waits is offered to the first in line, and passes on if the offer is not used.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from browse_together.contract.calls import ClientRef
from browser_service.rules.turns import Line, Send, Ticket
from browser_service.rules.window import Clock

OFFER_S = 12.0


class Claim:
    """A client's claim on a name. Times are in seconds of `clock`."""

    def __init__(self, client: ClientRef, clock: Clock, reason: str = "") -> None:
        self.client = client
        self.client_id = client.client_id
        self.reason = reason
        self.used_at = clock()
        self.kept_until = 0.0
        self.offered_until: float | None = None
        """When the offer ends; None once the claim was used, or if it was never offered."""
        self._clock = clock

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
class Candidate(Ticket, Generic[C]):
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

    cause: MoveCause
    before: C | None
    after: C | None


class Claimable(Generic[C]):
    """A name that one client at a time holds. `advance` applies what the clock has made due.

    `lapses_at` returns when a claim lapses; a claim that is `in_use` does not lapse.
    """

    def __init__(
        self,
        lapses_at: Callable[[C], float],
        on_move: Callable[[Move[C]], None],
        send: Send,
        *,
        clock: Clock,
        in_use: Callable[[C], bool],
    ) -> None:
        self.claim: C | None = None
        """The last claim, which may have lapsed."""
        self.line = Line[Candidate[C]](send, lambda: self.claim.holder_name if self.claim else "")
        self._lapses_at = lapses_at
        self._on_move = on_move
        self._clock = clock
        self._in_use = in_use

    @property
    def lapsed(self) -> bool:
        """Return whether the next client to come may have the name."""
        claim = self.claim
        return claim is None or (self._clock() >= self._lapses_at(claim) and not self._in_use(claim))

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
        self._on_move(Move(cause, before, after))
        self.line.tell()
        self.line.wake()
