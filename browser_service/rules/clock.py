"""Type of the clock that rules are given: it counts seconds from some moment, and never goes back."""

from collections.abc import Callable

Clock = Callable[[], float]
