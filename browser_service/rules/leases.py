"""Leases: who may act on a page, what others may do with it meanwhile, and who waits for it. Rules only, no browser."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from browser_service.rules.bounded import Latest
from shared.calls import Call, ClientRef
from shared.errors import PageNotFound, TimedOut
from shared.next_calls import next_call
from shared.pages import Access, PageState

OFFER_S = 12.0
"""A page that somebody waited for passes on if it is not used within this."""
_TOLD_OF = 100
"""Agents, and others, that a holder is told of once; of more it may be told again."""

Busy = Callable[[str], bool]
"""Whether a client has a call queued or running on the page: its lease does not lapse meanwhile."""
Tell = Callable[[str, str], None]
"""Give a client, by its id, a notice."""
Moved = Callable[[Call, int, str], None]
"""A call waits at a position, behind somebody."""


@dataclass
class Lease:
    """A client's right to act on a page, renewed by use."""

    client_id: str
    label: str
    seq: int = 0
    """The front's number of the last call that used it."""
    agent: str = ""
    acted_at: float = field(default_factory=time.monotonic)
    offered_until: float | None = None
    held_until: float | None = None
    reason: str = ""
    gone: bool = False

    def renew(self, seq: int) -> None:
        self.seq = max(seq, self.seq)
        self.acted_at = time.monotonic()
        self.offered_until = None
        self.gone = False

    @property
    def who(self) -> str:
        """As others may read it."""
        name = self.label or "another client"
        return f"{name} · {self.agent}" if self.agent else name

    @property
    def idle_ms(self) -> int:
        return round((time.monotonic() - self.acted_at) * 1000)

    @property
    def hold_left_s(self) -> float:
        return max(0.0, (self.held_until or 0.0) - time.monotonic())


@dataclass(eq=False)
class Claim:
    """A call that waits until the page is free."""

    call: Call
    agent: str
    news: asyncio.Event = field(default_factory=asyncio.Event)
    granted: bool = False


