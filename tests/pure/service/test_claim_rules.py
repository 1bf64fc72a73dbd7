"""Tests the rules of claims, in whatever order things happen: never two holders, first come first served, offers pass
on."""

from collections import defaultdict
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from browser_service.rules.claims import OFFER_S, Candidate, Claim, Claims, Move, MoveCause
from shared.calls import ClientRef
from tests.support.clock import Clock

IDLE_S = 120.0
CLIENTS = st.sampled_from([ClientRef(client_id=name, label=name.upper()) for name in "abcd"])
KEYS = st.sampled_from(["ticket/1", "ticket/2"])


class Sharing(RuleBasedStateMachine):
    """A world in which each client believes only what it was told; the beliefs must never contradict each other."""

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        self.claims = Claims(IDLE_S, self.told, clock=self.clock)
        self.believers: dict[str, str] = {}
        self.used: dict[str, float] = {}
        self.kept: dict[str, float] = defaultdict(float)
        self.offered: dict[str, float] = {}
        self.line: dict[str, list[Candidate[Claim]]] = defaultdict(list)

    def told(self, move: Move[Claim]) -> None:
        """Check that every change that its loser did not make is reported, and names the right loser."""
        believer = self.believers.pop(move.key, None)
        assert believer == (move.before.client_id if move.before else None)
        if believer is not None and move.cause is not MoveCause.FORCED:
            assert self.lapsed(move.key), "an active holder lost it without force"
        if move.cause in {MoveCause.OFFERED, MoveCause.UNUSED} and (move.after or self.line[move.key]):
            self.passed_on(move)
        elif move.after is not None:
            self.begins(move.key, move.after.client)

    def passed_on(self, move: Move[Claim]) -> None:
        assert move.after is not None, "somebody waits, and it went to nobody"
        first = self.line[move.key][0]
        assert move.after.client == first.claim.client, "not the first in line"
        mine = [place for place in self.line[move.key] if place.client_id == first.client_id]
        assert all(place.granted for place in mine)
        self.line[move.key] = [place for place in self.line[move.key] if place not in mine]
        self.begins(move.key, first.claim.client)
        self.offered[move.key] = self.clock() + OFFER_S

    def begins(self, key: str, who: ClientRef, keep_s: float = 0) -> None:
        self.believers[key] = who.client_id
        self.used[key], self.kept[key] = self.clock(), self.clock() + keep_s
        self.offered.pop(key, None)

    def lapsed(self, key: str) -> bool:
        if key in self.offered:
            return self.clock() >= self.offered[key]
        return self.clock() >= max(self.used[key] + IDLE_S, self.kept[key])

    @rule(key=KEYS, who=CLIENTS, keep_s=st.sampled_from([0.0, 600.0]))
    def claim(self, key: str, who: ClientRef, keep_s: float) -> None:
        claim = self.claims.claim(key, who, keep_s=keep_s)
        if claim is None:
            assert self.believers[key] != who.client_id
            assert not self.lapsed(key), "refused for the sake of nobody"
            return
        assert claim.client == who
        kept = self.kept[key] if self.believers.get(key) == who.client_id else 0
        self.begins(key, who)
        self.kept[key] = max(kept, self.clock() + keep_s)
        self.line[key] = [place for place in self.line[key] if not place.granted]

    @rule(key=KEYS, who=CLIENTS)
    def force(self, key: str, who: ClientRef) -> None:
        kept = self.kept[key] if self.believers.get(key) == who.client_id else 0
        assert self.claims.force(key, who, "the user said so").client == who
        if self.believers.get(key) == who.client_id:
            kept = max(kept, self.kept[key])
        self.begins(key, who)
        self.kept[key] = max(kept, self.clock())
        self.line[key] = [place for place in self.line[key] if not place.granted]

    @rule(key=KEYS, who=CLIENTS)
    def wait(self, key: str, who: ClientRef) -> None:
        holder = self.claims.holder(key)
        if holder is not None and holder.client != who and not self.lapsed(key):  # who waits was refused before
            self.line[key].append(self.claims.wait(key, who))

    @rule(key=KEYS, which=st.integers(0, 5))
    def leave(self, key: str, which: int) -> None:
        if which < len(self.line[key]):
            self.claims.leave(key, self.line[key].pop(which))

    @rule(key=KEYS, who=CLIENTS)
    def release(self, key: str, who: ClientRef) -> None:
        self.claims.holder(key)
        held = self.believers.get(key) == who.client_id
        if held:
            del self.believers[key]  # its own doing: nobody tells it
            self.offered.pop(key, None)
        assert self.claims.release(key, who.client_id) is held

    @rule(who=CLIENTS)
    def gone(self, who: ClientRef) -> None:
        for key in ("ticket/1", "ticket/2"):
            self.line[key] = [place for place in self.line[key] if place.client_id != who.client_id]
            self.claims.holder(key)
            for place in [place for place in self.claims.line(key) if place.client_id == who.client_id]:
                self.claims.leave(key, place)
        for key in [key for key, client_id in self.believers.items() if client_id == who.client_id]:
            del self.believers[key]
            self.offered.pop(key, None)
        self.claims.forget_client(who.client_id)
        assert self.claims.count(who.client_id) == 0

    @rule(seconds=st.sampled_from([1.0, OFFER_S, IDLE_S, 600.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.pass_s(seconds)

    @precondition(lambda self: bool(self.offered))
    @rule()
    def an_offer_is_used_in_time_and_does_not_run_out(self) -> None:
        for key in [key for key in self.offered if not self.lapsed(key)]:
            claim = self.claims.holder(key)
            assert claim is not None
            assert self.claims.claim(key, claim.client) is claim
            self.begins(key, claim.client)
        self.clock.pass_s(OFFER_S)

    @precondition(lambda self: bool(self.offered))
    @rule()
    def an_offer_runs_out(self) -> None:
        self.clock.pass_s(OFFER_S)
        for key in [*self.offered]:
            before, waits = self.believers.get(key), bool(self.line[key])
            self.claims.advance(key)
            assert self.believers.get(key) is None if not waits else self.believers[key] != before or before is None

    @invariant()
    def nobody_believes_to_hold_what_another_holds(self) -> None:
        for key in ("ticket/1", "ticket/2"):
            holder = self.claims.holder(key)
            assert self.believers.get(key) == (holder.client_id if holder else None)

    @invariant()
    def nobody_waits_for_what_is_free(self) -> None:
        for key in ("ticket/1", "ticket/2"):
            assert [*self.claims.line(key)] == self.line[key]
            assert self.claims.holder(key) is not None or not self.line[key]


TestSharing: Any = Sharing.TestCase  # Any: hypothesis makes the class
TestSharing.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_a_client_that_waits_twice_is_offered_it_once() -> None:
    moves: list[Move[Claim]] = []
    claims = Claims(IDLE_S, moves.append, clock=Clock())
    a, b, c = (ClientRef(client_id=name) for name in "abc")
    claims.claim("k", a)
    places = [claims.wait("k", b), claims.wait("k", c), claims.wait("k", b)]
    claims.release("k", "a")
    assert [place.granted for place in places] == [True, False, True]
    claims.release("k", "b")
    holder = claims.holder("k")
    assert holder is not None
    assert holder.client_id == "c"
    assert claims.line("k") == []


def test_names_that_were_left_behind_are_forgotten_where_they_are_many() -> None:
    clock = Clock()
    claims = Claims(IDLE_S, lambda _: None, clock=clock)
    for number in range(1_500):
        claims.claim(f"old/{number}", ClientRef(client_id="a"))
    clock.pass_s(IDLE_S)
    claims.claim("new", ClientRef(client_id="b"))
    claims.claim("newer", ClientRef(client_id="b"))
    assert {*claims.held()} == {"new", "newer"}
