"""Tests bounded memories, in whatever order entries come: by count, by weight, for a time."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from browser_service.rules.bounded import Bounded
from tests.support.clock import Clock

MOST, MOST_WEIGHT, TTL_S = 5, 20, 60.0
KEYS = st.sampled_from("abcdefgh")


class Remembering(RuleBasedStateMachine):
    """A model of the mapping: a list of what was set, oldest first, trimmed by hand."""

    @initialize()
    def begin(self) -> None:
        self.clock = Clock()
        self.spared: set[int] = set()
        self.number = 0
        self.bounded = Bounded[str, tuple[int, int]](
            MOST,
            weigh=lambda value: value[1],
            most_weight=MOST_WEIGHT,
            ttl_s=TTL_S,
            spared=lambda value: value[0] in self.spared,
            clock=self.clock,
        )
        self.model: list[tuple[str, tuple[int, int], float]] = []

    def trimmed(self) -> None:
        """Drop the first that may go, as long as there are too many, too heavy or too old ones."""
        while True:
            heavy = sum(value[1] for _, value, _ in self.model) > MOST_WEIGHT or len(self.model) > MOST
            horizon, latest = self.clock() - TTL_S, self.model[-1:]
            goes = next(
                (
                    each
                    for each in self.model
                    if each[1][0] not in self.spared and (each[2] < horizon or (heavy and each not in latest))
                ),
                None,
            )
            if goes is None:
                return
            self.model.remove(goes)

    @rule(key=KEYS, weight=st.integers(0, 25), spare=st.booleans())
    def set(self, key: str, weight: int, *, spare: bool) -> None:
        self.number += 1
        if spare:
            self.spared.add(self.number)
        value = (self.number, weight)
        self.bounded[key] = value
        self.model = [*(each for each in self.model if each[0] != key), (key, value, self.clock())]
        self.trimmed()

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        known = key in [each[0] for each in self.model]
        assert (self.bounded.pop(key, None) is not None) is known
        self.model = [each for each in self.model if each[0] != key]

    @rule()
    def spare_no_more(self) -> None:
        self.spared.clear()

    @rule(seconds=st.sampled_from([1.0, 30.0, 61.0]))
    def pass_time(self, seconds: float) -> None:
        self.clock.pass_s(seconds)
        self.bounded.trim()
        self.trimmed()

    @rule()
    def clear(self) -> None:
        self.bounded.clear()
        self.model = []

    @invariant()
    def it_keeps_what_is_within_bounds_the_oldest_first(self) -> None:
        assert [*self.bounded.items()] == [(key, value) for key, value, _ in self.model]


TestRemembering: Any = Remembering.TestCase  # Any: hypothesis makes the class
TestRemembering.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
