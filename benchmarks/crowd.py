"""Measures whether many chats that are there slow down those that act.

100 chats have a page each, in one service, one browser and one gateway process; ten of them fill, click and read at
once, with a pause after each step as a model makes one. Unit: milliseconds of a call, 95 of 100 take no longer; beside
the median of the one chat that was there first, when it acted alone. Target: at most five times as long. A call that
is refused or fails ends the benchmark.

Plain Playwright then does the same, in one process with as many contexts: what it takes is told beside ours.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median, quantiles
from typing import Final

from playwright.async_api import Page

from benchmarks.calls import HTML, Call
from benchmarks.figures import Figure, Report, Target
from benchmarks.plain import plain_playwright
from benchmarks.processes import Gateway, gateway, service
from tests.support.site import Site

CHATS: Final = 100
ACTING: Final = 10
AT_MOST: Final = Target(5.0)

_AT_ONCE: Final = 4
_PAUSE_S: Final = 0.5
"""A model thinks for seconds; ten that think for so long keep two cores busy half of the time."""


Step = tuple[Call, ...]
"""Holds what is called one after another on a page; each is given how many steps there were."""


async def run(*, quick: bool) -> Report:
    chats, seconds = (20, 3.0) if quick else (CHATS, 15.0)
    alone, together = await _ours(chats, seconds)
    plain_alone, plain_together = await _plain(chats, seconds)
    slowest, plain_slowest = (quantiles(took, n=20)[-1] for took in (together, plain_together))
    name = f"p95 of {ACTING} of {chats} chats"
    figures = [
        Figure(name, slowest, median(alone), "ms", "ratio", AT_MOST),
        Figure(f"{name}, beside plain Playwright's", slowest, plain_slowest, "ms", "ratio"),
    ]
    note = f"{len(together)} calls, median {median(together):.0f} ms, longest {max(together):.0f} ms; none refused"
    plain = (
        f"plain Playwright: {plain_slowest / median(plain_alone):.1f} times its median alone of "
        f"{median(plain_alone):.1f} ms; {len(plain_together)} calls, median {median(plain_together):.0f} ms"
    )
    return Report("crowd", "one chat alone, its median", figures, [note, plain])


async def _ours(chats: int, seconds: float) -> tuple[list[float], list[float]]:
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/crowd", HTML)
        served = await stack.enter_async_context(service())
        starting = asyncio.Semaphore(_AT_ONCE)

        async def chat(number: int) -> Step:
            async with starting:
                gate = await stack.enter_async_context(gateway(served, f"bench-{number}"))
                await gate.call("open_page", pageId=f"page-{number}", url=url)
            return _step(gate, f"page-{number}")

        first = await chat(0)
        alone = await _act([first], seconds / 2)
        steps = [first, *await asyncio.gather(*map(chat, range(1, chats)))]
        return alone, await _act(steps[:ACTING], seconds)


async def _plain(chats: int, seconds: float) -> tuple[list[float], list[float]]:
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/crowd", HTML)
        browser = await stack.enter_async_context(plain_playwright())
        first = _script(await browser.page(url))
        alone = await _act([first], seconds / 2)
        steps = [first, *[_script(await browser.page(url)) for _ in range(1, chats)]]
        return alone, await _act(steps[:ACTING], seconds)


def _step(gate: Gateway, page_id: str) -> Step:
    return (
        lambda n: gate.call("fill", pageId=page_id, selector="#name", value=f"Ana {n}"),
        lambda _: gate.call("click", pageId=page_id, selector="#go"),
        lambda _: gate.call("evaluate_script", pageId=page_id, expression="window.clicks"),
    )


def _script(page: Page) -> Step:
    return (
        lambda n: page.fill("#name", f"Ana {n}"),
        lambda _: page.click("#go"),
        lambda _: page.evaluate("window.clicks"),
    )


async def _act(steps: Sequence[Step], seconds: float) -> list[float]:
    """Let the pages act for so long, and return the milliseconds of each call."""
    until = time.perf_counter() + seconds
    took: list[float] = []

    async def work(step: Step) -> None:
        n = 0
        while time.perf_counter() < until:
            n += 1
            for call in step:
                began = time.perf_counter()
                await call(n)
                took.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(_PAUSE_S)  # what a model takes to go on

    await asyncio.gather(*map(work, steps))
    return took
