"""Prometheus metrics: calls by outcome, durations and waits, and how much is open, made and restarted."""

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from browse_together.contract.pages import Figures

PREFIX: Final = "playwright_mcp"
_MB: Final = 1_000_000
_BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 50)
_WAIT_BUCKETS_S: Final = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Made(NamedTuple):
    """Files that calls made since the start."""

    artifacts: int
    artifact_bytes: int


class HostFigures(NamedTuple):
    """What a host last told of itself."""

    name: str
    state: str
    figures: Figures
    link_s: float | None = None
    """The round trip of its link; None for the host in the service's own process."""


class Metrics:
    """The metrics of one service. Labels are only action names, error codes and hosts, so their number is bounded."""

    def __init__(self, clients: Callable[[], int], made: Callable[[], Made]) -> None:
        self._registry = registry = CollectorRegistry()
        self._calls = Counter(f"{PREFIX}_calls", "Calls that ended.", ["action", "outcome"], registry=registry)
        self._seconds = Histogram(
            f"{PREFIX}_call_duration_seconds",
            "From request to reply, by action.",
            ["action"],
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self._waits = Histogram(
            f"{PREFIX}_queue_wait_seconds",
            "How long calls waited for their turn on a page or session.",
            buckets=_WAIT_BUCKETS_S,
            registry=registry,
        )
        self._current = _Current(clients, made)
        registry.register(self._current)
        ProcessCollector(namespace=PREFIX, registry=registry)

    def count_call(self, action: str, outcome: str, seconds: float, waited_ms: int | None) -> None:
        """Count a call; `outcome` is an error code or `ok`. `waited_ms` is None for a call that took no turn."""
        self._calls.labels(action, outcome).inc()
        self._seconds.labels(action).observe(seconds)
        if waited_ms is not None:
            self._waits.observe(waited_ms / 1000)

    def text(self, figures: Figures, hosts: Sequence[HostFigures] = ()) -> bytes:
        """Return the metrics in Prometheus' format; `hosts` are named only where there may be several."""
        self._current.figures, self._current.hosts = figures, hosts
        return generate_latest(self._registry)


class _Current(Collector):
    """Gauges and counters that other parts own, read at the moment of a scrape."""

    def __init__(self, clients: Callable[[], int], made: Callable[[], Made]) -> None:
        self.figures = Figures()
        self.hosts: Sequence[HostFigures] = ()
        self._clients = clients
        self._made = made

    def collect(self) -> Iterator[Metric]:
        figures, made = self.figures, self._made()
        for name, documentation, value in (
            ("pages", "Pages that there are.", figures.pages),
            ("pages_parked", "Those of them whose window is closed until they are used.", figures.parked),
            ("sessions", "Sessions that are open.", figures.sessions),
            ("browsers", "Browsers that run.", figures.browsers),
            ("clients", "Clients that are present.", self._clients()),
            ("memory_bytes", "What the browsers have, as last measured.", figures.memory_mb * _MB),
            ("memory_limit_bytes", "What they may have; 0 is no limit.", figures.memory_limit_mb * _MB),
        ):
            yield GaugeMetricFamily(f"{PREFIX}_{name}", documentation, value)
        for name, documentation, value in (
            ("browser_restarts", "Browsers that ended or hung, and were given up.", figures.browser_restarts),
            ("artifacts", "Files that calls made.", made.artifacts),
            ("artifact_bytes", "Bytes of those files.", made.artifact_bytes),
        ):
            yield CounterMetricFamily(f"{PREFIX}_{name}", documentation, value)
        if self.hosts:
            yield from self._of_hosts()

    def _of_hosts(self) -> Iterator[Metric]:
        hosts = self.hosts
        for name, documentation, values in (
            ("host_pages", "Pages that a host has.", {each.name: each.figures.pages for each in hosts}),
            (
                "host_memory_bytes",
                "What its browsers have, as last measured.",
                {each.name: each.figures.memory_mb * _MB for each in hosts},
            ),
            (
                "host_link_seconds",
                "Round trip of its link, as last measured.",
                {each.name: each.link_s for each in hosts if each.link_s is not None},
            ),
        ):
            yield _labelled(name, documentation, "host", values)
        yield _labelled("hosts", "Hosts, by their state.", "state", Tally(each.state for each in hosts))


def _labelled(name: str, documentation: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"{PREFIX}_{name}", documentation, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family
