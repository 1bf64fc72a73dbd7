"""Measures what gateway and service add to one call.

Compares everyday acts through a gateway process (stdio) and a service process (HTTP) with the same acts in plain
Playwright, in this process, on pages with the same HTML in a browser with the same flags.
Unit: milliseconds, at the median. Targets: what ours may add, or for a new page how many times as long it may take.

The gateway is spoken to in raw JSON-RPC lines, which cost the client about 0.1 ms; an MCP client's own 1 to 2 ms would
be the same with any server. The two sides take turns in blocks of ten, call after call. Before each click both sides
pause equally, for times spread over a frame: a click waits for two frames, and clicks in immediate succession would all
begin at the same point of a frame, which no agent's do. In the end both pages must have received every click.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Final

from playwright.async_api import Page

from benchmarks import sites
from benchmarks.figures import Figure, Judged, Report, Target
from benchmarks.plain import plain_playwright
from benchmarks.processes import Failed, Gateway, gateway, service
from tests.support.site import Site

HTML: Final = """<h1>Benchmark</h1>
<form onsubmit="return false"><label>Name <input id="name"></label>
<button id="go" type="button" onclick="window.clicks = (window.clicks || 0) + 1">Go</button></form>"""
_PAGE: Final = "calls"
_BLOCK: Final = 10
_LEAST_BLOCKS: Final = 2
_PHASES: Final = 17
"""Number of pauses, from 0 to 16 ms. Their order repeats after 17 calls, and so shifts against the blocks of ten."""

Call = Callable[[int], Awaitable[object]]


async def _nothing(_: int) -> None:
    return


@dataclass
class Pair:
    """One action, done both ways."""

    action: str
    most: float
    """What ours may add, or how many times as long it may take."""
    ours: Call
    theirs: Call
    judged: Judged = "difference"
    tidy: tuple[Call, Call] = (_nothing, _nothing)
    """Cleans up after a call of either side, off the clock."""
    took: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    async def run(self, blocks: int, within_s: float) -> None:
        """Run `blocks` blocks, or as many as there is time for; at least two, after one to warm up."""
        give_up_at = time.monotonic() + within_s
        for block in range(blocks + 1):
            if block > _LEAST_BLOCKS and time.monotonic() > give_up_at:
                break
            numbers = range(block * _BLOCK, (block + 1) * _BLOCK)
            for side, tidy, took in zip((self.ours, self.theirs), self.tidy, self.took, strict=True):
                found = [await self._time(side, tidy, number) for number in numbers]
                took.extend(found if block else [])

    async def _time(self, call: Call, tidy: Call, number: int) -> float:
        if self.action.startswith("click"):
            await asyncio.sleep(number * 7 % _PHASES / 1000)  # so that clicks begin at all points of a frame
        began = time.perf_counter()
        await call(number)
        took = (time.perf_counter() - began) * 1000
        await tidy(number)
        return took

    def figure(self) -> Figure:
        ours, theirs = map(median, self.took)
        return Figure(self.action, ours, theirs, "ms", self.judged, Target(self.most))

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
        others = site.page("/shop", sites.shop()), site.page("/members", sites.table(30))
        pairs = [*await _on_one_page(gate, page), *_going(gate, page, url, others)]
        for pair in pairs:
            await pair.run(*((5, 2.5) if quick else (25, 12)))
            if pair.action == "click":
                await _check_clicks(gate, page, pair)
    return Report("calls", "plain Playwright", [pair.figure() for pair in pairs], [pair.note() for pair in pairs])


async def _on_one_page(gate: Gateway, page: Page) -> list[Pair]:
    """Act by selectors, and by the refs of a snapshot, as agents do, beside plain acts by selectors."""
    shown = (await gate.call("snapshot", pageId=_PAGE))["content"][0]["text"]
    name, go = (re.findall(rf'"{name}" \[ref=(\w+)\]', shown)[0] for name in ("Name", "Go"))

    def ours(tool: str, **arguments: str) -> Call:
        return lambda n: gate.call(tool, pageId=_PAGE, **{key: each.format(n) for key, each in arguments.items()})

    def fill(n: int) -> Awaitable[None]:
        return page.fill("#name", f"Ana {n}")

    return [
        Pair("click", 5.0, ours("click", selector="#go"), lambda _: page.click("#go")),
        Pair("click by ref", 5.0, ours("click", selector=go), lambda _: page.click("#go")),
        Pair("fill", 4.0, ours("fill", selector="#name", value="Ana {}"), fill),
        Pair("fill by ref", 4.0, ours("fill", selector=name, value="Ana {}"), fill),
        Pair(
            *("evaluate_script", 2.0, ours("evaluate_script", expression="{} + document.title.length")),
            lambda n: page.evaluate(f"{n} + document.title.length"),
        ),
        Pair("snapshot", 4.0, ours("snapshot"), lambda _: page.aria_snapshot(mode="ai")),
        Pair("screenshot", 6.0, ours("screenshot"), lambda _: page.screenshot()),
    ]


def _going(gate: Gateway, page: Page, url: str, others: tuple[str, str]) -> list[Pair]:
    """Go back and forth between two pages of some hundred elements, and open a page beside the others of the login."""
    opened: list[Page] = []

    async def open_plain(_: int) -> None:
        opened.append(await page.context.new_page())
        await opened[-1].goto(url)

    return [
        Pair(
            *("goto, with its outline", 15.0),
            lambda n: gate.call("goto", pageId=_PAGE, url=others[n % 2]),
            lambda n: page.goto(others[n % 2]),
        ),
        Pair(
            *("open_page", 1.5, lambda n: gate.call("open_page", pageId=f"opened-{n}", url=url), open_plain),
            judged="ratio",
            tidy=(lambda n: gate.call("close_page", pageId=f"opened-{n}"), lambda _: opened.pop().close()),
        ),
    ]


async def _check_clicks(gate: Gateway, page: Page, clicks: Pair) -> None:
    sent = len(clicks.took[0]) + _BLOCK
    got = await gate.value(_PAGE, "window.clicks"), await page.evaluate("window.clicks")
    if got != (sent, sent):
        raise Failed(f"of {sent} clicks a side, {got} arrived")
