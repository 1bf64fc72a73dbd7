"""Figures for Prometheus: what is called, how it ends, how long it takes, and how much is open."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 50)


class Metrics:
    """Of one service. Labels are names of the catalogue and error codes alone, so their number is bounded."""

    def __init__(self, pages: Callable[[], int], clients: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter("browse_calls", "Calls that ended.", ["action", "outcome"], registry=self._registry)
        self._seconds = Histogram(
            "browse_call_seconds", "From request to reply.", ["action"], buckets=_BUCKETS_S, registry=self._registry
        )
        Gauge("browse_pages", "Pages that are open.", registry=self._registry).set_function(pages)
        Gauge("browse_clients", "Clients that are present.", registry=self._registry).set_function(clients)

    def ended(self, action: str, outcome: str, seconds: float) -> None:
        """`outcome`: an error's code, or `ok`."""
        self._calls.labels(action, outcome).inc()
        self._seconds.labels(action).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)
