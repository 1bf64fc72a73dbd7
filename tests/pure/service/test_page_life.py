"""Tests the life of a page: whatever happens to it in whatever order, it is in one of the legal states."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser_service.host.record.life import CRASHES, MOVES, CrashLog, IllegalMove, Life, LifeEvent, after

ENDS = {LifeEvent.CLOSED: Life.CLOSED, LifeEvent.SESSION_CLOSED: Life.SESSION_CLOSED}
MANY = st.lists(st.sampled_from(LifeEvent), max_size=40)


def lived(events: Sequence[LifeEvent], born: Life = Life.NEW) -> list[Life]:
    """Return the states that a page goes through. What cannot happen to it does not."""
    states = [born]
    for event in events:
        try:
            states.append(after(states[-1], event))
        except IllegalMove:
            assert event not in MOVES[states[-1]]
    return states


def test_each_state_has_its_moves_and_can_be_reached() -> None:
    assert MOVES.keys() == {*Life}
    reached, found = set[Life](), {Life.NEW}
    while found != reached:
        reached = {*found}
        found |= {to for state in reached for to in MOVES[state].values()}
    assert reached == {*Life}
    assert {event for moves in MOVES.values() for event in moves} == {*LifeEvent}


@pytest.mark.parametrize("state", Life)
def test_a_page_can_be_closed_and_given_up_at_any_time(state: Life) -> None:
    assert all(after(state, event) is (state if state.over else end) for event, end in ENDS.items())
    assert not after(state, LifeEvent.LEFT).live


@pytest.mark.parametrize("state", Life)
def test_a_new_tab_makes_any_page_live_that_is_not_closed(state: Life) -> None:
    assert after(state, LifeEvent.OPENED) is (state if state.over else Life.OPEN)


@given(MANY)
def test_a_closed_page_stays_closed_the_same_way(events: list[LifeEvent]) -> None:
    states = lived(events)
    over = [state for state in states if state.over]
    assert states[len(states) - len(over) :] == over
    assert len({*over}) <= 1


@given(MANY)
def test_a_page_is_live_only_by_a_tab_that_was_opened_or_found(events: list[LifeEvent]) -> None:
    tab = False
    state = Life.NEW
    for event in events:
        if event not in MOVES[state]:
            continue
        state = after(state, event)
        tab = (tab or event is LifeEvent.OPENED) and event is not LifeEvent.LEFT and event is not LifeEvent.PARKED
        assert tab or not state.live


@given(MANY)
def test_a_page_that_crashed_repeatedly_is_left_alone_until_it_is_freed_opened_or_closed(
    events: list[LifeEvent],
) -> None:
    state = after(Life.NEW, LifeEvent.CRASHED_REPEATEDLY)
    frees = {LifeEvent.FREED, LifeEvent.OPENED, *ENDS}
    kept = lived([event for event in events if event not in frees], state)
    assert {*kept} == {Life.QUARANTINED}


@given(MANY)
def test_a_page_that_died_is_known_to_have_until_it_has_another_tab(events: list[LifeEvent]) -> None:
    state = after(Life.OPEN, LifeEvent.CRASHED)
    kept = lived([event for event in events if event is not LifeEvent.OPENED], state)
    assert all(each.crashed or each.over for each in kept)


@given(st.sampled_from(Life), st.sampled_from(LifeEvent))
def test_an_impossible_move_raises_and_names_itself(state: Life, event: LifeEvent) -> None:
    if event in MOVES[state]:
        assert after(state, event) is MOVES[state][event]
    else:
        with pytest.raises(IllegalMove, match=f"{state}.*{event}"):
            after(state, event)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(min_value=0, max_value=50)), max_size=20))
def test_crashes_are_too_many_when_the_last_three_are_of_one_url_within_a_minute(
    crashes: list[tuple[str, float]],
) -> None:
    now = 0.0
    log, past = CrashLog(lambda: now), list[tuple[str, float]]()
    for url, later in crashes:
        now += later
        past.append((url, now))
        last = past[-CRASHES:]
        alike = len(last) == CRASHES and len({each for each, _ in last}) == 1
        assert log.note(url) == (alike and last[-1][1] - last[0][1] <= 60)


def test_after_one_more_load_is_allowed_the_next_crash_is_too_many_again() -> None:
    now = 0.0
    log = CrashLog(lambda: now)
    assert [log.note("a") for _ in range(CRASHES)] == [False, False, True]
    now = 1_000.0
    log.allow_one()
    assert log.note("a")
    assert not log.note("b")
