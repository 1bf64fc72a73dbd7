"""Defines the clock that rules are given: it counts seconds from any moment on, and never goes back."""

from collections.abc import Callable

Clock = Callable[[], float]
