"""The lease of a host elsewhere: the front grants it, and a host that lost it ends before the front gives away what it
had.

No clocks are compared. Each grant names a `basis`, a moment that the host itself has told, and runs from there by the
host's clock. The front counts from when it heard of that moment, which is later, and waits a margin longer. So a grant
that is late, lost or repeated can only shorten the lease.
"""

import time
from math import inf
from typing import Final, NamedTuple

from browser_service.rules.window import Clock

MARGIN_S: Final = 1.0
"""How much longer than the lease the front waits: within this the host ends its browsers."""


def awake_or_asleep() -> float:
    """Return the seconds since the machine started, with those for which it slept where the system counts them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Grant(NamedTuple):
    """What the front sends. Without a basis it only asks the host for one."""

    basis_ms: int | None
    ttl_ms: int


class HeldLease:
    """A host's side. Once the lease has ended, nothing renews it: what had it begins anew as another incarnation."""

    def __init__(self, clock: Clock = awake_or_asleep) -> None:
        """`clock` counts on while the machine sleeps."""
        self._clock = clock
        self._told_ms = self._now_ms()
        self._until_ms = -inf
        self._ended = self._given_up = False

    def tell(self) -> int:
        """Return the moment that the next grant may name, in milliseconds of this host's clock."""
        self._told_ms = self._now_ms()
        return self._told_ms

    def take(self, grant: Grant) -> None:
        """Take a grant. One that names no moment that this host has told is ignored."""
        if grant.basis_ms is not None and grant.basis_ms <= self._told_ms and not self.ended:
            self._until_ms = max(self._until_ms, grant.basis_ms + grant.ttl_ms)

    @property
    def held(self) -> bool:
        """Return whether the host may act now."""
        return not self.ended and self._now_ms() < self._until_ms

    @property
    def ended(self) -> bool:
        """Return whether the host had the lease and has lost it."""
        self._ended = self._ended or -inf < self._until_ms <= self._now_ms()
        return self._ended

    @property
    def left_s(self) -> float:
        """Return the seconds until the lease ends; 0 if there is none."""
        return max(0.0, (self._until_ms - self._now_ms()) / 1000) if self.held else 0.0

    @property
    def lapsed(self) -> bool:
        """Return whether the host must not even end in good order any more. One that gave the lease up may do so for
        the rest of its time."""
        return self.ended and not (self._given_up and self._now_ms() < self._until_ms)

    def give_up(self) -> None:
        """End in good order: no more calls, while what there is may be closed."""
        self._ended = self._given_up = True

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)


class GrantedLease:
    """The front's side: what it has granted to one incarnation of a host, and when it may give its sessions away."""

    def __init__(self, ttl_ms: int, clock: Clock = time.monotonic) -> None:
        """`clock` never runs fast; it may stand while the front's machine sleeps."""
        self._ttl_ms, self._clock = ttl_ms, clock
        self._basis: tuple[int, float] | None = None
        """The latest moment that the host told, and when that came."""
        self._lost_at = -inf
        self._ended = False

    def kept(self, told_ms: int) -> None:
        """Note a moment that the host has told. Late ones change nothing."""
        if self._basis is None or told_ms > self._basis[0]:
            self._basis = told_ms, self._clock()

    def grant(self) -> Grant:
        """Return the grant to send now. After the end there is none but the question."""
        if self._basis is None or self.ended:
            return Grant(None, self._ttl_ms)
        told_ms, came_at = self._basis
        self._lost_at = max(self._lost_at, came_at + self._ttl_ms / 1000 + MARGIN_S)
        return Grant(told_ms, self._ttl_ms)

    @property
    def ended(self) -> bool:
        """Return whether the host had the lease and certainly acts no more, so that others may have its sessions."""
        self._ended = self._ended or -inf < self._lost_at <= self._clock()
        return self._ended

    @property
    def ends_in_s(self) -> float:
        """Return the seconds until the lease has certainly ended, if nothing renews it; 0 if nothing was granted. Call
        `end` before giving its sessions away."""
        return 0.0 if self.ended else max(0.0, self._lost_at - self._clock())

    def end(self) -> None:
        """End the lease at once, because it is known that the host acts no more: it said so, or a new incarnation with
        the same lock is there."""
        self._ended = True
