"""Checks that the service and a gateway hold no more memory after many calls than after few.

Twenty chats, or `--chats N`, in one gateway process, with a page each, make 20,000 mixed calls: scripts, fills, clicks,
reading, searching, navigation, screenshots, pages that open and close. A warm-up first fills everything that is kept
within bounds. Every 500 calls, it measures the memory (PSS) of the service, the gateway, a launcher, the driver and the
browser.

Compares the median of the last quarter with that of the first. Target: at most 1.05 times as much, for the service and
the gateway, which are ours; driver and browser are for information. The notes have the slope, in MB per 1,000 calls.

It runs for minutes, and only when it is named.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import linear_regression, median
from typing import Any, Final

import psutil

from benchmarks import sites
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Gateway, Service, children, gateway, service
from tests.support.site import Site

CALLS: Final = 20_000
QUICK: Final = 1_000
WARM_UP: Final = 0.25
"""This share of calls is made before those that count, to fill caches, rings and registers."""
REQUESTS: Final = 10_500
"""Playwright keeps 10,000 requests with their answers, of all open pages, before it releases the oldest. Each takes the
service 13 KB."""
SAMPLES: Final = 40
CHATS: Final = 20
PAGES: Final = 1
FLAT: Final = Target(1.05)
OURS: Final = ("service", "gateway", "launcher")

_MB: Final = 1_048_576
_WORK: Final = """<title>Soak</title><h1>Soak</h1><input id=name aria-label=Name><button id=go>Go</button>
<p id=said></p><script>
let clicks = 0;
go.onclick = async () => { said.textContent = `clicked ${++clicks}`; await fetch('/soak-api'); };
</script>"""

Call = tuple[str, dict[str, Any]]  # Any: JSON


async def run(*, quick: bool, chats: int = CHATS) -> Report:
    calls = QUICK if quick else CALLS
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        sites.open_all(site)
        site.page("/soak", _WORK)
        site.page("/soak-api", "{}")
        served = await stack.enter_async_context(service())
        gates = [await stack.enter_async_context(gateway(served, f"bench-{n}")) for n in range(chats)]
        working = [_Chat(gate, [f"g{g}p{p}" for p in range(PAGES)], site) for g, gate in enumerate(gates)]
        await _fill(working, site, REQUESTS // 10 if quick else REQUESTS)
        await _all(working, round(calls * WARM_UP))
        memory = Memory(served, gates[0])
        began = time.perf_counter()
        for _ in range(SAMPLES):
            await _all(working, calls // SAMPLES)
            await asyncio.to_thread(memory.look, calls // SAMPLES)
        took = time.perf_counter() - began
    return Report("soak", "itself in the first quarter", memory.figures(), [*memory.notes(), _pace(calls, took)])


async def _fill(chats: Sequence["_Chat"], site: Site, requests: int) -> None:
    """Make this many requests on the pages of all chats in turn. On one page alone, they would be too many a second to
    be followed; and requests of closed pages are released."""
    each = 150
    for number in range(each):
        site.page(f"/part-{number}", "1")
    parts = "".join(f"<script src=/part-{number}></script>" for number in range(each))
    url = site.page("/parts", f"<h1>Parts</h1>{parts}")
    for number in range(requests // each):
        await chats[number % len(chats)].goto(url)


@dataclass
class Memory:
    """The memory of the processes, measurement by measurement."""

    of: Service
    gate: Gateway
    calls: list[int] = field(default_factory=list)
    held: dict[str, list[float]] = field(default_factory=dict)

    def look(self, calls: int) -> None:
        self.calls.append((self.calls or [0])[-1] + calls)
        family = children(self.of.pid)
        drivers = [child for child in family if _is_driver(child)]
        parts = {
            "service": [psutil.Process(self.of.pid)],
            "gateway": [psutil.Process(self.of.gateway_pid)],
            "launcher": [psutil.Process(self.gate.pid)],
            "driver": drivers,
            "browser": [child for child in family if child not in drivers],
        }
        for name, processes in parts.items():
            self.held.setdefault(name, []).append(_pss(processes))

    def figures(self) -> list[Figure]:
        found = []
        for name, held in self.held.items():
            first, last = _quarters(held)
            found.append(Figure(name, last, first, "MB", "ratio", FLAT if name in OURS else None))
        return found

    def notes(self) -> Iterator[str]:
        for name, held in self.held.items():
            slope = linear_regression(self.calls, held).slope * 1000
            shown = " ".join(f"{each:.0f}" for each in held[:: max(1, len(held) // 10)])
            yield f"{name}: {slope:+.2f} MB per 1,000 calls ({shown})"


def _quarters(held: Sequence[float]) -> tuple[float, float]:
    quarter = max(1, len(held) // 4)
    return median(held[:quarter]), median(held[-quarter:])


def _is_driver(process: psutil.Process) -> bool:
    try:
        return "run-driver" in process.cmdline()
    except psutil.Error:
        return False  # a renderer that has just ended


def _pss(processes: Sequence[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        try:
            held = process.memory_full_info()
        except psutil.NoSuchProcess:
            continue  # a renderer that has just ended
        total += getattr(held, "pss", held.rss) / _MB
    return total


class _Chat:
    """Calls of all kinds in turn, on the pages of one gateway."""

    def __init__(self, gate: Gateway, page_ids: Sequence[str], site: Site) -> None:
        self._gate, self._page_ids = gate, page_ids
        self._calls = itertools.cycle([call for page_id in page_ids for call in _round(page_id, site)])

    async def call(self) -> None:
        tool, arguments = next(self._calls)
        await self._gate.call(tool, **arguments)

    async def goto(self, url: str) -> None:
        """Navigate the first page."""
        await self._gate.call("goto", pageId=self._page_ids[0], url=url)


def _round(page_id: str, site: Site) -> list[Call]:
    """Return calls on one page, mixed like an agent's: much acting and reading, some navigation, now and then another
    page."""
    on: dict[str, Any] = {"pageId": page_id}  # Any: JSON
    other = {"pageId": f"{page_id}-other"}
    acting: list[Call] = [
        ("fill", on | {"selector": "#name", "value": "Ana"}),
        ("click", on | {"selector": "#go"}),
        ("evaluate_script", on | {"expression": "[document.querySelector('#name').value, location.href]"}),
        ("find", on | {"text": "clicked"}),
        ("snapshot", on),
        ("get_current_url", on),
        ("press", on | {"selector": "#name", "key": "x"}),
        ("content", on | {"format": "text"}),
        ("list_pages", {}),
        ("get_page_title", on),
    ]
    going: list[Call] = [
        ("goto", on | {"url": site.url("/shop")}),
        ("snapshot", on),
        ("find", on | {"text": "Copper kettle 5"}),
        ("extract_links", on),
        ("get_network_log", on),
        ("evaluate_script", on | {"expression": "console.log('a line', {of: 'the console'}) || document.links.length"}),
        ("get_console_messages", on),
        ("screenshot", on | {"type": "jpeg"}),
        ("goto", on | {"url": site.url("/soak")}),
    ]
    opening: list[Call] = [
        ("goto", other | {"url": site.url("/product/3")}),
        ("get_page_title", other),
        ("close_page", other),
    ]
    return [("goto", on | {"url": site.url("/soak")}), *(acting * 4 + going) * 4, *opening]


async def _all(chats: Sequence[_Chat], calls: int) -> None:
    """Make this many calls in all chats together."""
    left = iter(range(calls))

    async def work(chat: _Chat) -> None:
        for _ in left:
            await chat.call()

    await asyncio.gather(*map(work, chats))


def _pace(calls: int, took: float) -> str:
    return f"{calls} calls in {took:.0f} s"
