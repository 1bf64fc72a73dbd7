"""Measures whether many chats that are there slow down those that act.

100 chats have a page each, in one service, one browser and one gateway process; ten of them fill, click and read at
once, with a pause after each step as a model makes one. Unit: milliseconds of a call, 95 of 100 take no longer; beside
the median of the one chat that was there first, when it acted alone. Target: at most five times as long. A call that
is refused or fails ends the benchmark.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from statistics import median, quantiles
from typing import Final

from benchmarks.calls import HTML
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Gateway, gateway, service
from tests.support.site import Site

CHATS: Final = 100
ACTING: Final = 10
AT_MOST: Final = Target(5.0)

_AT_ONCE: Final = 4
_PAUSE_S: Final = 0.5
"""A model thinks for seconds; ten that think for so long keep two cores busy half of the time."""


async def run(*, quick: bool) -> Report:
    chats, seconds = (20, 3.0) if quick else (CHATS, 15.0)
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/crowd", HTML)
        served = await stack.enter_async_context(service())
        starting = asyncio.Semaphore(_AT_ONCE)

        async def chat(number: int) -> Gateway:
            async with starting:
                gate = await stack.enter_async_context(gateway(served, f"bench-{number}"))
                await gate.call("open_page", pageId=f"page-{number}", url=url)
            return gate

        first = await chat(0)
        alone = await _act([first], seconds / 2)
        gates = [first, *await asyncio.gather(*map(chat, range(1, chats)))]
        together = await _act(gates[:ACTING], seconds)
    slowest = quantiles(together, n=20)[-1]
    figure = Figure(f"p95 of {ACTING} of {chats} chats", slowest, median(alone), "ms", "ratio", AT_MOST)
    note = f"{len(together)} calls, median {median(together):.0f} ms, longest {max(together):.0f} ms; none refused"
    return Report("crowd", "one chat alone, its median", [figure], [note])


async def _act(gates: Sequence[Gateway], seconds: float) -> list[float]:
    """Let the chats act for so long, and return the milliseconds of each call."""
    until = time.perf_counter() + seconds
    took: list[float] = []

    async def timed(gate: Gateway, tool: str, page_id: str, **arguments: str) -> None:
        began = time.perf_counter()
        await gate.call(tool, pageId=page_id, **arguments)
        took.append((time.perf_counter() - began) * 1000)

    async def work(number: int, gate: Gateway) -> None:
        page_id, step = f"page-{number}", 0
        while time.perf_counter() < until:
            step += 1
            await timed(gate, "fill", page_id, selector="#name", value=f"Ana {step}")
            await timed(gate, "click", page_id, selector="#go")
            await timed(gate, "evaluate_script", page_id, expression="window.clicks")
            await asyncio.sleep(_PAUSE_S)  # what a model takes to go on

    await asyncio.gather(*(work(number, gate) for number, gate in enumerate(gates)))
    return took
