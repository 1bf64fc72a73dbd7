"""Tests budgets that are refilled by time, and the limit of popups."""

from hypothesis import given
from hypothesis import strategies as st

from browser_service.rules.budget import Budget
from browser_service.rules.popups import PopupLimit
from tests.support.clock import Clock


def test_a_budget_is_spent_and_refilled() -> None:
    clock = Clock()
    budget = Budget(10, 2, clock)
    assert all(budget.spend(1) for _ in range(10))
    assert not budget.spend(1)
    clock.pass_s(1)
    assert [budget.spend(1) for _ in range(3)] == [True, True, False]


def test_what_costs_more_than_is_left_takes_all_of_it() -> None:
    clock = Clock()
    budget = Budget(10, 2, clock)
    assert not budget.spend(11)
    assert not budget.spend(1)


def test_no_limit_is_none() -> None:
    budget = Budget(0, 0, Clock())
    assert all(budget.spend(1e9) for _ in range(100))


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 20)), max_size=50))
def test_no_more_is_spent_than_there_was_and_came(spent: list[tuple[float, float]]) -> None:
    clock = Clock()
    budget = Budget(10, 2, clock)
    passed = total = 0.0
    for seconds, cost in spent:
        clock.pass_s(seconds)
        passed += seconds
        total += cost if budget.spend(cost) else 0
    assert total <= 10 + 2 * passed + 1e-6


def test_popups_are_limited_by_how_many_are_open_and_how_many_come() -> None:
    limit = PopupLimit(3)
    assert not limit.permits(3)
    assert [limit.permits(0) for _ in range(4)] == [True, True, True, False]
    assert [limit.tells(), limit.tells()] == [True, False]
    assert all(PopupLimit(0).permits(1_000) for _ in range(100))
