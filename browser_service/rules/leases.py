"""Leases: who may act on a page, what others may do with it meanwhile, and who waits for it."""

import time
from collections.abc import Callable, Collection
from math import inf

from browse_together.contract.calls import Call, ClientRef
from browse_together.contract.errors import PageNotFound, PageOwned, TimedOut
from browse_together.contract.local_times import local_time
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Access, PageState
from browse_together.contract.words import own_words
from browser_service.rules.bounded import Bounded
from browser_service.rules.claims import Candidate, Claim, Claimable, Move, MoveCause
from browser_service.rules.turns import Send
from browser_service.rules.window import Clock

_TOLD_OF = 100
"""How many agents and visitors to remember, so that the holder is told of each only once."""

Busy = Callable[[str], bool]
"""Returns whether a client has a call queued or running on the page. Its lease does not lapse meanwhile."""
Tell = Callable[[str, str], None]


class Lease(Claim):
    """A client's right to act on a page, renewed by use."""

    def __init__(
        self, client: ClientRef, clock: Clock = time.monotonic, *, seq: int = 0, agent: str = "", reason: str = ""
    ) -> None:
        super().__init__(client, clock, reason)
        self.seq = seq
        """The front's number of the last call that used the lease."""
        self.agent = agent
        self.client_left = False
        self.idle_before_ms = 0
        """How long it was idle before a restart, after which its time to lapse begins anew."""

    def renew(self, seq: int) -> None:
        """Renew the lease for a call of its holder."""
        self.seq, self.idle_before_ms = max(seq, self.seq), 0
        self.client_left = False
        self.use()

    @property
    def label(self) -> str:
        return self.client.label

    @property
    def holder_name(self) -> str:
        """Return the holder's name as others may see it: the client, and which of its agents."""
        return f"{super().holder_name} · {self.agent}" if self.agent else super().holder_name

    @property
    def idle_ms(self) -> int:
        return self.idle_before_ms + round(self.idle_s * 1000)


