"""Measures what of a call's time the libraries take, and what the product itself.

Compares acts through our gateway and service with the same through a gateway and a service of `benchmarks/bare`: the
same libraries, which pass calls on and nothing else. Those are compared with plain Playwright, too. Each side has an
equal browser and a page with the same HTML, and they take turns. Unit: milliseconds, at the median and at the minimum.
`processor` is what service and gateway take for an act.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

import httpx
import psutil
from playwright.async_api import Page

from benchmarks.calls import HTML, Call, Pair
from benchmarks.figures import Figure, Report
from benchmarks.plain import plain_playwright
from benchmarks.processes import Gateway, environment, gateway, mcp_server, service
from client import ports, process
from tests.support.site import Site

_PAGE: Final = "stack"
_STARTS_WITHIN_S: Final = 30
_ACTS: Final = 200
Acts = dict[str, Call]


@dataclass(frozen=True)
class Side:
    """Holds a gateway and the processes that pass its calls on."""

    gate: Gateway
    pids: tuple[int, ...]

    @property
    def acts(self) -> Acts:
        def expression(n: int) -> str:
            return f"{n} + document.title.length"

        return {
            "click": lambda _: self.gate.call("click", pageId=_PAGE, selector="#go"),
            "fill": lambda n: self.gate.call("fill", pageId=_PAGE, selector="#name", value=f"Ana {n}"),
            "evaluate_script": lambda n: self.gate.call("evaluate_script", pageId=_PAGE, expression=expression(n)),
            "snapshot": lambda _: self.gate.call("snapshot", pageId=_PAGE),
        }

    async def processor_ms(self) -> float:
        """Return the milliseconds that its processes take for an act, of a script that is nothing in the page."""
        before = self._processor()
        for n in range(_ACTS):
            await self.acts["evaluate_script"](n)
        return (self._processor() - before) * 1000 / _ACTS

    def _processor(self) -> float:
        return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in self.pids)


async def run(*, quick: bool) -> Report:
    rounds = (5, 1.5) if quick else (25, 6)
    figures, notes = list[Figure](), list[str]()
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/stack", HTML)
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-stack"))
        bare = await stack.enter_async_context(bare_side())
        page = await (await stack.enter_async_context(plain_playwright())).page(url)
        for each in (gate, bare.gate):
            await each.call("goto", pageId=_PAGE, url=url)
        ours = Side(gate, (served.pid, served.gateway_pid, gate.pid))
        theirs = _plain(page)
        for act in theirs:
            for name, first, second in (
                (act, ours.acts[act], bare.acts[act]),
                (f"{act}, libraries and plain Playwright", bare.acts[act], theirs[act]),
            ):
                pair = Pair(name, first, second, waits_for_frames=act == "click")
                await pair.run(*rounds)
                figures += [_without_target(each) for each in (pair.figure(), pair.least())]
                notes.append(pair.note())
        taken, bare_taken = await ours.processor_ms(), await bare.processor_ms()
    figures.append(Figure("processor, a script", taken, bare_taken, "ms", "difference"))
    return Report("stack", "the bare libraries", figures, notes)


def _plain(page: Page) -> Acts:
    return {
        "click": lambda _: page.click("#go"),
        "fill": lambda n: page.fill("#name", f"Ana {n}"),
        "evaluate_script": lambda n: page.evaluate(f"{n} + document.title.length"),
        "snapshot": lambda _: page.aria_snapshot(mode="ai"),
    }


def _without_target(figure: Figure) -> Figure:
    return Figure(figure.name, figure.ours, figure.theirs, figure.unit, figure.judged)


@asynccontextmanager
async def bare_side() -> AsyncIterator[Side]:
    """Run the bare service and one of its gateways."""
    listener = ports.bind("127.0.0.1", 0, listen=True)
    with contextlib.closing(listener):
        listener.set_inheritable(True)
        url, number = f"http://127.0.0.1:{listener.getsockname()[1]}", listener.fileno()
        command = (sys.executable, "-m", "benchmarks.bare.service", str(number))
        async with process.running(*command, env=environment(), inherited=(number,)) as served:
            await _answers(url)
            async with mcp_server(sys.executable, "-m", "benchmarks.bare.gateway", url, env=environment()) as gate:
                yield Side(gate, (served.pid, gate.pid))


async def _answers(url: str) -> None:
    """Wait for a service whose browser has started. Raises TimeoutError."""
    async with asyncio.timeout(_STARTS_WITHIN_S), httpx.AsyncClient() as http:
        await http.get(f"{url}/openapi.json", timeout=_STARTS_WITHIN_S)  # its socket listens before it runs
