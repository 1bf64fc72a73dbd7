"""Tests the lease of hosts elsewhere: whatever messages are late, lost or repeated, a session has one owner."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from browser_service.rules.host_lease import MARGIN_S, Grant, GrantedLease, HeldLease
from tests.support.clock import Clock

TTL_MS = 1_500
SECONDS = st.floats(0, 4) | st.sampled_from([0.0, 0.001, 0.5, TTL_MS / 1000, TTL_MS / 1000 + MARGIN_S])


class World(RuleBasedStateMachine):
    """A front, a host, and a network between them that may do anything to messages but forge them."""

    @initialize(apart=st.floats(-900, 900))
    def begin(self, apart: float) -> None:
        self.of_host, self.of_front = Clock(), Clock()
        self.of_host.pass_s(apart)
        self.host, self.front = HeldLease(self.of_host), GrantedLease(TTL_MS, self.of_front)
        self.grants: list[Grant] = []
        self.told: list[int] = []
        self.given_away = False
        self.was_held = False

    @rule()
    def front_sends(self) -> None:
        self.grants.append(self.front.grant())

    @rule(which=st.integers(0, 50))
    def grant_comes(self, which: int) -> None:
        """Any of the grants ever sent comes, the oldest too, and again."""
        if self.grants:
            self.host.take(self.grants[which % len(self.grants)])
            self.told.append(self.host.tell())

    @rule(which=st.integers(0, 50))
    def answer_comes(self, which: int) -> None:
        if self.told:
            self.front.kept(self.told[which % len(self.told)])

    @rule()
    def exchange(self) -> None:
        """All goes well for once."""
        self.host.take(self.front.grant())
        self.front.kept(self.host.tell())

    @rule(seconds=SECONDS, asleep=SECONDS)
    def pass_time(self, seconds: float, asleep: float) -> None:
        """Time passes. The host's clock may step forward; the front's may stand for a while."""
        self.of_host.pass_s(seconds + asleep)
        self.of_front.pass_s(seconds)

    @rule(seconds=SECONDS)
    def front_sleeps(self, seconds: float) -> None:
        self.of_host.pass_s(seconds)

    @precondition(lambda self: self.host.ended)
    @rule()
    def host_says_goodbye(self) -> None:
        self.front.end()

    @rule()
    def host_gives_up(self) -> None:
        self.host.give_up()
        assert not self.host.held

    @precondition(lambda self: self.front.ended)
    @rule()
    def front_gives_away(self) -> None:
        self.given_away = True

    @invariant()
    def never_two_owners(self) -> None:
        assert not (self.given_away and self.host.held)
        assert not (self.front.ended and self.host.held)

    @invariant()
    def what_has_ended_never_begins_again(self) -> None:
        assert not (self.was_held and self.host.ended and self.host.held)
        self.was_held = self.was_held or self.host.held


World.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestWorld = World.TestCase


def pair() -> tuple[HeldLease, GrantedLease, Clock]:
    clock = Clock()
    return HeldLease(clock), GrantedLease(TTL_MS, clock), clock


def renew(host: HeldLease, front: GrantedLease) -> None:
    front.kept(host.tell())
    host.take(front.grant())


def test_a_host_may_act_for_as_long_as_it_is_renewed() -> None:
    host, front, clock = pair()
    assert not host.held
    for _ in range(5):
        renew(host, front)
        clock.pass_s(1)
        assert host.held
        assert not front.ended
    assert host.left_s == TTL_MS / 1000 - 1


def test_the_front_waits_longer_than_the_host_by_the_margin() -> None:
    host, front, clock = pair()
    renew(host, front)
    clock.pass_s(TTL_MS / 1000)
    assert (host.ended, host.held, host.left_s) == (True, False, 0)
    assert not front.ended
    assert front.ends_in_s == MARGIN_S
    clock.pass_s(MARGIN_S)
    assert front.ended
    assert front.grant() == Grant(None, TTL_MS), "nothing is granted after the end"


def test_a_moment_that_the_host_never_told_grants_nothing() -> None:
    host, _, clock = pair()
    host.take(Grant(round(clock() * 1000) + 60_000, TTL_MS))
    assert not host.held


def test_a_lease_that_lapsed_unnoticed_is_over_for_good() -> None:
    host, front, clock = pair()
    renew(host, front)
    clock.pass_s(TTL_MS / 1000)
    renew(host, front)
    assert not host.held


def test_a_host_that_gave_its_lease_up_may_end_in_good_order_until_that_would_have_ended() -> None:
    host, front, clock = pair()
    renew(host, front)
    assert not host.lapsed
    host.give_up()
    assert (host.held, host.lapsed) == (False, False)
    clock.pass_s(TTL_MS / 1000)
    assert host.lapsed


def test_what_was_never_granted_need_not_be_waited_for() -> None:
    _, front, _ = pair()
    assert front.ends_in_s == 0
    front.end()
    assert front.ended
