"""Measures what gateway and service add to one call.

Compares `click`, `fill` and `evaluate_script` through a gateway process (stdio) and a service process (HTTP) with the
same three of plain Playwright, in this process, on a page with the same HTML in an equal browser.
Unit: milliseconds at the median. Target: each at most 4 ms longer.

The gateway is spoken to in raw JSON-RPC lines, which cost the client some 0.1 ms; an MCP client's own 1 to 2 ms would
be the same with any server. The two sides take turns in blocks of ten, call after call. Before each click both sides
pause equally, for times spread over a frame: a click waits for two frames, and clicks that followed each other at once
would all begin at the same point of one, as no agent's do. In the end both pages must have got every click.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Final

from playwright.async_api import Page

from benchmarks.figures import Figure, Report, Target
from benchmarks.plain import check_same_browser, plain_playwright
from benchmarks.processes import Failed, Gateway, gateway, service
from tests.support.site import Site

HTML: Final = """<h1>Benchmark</h1>
<form onsubmit="return false"><label>Name <input id="name"></label>
<button id="go" type="button" onclick="window.clicks = (window.clicks || 0) + 1">Go</button></form>"""
ADDED: Final = Target(4.0)

_PAGE: Final = "calls"
_BLOCK: Final = 10
_LEAST_BLOCKS: Final = 2
_PHASES: Final = 17
"""Bounds the pauses, from 0 to 16 ms, whose order repeats after 17 calls and shifts against the blocks of ten."""

Call = Callable[[int], Awaitable[object]]


@dataclass
class Pair:
    """Does one action both ways."""

    action: str
    ours: Call
    theirs: Call
    waits_for_frames: bool = False
    target: Target = ADDED
    took: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    async def run(self, blocks: int, within_s: float) -> None:
        """Run so many blocks, or as many as there is time for; at least two, after one to warm up."""
        give_up_at = time.monotonic() + within_s
        for block in range(blocks + 1):
            if block > _LEAST_BLOCKS and time.monotonic() > give_up_at:
                break
            numbers = range(block * _BLOCK, (block + 1) * _BLOCK)
            for side, took in zip((self.ours, self.theirs), self.took, strict=True):
                found = await _times(side, numbers, pauses=self.waits_for_frames)
                took.extend(found if block else [])

    def figure(self) -> Figure:
        ours, theirs = map(median, self.took)
        return Figure(self.action, ours, theirs, "ms", "difference", self.target)

    def note(self) -> str:
        ours, theirs = (quantiles(took, n=10) for took in self.took)
        spread = f"{ours[0]:.1f} to {ours[8]:.1f} ms ours, {theirs[0]:.1f} to {theirs[8]:.1f} ms plain"
        return f"{self.action}: {len(self.took[0])} calls a side; eight of ten took {spread}"


async def run(*, quick: bool) -> Report:
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        url = site.page("/calls", HTML)
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-calls"))
        browser = await stack.enter_async_context(plain_playwright())
        await gate.call("goto", pageId=_PAGE, url=url)
        page = await browser.page(url)
        check_same_browser(served.pid, os.getpid())
        pairs = _pairs(gate, page)
        for pair in pairs:
            await pair.run(*((5, 2.5) if quick else (25, 15)))
        await _check_clicks(gate, page, pairs[0])
    return Report("calls", "plain Playwright", [pair.figure() for pair in pairs], [pair.note() for pair in pairs])


def _pairs(gate: Gateway, page: Page) -> list[Pair]:
    return [
        Pair(
            "click",
            lambda _: gate.call("click", pageId=_PAGE, selector="#go"),
            lambda _: page.click("#go"),
            waits_for_frames=True,
        ),
        Pair(
            "fill",
            lambda n: gate.call("fill", pageId=_PAGE, selector="#name", value=f"Ana {n}"),
            lambda n: page.fill("#name", f"Ana {n}"),
        ),
        Pair(
            "evaluate_script",
            lambda n: gate.call("evaluate_script", pageId=_PAGE, expression=f"{n} + document.title.length"),
            lambda n: page.evaluate(f"{n} + document.title.length"),
        ),
    ]


async def _times(call: Call, numbers: range, *, pauses: bool) -> list[float]:
    took = []
    for n in numbers:
        if pauses:
            await asyncio.sleep(n * 7 % _PHASES / 1000)  # so that clicks begin at all points of a frame
        began = time.perf_counter()
        await call(n)
        took.append((time.perf_counter() - began) * 1000)
    return took


async def _check_clicks(gate: Gateway, page: Page, clicks: Pair) -> None:
    sent = len(clicks.took[0]) + _BLOCK
    got = await gate.value(_PAGE, "window.clicks"), await page.evaluate("window.clicks")
    if got != (sent, sent):
        raise Failed(f"of {sent} clicks a side, {got} arrived")
