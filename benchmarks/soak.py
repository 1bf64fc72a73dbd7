"""Checks that the service and a gateway hold no more memory after many calls than after few.

Twenty chats in one gateway process, with a page each, make 20,000 mixed calls: scripts, fills, clicks, reading,
searching, navigation, screenshots, pages that open and close. A warm-up first fills everything that is kept within
bounds. Every 500 calls, it measures the memory (PSS) of the service, the gateway, a launcher, the driver and the
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
from statistics import linear_regression, median
from typing import Any, Final

import psutil

from benchmarks import sites
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Gateway, Service, children, gateway, memory_of, service
from tests.support.site import Site

CALLS: Final = 20_000
QUICK: Final = 1_000
WARM_UP: Final = 0.25
"""This share of calls is made before those that count, to fill caches, rings and registers."""
REQUESTS: Final = 10_500
"""Playwright keeps 10,000 requests with their answers, of all open pages, before it releases the oldest. Each takes the
service 13 KB."""
PARTS: Final = 150
SAMPLES: Final = 40
CHATS: Final = 20
FLAT: Final = Target(1.05)
OURS: Final = ("service", "gateway", "launcher")

_WORK: Final = """<title>Soak</title><h1>Soak</h1><input id=name aria-label=Name><button id=go>Go</button>
<p id=said></p><script>
let clicks = 0;
go.onclick = async () => { said.textContent = `clicked ${++clicks}`; await fetch('/soak-api'); };
</script>"""

Call = tuple[str, dict[str, Any]]  # Any: JSON


async def run(*, quick: bool) -> Report:
    calls = QUICK if quick else CALLS
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        sites.open_all(site)
        site.page("/soak", _WORK)
        site.page("/soak-api", "{}")
        served = await stack.enter_async_context(service())
        gates = [await stack.enter_async_context(gateway(served, f"bench-{n}")) for n in range(CHATS)]
        await _fill(gates, site, REQUESTS // 10 if quick else REQUESTS)
        chats = [(gate, itertools.cycle(_round(f"p{n}", site))) for n, gate in enumerate(gates)]
        await _all(chats, round(calls * WARM_UP))
        held: dict[str, list[float]] = {}
        began = time.perf_counter()
        for _ in range(SAMPLES):
            await _all(chats, calls // SAMPLES)
            await asyncio.to_thread(_look, held, served, gates[0])
        took = time.perf_counter() - began
    notes = [f"{calls} calls in {took:.0f} s"]
    for name, each in held.items():
        slope = linear_regression(range(SAMPLES), each).slope * SAMPLES / calls * 1000
        notes.append(
            f"{name}: {slope:+.2f} MB per 1,000 calls ({' '.join(f'{mb:.0f}' for mb in each[:: SAMPLES // 10])})"
        )
    quarter = SAMPLES // 4
    figures = [
        Figure(name, median(each[-quarter:]), median(each[:quarter]), "MB", "ratio", FLAT if name in OURS else None)
        for name, each in held.items()
    ]
    return Report("soak", "itself in the first quarter", figures, notes)


async def _fill(gates: Sequence[Gateway], site: Site, requests: int) -> None:
    """Make this many requests on the pages of all chats in turn. On one page alone, they would be too many a second to
    be followed; and requests of closed pages are released."""
    for number in range(PARTS):
        site.page(f"/part-{number}", "1")
    parts = "".join(f"<script src=/part-{number}></script>" for number in range(PARTS))
    url = site.page("/parts", f"<h1>Parts</h1>{parts}")
    for number in range(requests // PARTS):
        chat = number % len(gates)
        await gates[chat].call("goto", pageId=f"p{chat}", url=url)


def _look(held: dict[str, list[float]], of: Service, gate: Gateway) -> None:
    """Measure the memory of the processes."""
    family = children(of.pid)
    drivers = [child for child in family if _is_driver(child)]
    parts = {
        "service": [psutil.Process(of.pid)],
        "gateway": [psutil.Process(of.gateway_pid)],
        "launcher": [psutil.Process(gate.pid)],
        "driver": drivers,
        "browser": [child for child in family if child not in drivers],
    }
    for name, processes in parts.items():
        held.setdefault(name, []).append(memory_of(processes))


def _is_driver(process: psutil.Process) -> bool:
    try:
        return "run-driver" in process.cmdline()
    except psutil.Error:
        return False  # a renderer that has just ended


def _round(page_id: str, site: Site) -> Iterator[Call]:
    """Yield calls on one page, mixed like an agent's: much acting and reading, some navigation, now and then another
    page."""
    acting: list[Call] = [
        ("fill", {"selector": "#name", "value": "Ana"}),
        ("click", {"selector": "#go"}),
        ("evaluate_script", {"expression": "[document.querySelector('#name').value, location.href]"}),
        ("find", {"text": "clicked"}),
        ("snapshot", {}),
        ("press", {"selector": "#name", "key": "x"}),
        ("content", {"format": "text"}),
        ("get_page_title", {}),
    ]
    going: list[Call] = [
        ("goto", {"url": site.url("/shop")}),
        ("snapshot", {}),
        ("find", {"text": "Copper kettle 5"}),
        ("extract_links", {}),
        ("get_network_log", {}),
        ("evaluate_script", {"expression": "console.log('a line', {of: 'the console'}) || document.links.length"}),
        ("get_console_messages", {}),
        ("screenshot", {"type": "jpeg"}),
        ("goto", {"url": site.url("/soak")}),
    ]
    on, other = {"pageId": page_id}, {"pageId": f"{page_id}-other"}
    for tool, arguments in [("goto", {"url": site.url("/soak")}), *(acting * 4 + going) * 4]:
        yield tool, {**on, **arguments}
    yield "list_pages", {}
    yield "goto", {**other, "url": site.url("/product/3")}
    yield "close_page", other


async def _all(chats: Sequence[tuple[Gateway, Iterator[Call]]], calls: int) -> None:
    """Make this many calls in all chats together."""
    left = iter(range(calls))

    async def work(gate: Gateway, own: Iterator[Call]) -> None:
        for _ in left:
            tool, arguments = next(own)
            await gate.call(tool, **arguments)

    await asyncio.gather(*(work(*chat) for chat in chats))