class Ownership:
    """A page's lease, and the line of those who wait for it."""

    def __init__(self, state: PageState, idle_ms: int, busy: Busy, tell: Tell, moved: Moved) -> None:
        self.page_id = state.page_id
        self.access: Access = state.access
        self.left_by = state.left_by
        self.left_by_id = state.left_by_id
        self.lease = _restored(state)
        self._idle_s = idle_ms / 1000
        self._busy = busy
        self._tell = tell
        self._moved = moved
        self._line: deque[Claim] = deque()
        self._siblings = Latest[None](_TOLD_OF)
        self._visitors = Latest[None](_TOLD_OF)
        self._kept = False
        self._closed = False

    def holder(self) -> Lease | None:
        """Whose the page is now; None where the next to act gets it."""
        self._pass_on()
        return self.lease if self.lease is not None and not self._lapsed(self.lease) else None

    @property
    def abandoned(self) -> bool:
        """Whether nobody has it, nobody waits for it, and who had it is not there."""
        lease = self.lease
        return not self._line and not self._kept and (lease is None or (lease.gone and self._lapsed(lease)))

    def take(self, call: Call, agent: str) -> Lease | None:
        """Make the caller the holder; returns whose it was."""
        before = self.lease
        self._set(Lease(call.client_id, call.client_label, call.seq, agent))
        return before

    def force(self, call: Call, agent: str, reason: str) -> None:
        before = self.take(call, agent)
        if before is not None:
            self._tell(before.client_id, f'"{call.client_label}" took {self.page_id} from you: {reason}')

    def give(self, recipient: ClientRef) -> None:
        self._set(Lease(recipient.client_id, recipient.label))

    def sibling(self, client_id: str, owner: str, agent: str) -> None:
        """Tell a client once that one of its agents acts on what another of them opened."""
        if agent not in self._siblings:
            self._siblings[agent] = None
            self._tell(client_id, f'{self.page_id} was opened by your sibling "{owner}"; "{agent}" acts on it too.')

    def visited(self, call: Call, holder: Lease) -> None:
        """Tell the holder once that another works on what it shared."""
        if call.client_id not in self._visitors:
            self._visitors[call.client_id] = None
            self._tell(holder.client_id, f'"{call.client_label}" acts on {self.page_id}, which you shared.')

    def free(self) -> None:
        """The holder gives it up, or is gone: the first in line is offered it."""
        left_by = self.lease.label if self.lease else self.left_by
        self._set(None)
        self.left_by = left_by
        self._pass_on()

    def leave(self, client_id: str, before_seq: int) -> bool:
        """A client is gone: its lease lapses, unless a hold or privacy keeps it. Says whether anything changed."""
        lease = self.lease
        if lease is None or lease.client_id != client_id or lease.seq >= before_seq or lease.gone:
            return False
        lease.gone = True
        if self._lapsed(lease):
            self.free()
            if self.lease is None:
                self.left_by_id = client_id
        return True

    def used_by(self, call: Call) -> None:
        """What its holder does beside the page shows that it is there."""
        if self.lease is not None and self.lease.client_id == call.client_id:
            self.lease.renew(call.seq)

    def hold(self, reason: str, minutes: int) -> None:
        if self.lease is not None:
            self.lease.reason = reason
            self.lease.held_until = time.monotonic() + minutes * 60

    def keep(self, *, kept: bool) -> None:
        """While a person has the page, its lease neither lapses nor passes on; afterwards its holder goes on first."""
        self._kept = kept
        if self.lease is not None and not self.lease.gone:
            self.lease.acted_at = time.monotonic()
        for claim in self._line:
            claim.news.set()

    def share(self, access: Access) -> None:
        self.access = access
        self._visitors.clear()

    def close(self) -> None:
        """The page is gone, and whoever waits for it is told."""
        self._closed = True
        for claim in self._line:
            claim.news.set()

    async def wait(self, call: Call, agent: str, seconds: float) -> bool:
        """Wait in line for the page; whether it is the caller's now. Raises PageNotFound if it is closed."""
        claim = Claim(call, agent)
        later = next((i for i, other in enumerate(self._line) if other.call.seq > call.seq), len(self._line))
        self._line.insert(later, claim)
        self._show_line()
        until = time.monotonic() + seconds
        try:
            while not claim.granted and (left := until - time.monotonic()) > 0:
                await self._news(claim, min(left, self._free_in()))
                self._pass_on()
                if self._closed:
                    raise PageNotFound(f"Page {self.page_id!r} was closed while you waited for it.")
        except asyncio.CancelledError:
            if claim.granted:
                self.free()
            raise
        finally:
            if claim in self._line:
                self._line.remove(claim)
                self._show_line()
        return claim.granted

    def too_long(self, seconds: float) -> TimedOut:
        lease = self.lease
        who = lease.who if lease else "nobody"
        return TimedOut(
            f'"{self.page_id}" did not become free within {seconds:.0f} s: it is in use by "{who}".',
            hint="Wait again, or take it with a reason: "
            f"{next_call('claim_page', page_id=self.page_id, reason='...')}.",
            details={"context": {"pageId": self.page_id, "owner": who}},
        )

    def free_at(self) -> str | None:
        """The time of day when it becomes free if its holder does nothing; None where it does not."""
        seconds = self._free_in()
        if seconds == float("inf"):
            return None
        return (datetime.now().astimezone() + timedelta(seconds=seconds)).strftime("%H:%M:%S")

    def _set(self, lease: Lease | None) -> None:
        """A new holder: what the page was shared for ends, and those in line look anew when it may be free."""
        self.lease, self.left_by, self.left_by_id = lease, "", None
        self.share("read")
        self._siblings.clear()
        for claim in self._line:
            claim.news.set()

    def _lapsed(self, lease: Lease) -> bool:
        if self._kept:
            return False
        now = time.monotonic()
        if lease.offered_until is not None:
            return now >= lease.offered_until and not self._busy(lease.client_id)
        if self.access == "private" or lease.hold_left_s > 0:
            return False
        return lease.gone or (now - lease.acted_at >= self._idle_s and not self._busy(lease.client_id))

    def _free_in(self) -> float:
        """Seconds until the lease lapses by itself."""
        lease = self.lease
        if lease is None:
            return 0.0
        if self._kept:
            return float("inf")
        now = time.monotonic()
        if lease.offered_until is not None:
            return max(0.0, lease.offered_until - now)
        if self.access == "private":
            return float("inf")
        idle = 0.0 if lease.gone else self._idle_s - (now - lease.acted_at)
        return max(0.0, idle, lease.hold_left_s)

    def _pass_on(self) -> None:
        """Offer a free page to the first in line."""
        if not self._line or (self.lease is not None and not self._lapsed(self.lease)):
            return
        before = self.lease
        claim = self._line.popleft()
        self.take(claim.call, claim.agent)
        if self.lease is not None:
            self.lease.offered_until = time.monotonic() + OFFER_S
        if before is not None:
            self._tell(before.client_id, f'{self.page_id} went to "{claim.call.client_label}", who waited for it.')
        claim.granted = True
        claim.news.set()
        self._show_line()

    async def _news(self, claim: Claim, seconds: float) -> None:
        """Until something changes, or so long; a holder that works on is looked at again soon."""
        try:
            async with asyncio.timeout(max(seconds, 0.05)):
                await claim.news.wait()
        except TimeoutError:
            return
        claim.news.clear()

    def _show_line(self) -> None:
        behind = self.lease.who if self.lease else ""
        for position, claim in enumerate(self._line, 1):
            self._moved(claim.call, position, behind)


def _restored(state: PageState) -> Lease | None:
    """The lease that a page had before its host started anew."""
    if not state.holder_id:
        return None
    lease = Lease(state.holder_id, state.holder_label, agent=state.holder_agent, reason=state.hold_reason)
    if state.hold_left_ms:
        lease.held_until = time.monotonic() + state.hold_left_ms / 1000
    return lease