class Ownership:
    """A page's lease, what others may do with the page, and the line of those who wait for it."""

    def __init__(
        self, state: PageState, idle_ms: int, busy: Busy, tell: Tell, send: Send, *, clock: Clock = time.monotonic
    ) -> None:
        self.page_id = state.page_id
        self.access: Access = state.access
        self.left_by = state.left_by
        self.left_by_id = state.left_by_id
        self._clock = clock
        self._idle_s = idle_ms / 1000
        self._tell = tell
        in_use = lambda lease: not lease.client_left and busy(lease.client_id)  # noqa: E731 - one expression
        self._page = Claimable[Lease](self._lapses_at, self._on_move, send, clock=clock, in_use=in_use)
        self._page.claim = _restored(state, clock)
        self._siblings = Bounded[str, None](_TOLD_OF)
        self._visitors = Bounded[str, None](_TOLD_OF)
        self._with_person = False
        self._closed = False

    @property
    def lease(self) -> Lease | None:
        """Return the last lease, which may have lapsed."""
        return self._page.claim

    def holder(self) -> Lease | None:
        """Return the current lease, or None if the page goes to whoever acts next."""
        page = self._page
        if page.line.places:
            self.advance()
        return None if page.lapsed else page.claim

    @property
    def private(self) -> bool:
        return self.access == "private"

    def private_from(self, client_id: str) -> bool:
        """Return whether the page is private to another client, so that this one may know only that it exists."""
        lease = self._page.claim if self.access == "private" else None
        return lease is not None and lease.client_id != client_id

    @property
    def waiting(self) -> int:
        return len(self._page.line)

    @property
    def abandoned(self) -> bool:
        """Return whether nobody holds the page or waits for it, and its last holder has left."""
        lease = self.lease
        is_left = lease is None or (lease.client_left and self._page.lapsed)
        return is_left and not self.waiting and not self._with_person

    @property
    def left_for_good(self) -> bool:
        """Return whether the last holder is gone; false if it released the page."""
        return self.left_by_id is not None or (self.lease is not None and self.lease.client_left)

    def take(self, call: Call, agent: str, cause: MoveCause = MoveCause.IDLE) -> Lease | None:
        """Make the caller the holder, and return the previous lease."""
        former = self.lease
        self._page.take(self._lease_for(call, agent), cause)
        return former

    def force(self, call: Call, agent: str, reason: str) -> None:
        """Take the page from its holder, who is told the reason. A private page stays private; only a person can take
        one."""
        former = self.lease
        self._pass_on(self._lease_for(call, agent))
        if former is not None:
            self._tell(former.client_id, f'"{call.client_label}" took {self.page_id} from you, {own_words(reason)}.')

    def give(self, recipient: ClientRef) -> None:
        """Make another client the holder. A private page stays private."""
        self._pass_on(Lease(recipient, self._clock))

    def tell_of_sibling(self, client_id: str, owner: str, agent: str) -> None:
        """Tell a client, once, that one of its agents acts on a page that another of its agents opened."""
        if agent not in self._siblings:
            self._siblings[agent] = None
            self._tell(client_id, f'{self.page_id} was opened by your sibling "{owner}"; "{agent}" acts on it too.')

    def tell_of_visit(self, call: Call, holder: Lease) -> None:
        """Tell the holder, once, that another client acts on the shared page."""
        if call.client_id not in self._visitors:
            self._visitors[call.client_id] = None
            self._tell(holder.client_id, f'"{call.client_label}" acts on {self.page_id}, which you shared.')

    def rename(self, client: ClientRef, former: str) -> bool:
        """Call a holder, a leaver or whoever waits by another label. Return whether it is one of the first two."""
        is_leaver = self.left_by == former
        claims = [self._page.claim, *(each.claim for each in self._page.line)]
        for lease in claims:
            if lease is not None and lease.client_id == client.client_id:
                lease.client = client
        self.left_by = client.label if is_leaver else self.left_by
        return is_leaver or (self.lease is not None and self.lease.client == client)

    def forget(self, client_ids: Collection[str], labels: Collection[str]) -> bool:
        """Take the name from the page if one of these clients left it, and return whether it did. Its id stays: it
        shows nobody's name, and tells that the page is left for good."""
        by_label = self.left_by_id is None and self.left_by.casefold() in labels
        is_left = by_label or self.left_by_id in client_ids
        if not (is_left and self.left_by):
            return False
        self.left_by = ""
        return True

    def free(self) -> None:
        """Release the page, and offer it to the first in line."""
        left_by = self.lease.label if self.lease else self.left_by
        self._begin_anew()
        self.left_by = left_by
        self._page.free()

    def leave(self, client_id: str, before_seq: int, *, for_good: bool = False) -> bool:
        """Mark the lease of a client that left, unless a call since `before_seq` used it. Return whether anything
        changed. The lease lapses at once, unless the page is private or held for a client that may return."""
        lease = self.lease
        if lease is None or lease.client_id != client_id or lease.seq >= before_seq:
            return False
        if lease.client_left and not (for_good and lease.kept_s):
            return False
        lease.client_left = True
        if for_good:
            lease.kept_until = -inf
        if self._page.lapsed:
            self.free()
            if self.lease is None:
                self.left_by_id = client_id
        return True

    def used_by(self, call: Call) -> None:
        """Renew the lease if the call is its holder's. A call elsewhere also shows that the holder is still there."""
        if self.lease is not None and self.lease.client_id == call.client_id:
            self.lease.renew(call.seq)
            if self.lease.label != call.client_label:
                self.lease.client = call.client

    def hold(self, reason: str, minutes: int) -> None:
        if self.lease is not None:
            self.lease.reason = reason
            self.lease.kept_until = self._clock() + minutes * 60

    def keep(self, *, kept: bool) -> None:
        """Freeze the lease while a person has the page. Afterwards its holder goes on first."""
        self._with_person = kept
        if self.lease is not None and not self.lease.client_left:
            self.lease.used_at = self._clock()
        self._page.line.wake()

    def share(self, access: Access) -> None:
        """Set what others may do. Nobody may wait for a private page."""
        self.access = access
        self._visitors.clear()
        if self.private:
            self._page.line.refuse(lambda _: private_error(self.page_id))

    def close(self) -> None:
        """Refuse all waiting calls, because the page is closed."""
        self._closed = True
        self._page.line.refuse(lambda _: self._gone_error())

    def wait(self, call: Call, agent: str) -> Candidate[Lease]:
        """Return the call's place in the line for the page. It is refused if the page is closed or private."""
        lease = self._lease_for(call, agent)
        candidate = Candidate(call.call_id, call.client_id, lease, seq=call.seq)
        if self._closed:
            candidate.refuse(self._gone_error())
        elif self.private_from(call.client_id):
            candidate.refuse(private_error(self.page_id))
        else:
            self._page.wait(candidate)
        return candidate

    def stop_waiting(self, candidate: Candidate[Lease]) -> None:
        self._page.leave(candidate)

    def advance(self) -> None:
        """Offer a free page to the first in line."""
        self._page.advance()

    def free_in(self) -> float:
        """Return the seconds until the lease lapses by itself; infinite if it never does."""
        return self._page.free_in()

    def timeout_error(self, seconds: float) -> TimedOut:
        """Return the error for a wait of `seconds` in vain."""
        lease = self.lease
        holder_name = lease.holder_name if lease else "nobody"
        return TimedOut(
            f'"{self.page_id}" did not become free within {seconds:.0f} s: it is in use by "{holder_name}".',
            hint="Wait again, or take it with a reason: "
            f"{next_call('claim_page', page_id=self.page_id, reason='...')}.",
            details={"context": {"pageId": self.page_id, "owner": holder_name}},
        )

    def free_at(self) -> str | None:
        """Return the time of day when the page becomes free if its holder stays idle; None if it never does."""
        seconds = self.free_in()
        return None if seconds == inf else local_time(seconds)

    def _pass_on(self, lease: Lease) -> None:
        private = self.private
        self._page.take(lease, MoveCause.FORCED)
        if private:
            self.share("private")

    def _lease_for(self, call: Call, agent: str) -> Lease:
        return Lease(call.client, self._clock, seq=call.seq, agent=agent)

    def _lapses_at(self, lease: Lease) -> float:
        if self._with_person:
            return inf
        if lease.offered_until is not None:
            return lease.offered_until
        if self.access == "private":
            return inf
        return max(-inf if lease.client_left else lease.used_at + self._idle_s, lease.kept_until)

    def _on_move(self, move: Move[Lease]) -> None:
        """Reset the page for its new holder, and tell a holder who lost it to somebody in line."""
        self._begin_anew()
        if move.before is not None and move.after is not None and move.cause in {MoveCause.OFFERED, MoveCause.UNUSED}:
            self._tell(move.before.client_id, f'{self.page_id} went to "{move.after.label}", who waited for it.')

    def _begin_anew(self) -> None:
        """Forget what the last holder allowed others, and which agents it was told of."""
        self.left_by, self.left_by_id = "", None
        self.share("read")
        self._siblings.clear()

    def _gone_error(self) -> PageNotFound:
        return PageNotFound(f"Page {self.page_id!r} was closed while you waited for it.")


def private_error(page_id: str, url: str | None = None) -> PageOwned:
    """Make the refusal for a page that is private to another client. It reveals nothing about the page. `url` is where
    the caller wants to go."""
    own_page = next_call("open_page", url=url) if url else next_call("open_page")
    return PageOwned(
        f'"{page_id}" is private to another client. Nothing was done.',
        hint=f"A page of your own, same login: {own_page}. Only its owner and a person open a private page.",
        details={"context": {"pageId": page_id}},
    )


def _restored(state: PageState, clock: Clock) -> Lease | None:
    """Return the lease that a page had before its host restarted."""
    if not state.holder_id:
        return None
    client = ClientRef(client_id=state.holder_id, label=state.holder_label)
    lease = Lease(client, clock, agent=state.holder_agent, reason=state.hold_reason)
    lease.idle_before_ms = state.acted_ago_ms or 0
    if state.hold_left_ms:
        lease.kept_until = clock() + state.hold_left_ms / 1000
    return lease
