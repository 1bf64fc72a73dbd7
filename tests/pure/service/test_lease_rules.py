"""Tests the rules of leases, in whatever order things happen: when a page is its holder's, and who gets it next."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from browse_together.contract.calls import Call, ClientRef
from browse_together.contract.errors import PageNotFound, PageOwned
from browse_together.contract.pages import PageState
from browser_service.rules.claims import OFFER_S, Candidate
from browser_service.rules.leases import Lease, Ownership
from tests.support.clock import Clock

IDLE_S = 120.0
CLIENTS = st.sampled_from("abcd")


class Sharing(RuleBasedStateMachine):
    """A world in which clients act on one page, leave it, hold it and wait for it. A holder's protection must never
    fail."""

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        self.busy: set[str] = set()
        self.told: list[tuple[str, str]] = []
        self.page = Ownership(
            PageState(page_id="p", session_id="s"),
            round(IDLE_S * 1000),
            self.busy.__contains__,
            lambda client_id, text: self.told.append((client_id, text)),
            lambda _: None,
            clock=self.clock,
        )
        self.seq = 0
        self.line: list[Candidate[Lease]] = []
        self.with_person = False

    def call(self, client_id: str) -> Call:
        self.seq += 1
        return Call(call_id=f"k{self.seq}", seq=self.seq, client_id=client_id, body={})

    def protected(self, lease: Lease) -> bool:
        """Return whether its holder has a right that time does not end now."""
        now = self.clock()
        works = not lease.client_left and lease.client_id in self.busy
        if lease.offered_until is not None:
            return self.with_person or now < lease.offered_until or works
        kept = self.page.access == "private" or now < lease.kept_until
        here = not lease.client_left and now < lease.used_at + IDLE_S
        return self.with_person or kept or works or here

    @rule(client_id=CLIENTS)
    def act(self, client_id: str) -> None:
        """Act on the page, as an acting call is admitted."""
        holder, call = self.page.holder(), self.call(client_id)
        if holder is None:
            self.page.take(call, "")
        elif holder.client_id == client_id:
            holder.renew(call.seq)
        else:
            return
        lease = self.page.lease
        assert lease is not None
        assert (lease.client_id, lease.offered_until) == (client_id, None)
        self.line = [place for place in self.line if not place.granted]

    @rule(client_id=CLIENTS)
    def force(self, client_id: str) -> None:
        before, known, shared = self.page.lease, len(self.told), self.page.access
        self.page.force(self.call(client_id), "", "the user said so")
        kept = "private" if shared == "private" else "read"
        assert self.page.access == kept, "what one holder shared is not shared by the next"
        assert before is None or (before.client_id, '"the user said so".') in [
            (whom, text.rpartition(": ")[2]) for whom, text in self.told[known:]
        ]
        self.line = [place for place in self.line if not place.granted]

    @rule(client_id=CLIENTS)
    def wait(self, client_id: str) -> None:
        holder = self.page.holder()
        if holder is not None and holder.client_id != client_id:
            place = self.page.wait(self.call(client_id), "")
            assert isinstance(place.refusal, PageOwned) == (self.page.access == "private")
            self.line += [] if place.refusal else [place]

    @rule(which=st.integers(0, 5))
    def stop_waiting(self, which: int) -> None:
        if which < len(self.line):
            self.page.stop_waiting(self.line.pop(which))

    @rule(minutes=st.integers(1, 10))
    def hold(self, minutes: int) -> None:
        self.page.hold("a code", minutes)

    @rule(access=st.sampled_from(["private", "read", "act"]))
    def share(self, access: Any) -> None:  # Any: hypothesis knows no Literal
        if self.page.lease is not None:
            self.page.share(access)
        if self.page.access == "private":
            assert all(isinstance(place.refusal, PageOwned) or place.granted for place in self.line)
            self.line = [place for place in self.line if place.granted]

    @rule(client_id=CLIENTS)
    def give(self, client_id: str) -> None:
        before = self.page.access
        self.page.give(ClientRef(client_id=client_id))
        assert self.page.access == ("private" if before == "private" else "read")
        self.line = [place for place in self.line if not place.granted]

    @rule(client_id=CLIENTS)
    def work(self, client_id: str) -> None:
        self.busy.symmetric_difference_update({client_id})

    @rule()
    def ask_a_person(self) -> None:
        self.with_person = not self.with_person
        self.page.keep(kept=self.with_person)

    @rule()
    def release(self) -> None:
        if self.page.holder() is not None:
            self.page.free()

    @rule(client_id=CLIENTS)
    def leave(self, client_id: str) -> None:
        lease = self.page.lease
        news = self.page.leave(client_id, self.seq + 1)
        assert news is False or (lease is not None and lease.client_id == client_id)

    @rule(seconds=st.sampled_from([1.0, OFFER_S, IDLE_S, 600.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.pass_s(seconds)

    @invariant()
    def a_protected_holder_keeps_it_and_another_loses_it_to_the_first_in_line(self) -> None:
        before, first = self.page.lease, next(iter(self.line), None)
        protects = before is not None and not (first is not None and first.granted) and self.protected(before)
        holder = self.page.holder()
        if protects:
            assert holder is before
        if any(place.granted for place in self.line):
            assert holder is not None
            assert self.line[0].granted, "not the first in line"
            assert holder.client_id == self.line[0].client_id
            self.line = [place for place in self.line if not place.granted]
        assert holder is not None or not self.line, "somebody waits for what is free"
        assert self.page.waiting == len(self.line)

    @precondition(lambda self: bool(self.line))
    @rule()
    def close(self) -> None:
        self.page.close()
        assert all(isinstance(place.refusal, PageNotFound) for place in self.line)
        self.begin()


TestSharing: Any = Sharing.TestCase  # Any: hypothesis makes the class
TestSharing.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
