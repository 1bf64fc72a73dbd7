"""Tests which renderer is stopped where a browser answers nobody."""

import psutil
import pytest

from browser_service.host.launching.congestion import Offences, floods, next_turn
from browser_service.host.launching.load import Usage, flooding
from tests.support.clock import Clock

LOUD = psutil.Process()
CALM = psutil.Process().parents()[0]


def usage(*, after_s: float, shared: float, loud: float, calm: float = 0.0) -> Usage:
    return Usage(100.0 + after_s, 7.0 + shared, {LOUD: 3.0 + loud, CALM: 5.0 + calm})


BEFORE = usage(after_s=0.0, shared=0.0, loud=0.0)


@pytest.mark.parametrize(("shared", "loud", "calm"), [(0.2, 0.2, 0.0), (0.1, 0.05, 0.01), (0.4, 0.1, 0.09)])
def test_the_renderer_that_works_most_while_the_browser_is_congested_is_stopped(
    shared: float, loud: float, calm: float
) -> None:
    assert flooding(BEFORE, usage(after_s=0.2, shared=shared, loud=loud, calm=calm)) == LOUD


@pytest.mark.parametrize(
    ("shared", "loud"),
    [
        pytest.param(0.01, 0.2, id="other programs have the processors"),
        pytest.param(0.2, 0.01, id="what was sent before is still worked on"),
    ],
)
def test_no_renderer_is_stopped_that_need_not_be_the_cause(shared: float, loud: float) -> None:
    assert flooding(BEFORE, usage(after_s=0.2, shared=shared, loud=loud)) is None


def test_while_one_is_held_that_may_be_the_reason_none_is_stopped_that_does_only_what_pages_do() -> None:
    some, much = (usage(after_s=0.2, shared=0.2, loud=each) for each in (0.05, 0.15))
    assert flooding(BEFORE, some) == LOUD
    assert flooding(BEFORE, some, alone=False) is None
    assert flooding(BEFORE, much, alone=False) == LOUD


def test_of_many_that_work_alike_none_is_stopped_nor_one_that_has_just_begun() -> None:
    many = {psutil.Process(each): 0.1 for each in psutil.pids()[:5]}
    before = Usage(0.0, 0.0, dict.fromkeys(many, 0.0))
    assert flooding(before, Usage(0.2, 0.2, many)) is None
    assert flooding(Usage(0.0, 0.0, {}), Usage(0.2, 0.2, many)) is None
    assert flooding(Usage(0.0, 0.0, {}), Usage(0.2, 0.2, {})) is None


def test_in_its_turn_a_renderer_floods_that_works_and_leaves_much_to_do_and_none_that_rests() -> None:
    worked, rested = (usage(after_s=0.05, shared=0.04, loud=each) for each in (0.001, 0.0))
    assert floods(LOUD, BEFORE, worked, left_s=0.03)
    assert not floods(LOUD, BEFORE, worked, left_s=0.02), "an honest page leaves a little"
    assert not floods(LOUD, BEFORE, rested, left_s=3.0), "it is the others' calls that cost so much"
    assert floods(LOUD, BEFORE, usage(after_s=0.05, shared=0.04, loud=0.03), left_s=0.0), "it waits for each answer"


@pytest.mark.parametrize(("cost", "next_s"), [(0.0, 0.01), (0.1, 0.01), (0.2, 0.005), (5.0, 0.001)])
def test_the_dearer_a_turn_was_the_shorter_is_the_next(cost: float, next_s: float) -> None:
    assert next_turn(0.01, cost) == pytest.approx(next_s)


def test_a_renderer_that_is_stopped_now_and_then_is_never_ended_but_one_that_goes_on_is() -> None:
    clock = Clock()
    offences = Offences(clock=clock)
    for _ in range(20):
        assert not offences.add(CALM, 1.8)
        clock.pass_s(5)
    assert [offences.add(each, 2.1) for each in (LOUD, CALM, LOUD, LOUD)] == [False, False, False, True]
    assert not any(offences.add(CALM, 0.1) for _ in range(100)), "what costs little is not counted"
