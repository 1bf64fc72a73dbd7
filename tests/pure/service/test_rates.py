"""Tests the limits of how often something happens, and that of popups."""

from hypothesis import given
from hypothesis import strategies as st

from browser_service.rules.window import PopupLimit, Rate
from tests.support.clock import Clock


@given(st.lists(st.floats(0, 3), max_size=50))
def test_a_rate_allows_a_number_per_period(pauses: list[float]) -> None:
    clock = Clock()
    rate, allowed = Rate(3, 1.0, clock), list[float]()
    for pause in pauses:
        clock.pass_s(pause)
        if rate.allows():
            allowed.append(clock())
        elif allowed:
            assert clock() - allowed[-3] < 1.0, "it was refused though the time was over"
    assert all(later - earlier > 0 or len(allowed) < 4 for earlier, later in zip(allowed, allowed[3:], strict=False))


def test_popups_are_limited_by_how_many_are_open_and_how_many_come() -> None:
    clock = Clock()
    limit = PopupLimit(3, clock)
    assert not limit.permits(3)
    assert [limit.permits(0) for _ in range(4)] == [True, True, True, False]
    assert [limit.tells(), limit.tells()] == [True, False]
    clock.pass_s(10)
    assert (limit.permits(0), limit.tells()) == (True, True)
    assert all(PopupLimit(0).permits(1_000) for _ in range(100))
