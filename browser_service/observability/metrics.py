"""Counts for Prometheus: calls, their outcomes and durations, and how much is open."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from shared.pages import Figures

_MB: Final = 1_000_000
_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 50)


class Metrics:
    """Holds the figures of one service. Labels are only action names and error codes, so their number is bounded."""

    def __init__(self, clients: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter("browse_calls", "Calls that ended.", ["action", "outcome"], registry=self._registry)
        self._seconds = Histogram(
            "browse_call_seconds", "From request to reply.", ["action"], buckets=_BUCKETS_S, registry=self._registry
        )
        self._open = {
            name: Gauge(f"browse_{name}", documentation, registry=self._registry)
            for name, documentation in (
                ("pages", "Pages that there are."),
                ("pages_parked", "Those of them whose window is closed until they are used."),
                ("browsers", "Browsers that run."),
                ("memory_bytes", "What the browsers have, as last measured."),
                ("memory_limit_bytes", "What they may have; 0 is no limit."),
            )
        }
        Gauge("browse_clients", "Clients that are present.", registry=self._registry).set_function(clients)

    def count_call(self, action: str, outcome: str, seconds: float) -> None:
        """Count a call; `outcome` is an error's code, or `ok`."""
        self._calls.labels(action, outcome).inc()
        self._seconds.labels(action).observe(seconds)

    def text(self, figures: Figures) -> bytes:
        self._open["pages"].set(figures.pages)
        self._open["pages_parked"].set(figures.parked)
        self._open["browsers"].set(figures.browsers)
        self._open["memory_bytes"].set(figures.memory_mb * _MB)
        self._open["memory_limit_bytes"].set(figures.memory_limit_mb * _MB)
        return generate_latest(self._registry)
