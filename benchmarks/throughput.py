"""Measures how much eight chats get done at once.

Compares eight gateway processes, each acting on its own page of the shared session, with plain Playwright in one
process with eight contexts. A step is fill + click + evaluate on a small page.
Unit: steps a second of all eight together. Target: no fewer than plain Playwright's. `own processes` is the processor
time that service, gateway and launchers take for a step, in ms, without driver and browser. Target: 5.

The two sides take turns of some seconds, and are idle in between.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

import psutil
from playwright.async_api import Page

from benchmarks.calls import HTML
from benchmarks.figures import Figure, Report, Target
from benchmarks.plain import check_same_browser, plain_playwright
from benchmarks.processes import Failed, Gateway, gateway, service
from tests.support.site import Site

AGENTS: Final = 8
SHARE: Final = Target(100, at_least=True)
OWN_MS: Final = Target(5.0)

_DONE: Final = "[document.querySelector('#name').value, window.clicks]"

Step = Callable[[int], Awaitable[None]]


async def run(*, quick: bool) -> Report:
    rounds, seconds = (2, 1.0) if quick else (8, 2.5)
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        url = site.page("/throughput", HTML)
        served = await stack.enter_async_context(service())
        gates = [await stack.enter_async_context(gateway(served, f"bench-{n}")) for n in range(AGENTS)]
        browser = await stack.enter_async_context(plain_playwright())
        ours = await asyncio.gather(*(_agent(gate, f"page-{n}", url) for n, gate in enumerate(gates)))
        theirs = [_script(await browser.page(url)) for _ in range(AGENTS)]
        check_same_browser(served.pid, os.getpid())
        pids = [served.pid, served.gateway_pid, *(gate.pid for gate in gates)]
        before = _processor(pids)
        rates, steps = await _rates([ours, theirs], rounds, seconds)
        own_ms = (_processor(pids) - before) * 1000 / steps
    ours_a_second, theirs_a_second = map(median, rates)
    figure = Figure(f"{AGENTS} chats at once", ours_a_second, theirs_a_second, "steps/s", "percent", SHARE)
    own = Figure("own processes, a step", own_ms, 0.0, "ms", "difference", OWN_MS)
    return Report("throughput", "plain Playwright", [figure, own], [_note(rates)])


async def _agent(gate: Gateway, page_id: str, url: str) -> Step:
    await gate.call("goto", pageId=page_id, url=url)

    async def step(n: int) -> None:
        await gate.call("fill", pageId=page_id, selector="#name", value=f"Ana {n}")
        await gate.call("click", pageId=page_id, selector="#go")
        _check(n, await gate.value(page_id, _DONE))

    return step


def _script(page: Page) -> Step:
    async def step(n: int) -> None:
        await page.fill("#name", f"Ana {n}")
        await page.click("#go")
        _check(n, await page.evaluate(_DONE))

    return step


def _check(n: int, seen: object) -> None:
    """Check that the n-th step of a page was its n-th fill and click."""
    if seen != [f"Ana {n}", n]:
        raise Failed(f"after step {n} the page has {seen}")


async def _rates(sides: Sequence[Sequence[Step]], rounds: int, seconds: float) -> tuple[list[list[float]], int]:
    """Return each side's steps a second per round, and all steps of the first side. A short first turn warms up."""
    done = [[0] * len(side) for side in sides]
    rates: list[list[float]] = [[] for _ in sides]
    for length in (1.0, *[seconds] * rounds):
        for side, so_far, found in zip(sides, done, rates, strict=True):
            found.append(await _turn(side, so_far, length))
    return [found[1:] for found in rates], sum(done[0])


async def _turn(side: Sequence[Step], done: list[int], seconds: float) -> float:
    """Run all agents of a side at once. A step that has begun is finished, and its time counts."""
    before, began = sum(done), time.perf_counter()

    async def work(agent: int) -> None:
        while time.perf_counter() - began < seconds:
            await side[agent](done[agent] + 1)
            done[agent] += 1

    await asyncio.gather(*map(work, range(len(side))))
    return (sum(done) - before) / (time.perf_counter() - began)


def _processor(pids: Sequence[int]) -> float:
    """Return the seconds of processor time that the processes have used so far."""
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def _note(rates: Sequence[Sequence[float]]) -> str:
    ours, theirs = (" ".join(f"{rate:.1f}" for rate in found) for found in rates)
    return f"steps/s round by round: {ours} ours, {theirs} plain"
