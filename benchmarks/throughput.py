"""Measures how much several chats get done at once in one shared browser, and what further chats cost.

`throughput` compares eight gateway processes, each acting on its own page of the shared session, with plain Playwright
in one process with eight contexts. A step is fill + click + evaluate on a small page.
Unit: steps a second of all eight together. Target: no fewer than plain Playwright's. `own processes` is the processor
time that service, gateway and launchers take for a step, in ms, without driver and browser. Target: 5.
The two sides take turns of some seconds, and are idle in between.

`sharing` compares 1, 2, 4, 8 and 16 gateway processes with one, each doing the same steps on its own page.
- `memory, 8 chats`: MB (PSS) of the service, its browser and eight gateways afterwards, beside eight
  `@playwright/mcp --isolated` with their browsers. Target: at most a third.
- `refusal`: ms until an act on another chat's page is refused, at the median. Target: at most 5.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

import psutil
from playwright.async_api import Page

from benchmarks import peer
from benchmarks.calls import HTML
from benchmarks.figures import Figure, Report, Target
from benchmarks.plain import plain_playwright
from benchmarks.processes import (
    Failed,
    Gateway,
    browser_of,
    environment,
    gateway,
    mcp_server,
    memory,
    service,
)
from tests.support.site import Site

AGENTS: Final = 8
CHATS: Final = (1, 2, 4, 8, 16)
SHARE: Final = Target(100, at_least=True)
OWN_MS: Final = Target(5.0)
THIRD: Final = Target(1 / 3)
AT_ONCE: Final = Target(5.0)

_DONE: Final = "[document.querySelector('#name').value, window.clicks]"
_FOREIGN: Final = {"name": "click", "arguments": {"pageId": "page-0", "selector": "#go"}}

Step = Callable[[int], Awaitable[None]]


async def run(*, quick: bool) -> Report:
    rounds, seconds = (2, 1.0) if quick else (8, 2.5)
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/throughput", HTML)
        served = await stack.enter_async_context(service())
        gates = [await stack.enter_async_context(gateway(served, f"bench-{n}")) for n in range(AGENTS)]
        browser = await stack.enter_async_context(plain_playwright())
        ours = await asyncio.gather(*(_agent(gate, f"page-{n}", url) for n, gate in enumerate(gates)))
        theirs = [_script(await browser.page(url)) for _ in range(AGENTS)]
        pids = [served.pid, served.gateway_pid, *(gate.pid for gate in gates)]
        before, done = _processor(pids), ([0] * AGENTS, [0] * AGENTS)
        rates: tuple[list[float], list[float]] = ([], [])
        for length in (1.0, *[seconds] * rounds):
            for side, so_far, found in zip((ours, theirs), done, rates, strict=True):
                found.append(await _turn(side, so_far, length))
        own_ms = (_processor(pids) - before) * 1000 / sum(done[0])
    ours_a_second, theirs_a_second = (median(found[1:]) for found in rates)  # the first turn warms up
    figure = Figure(f"{AGENTS} chats at once", ours_a_second, theirs_a_second, "steps/s", "percent", SHARE)
    own = Figure("own processes, a step", own_ms, 0.0, "ms", "difference", OWN_MS)
    return Report("throughput", "plain Playwright", [figure, own])


async def sharing(*, quick: bool) -> Report:
    chats, seconds = (CHATS[:3], 1.0) if quick else (CHATS, 4.0)
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/sharing", HTML)
        served = await stack.enter_async_context(service())
        gates = [await stack.enter_async_context(gateway(served, f"bench-{n}")) for n in range(max(chats))]
        steps, done, rates, ours = list[Step](), [0] * len(gates), dict[int, float](), 0.0
        for count in chats:
            steps += [await _agent(gates[n], f"page-{n}", url) for n in range(len(steps), count)]
            rates[count] = await _turn(steps, done, seconds)
            if count == AGENTS:
                ours = memory(served.pid, served.gateway_pid, *(gate.pid for gate in gates[:AGENTS]))
        refused = await _refusal(gates[1], 20 if quick else 200)
        _check(done[0], await gates[0].value("page-0", _DONE))  # a refused click did nothing
        browser = browser_of(served.pid)
    figures = [Figure(f"{n} chats", rate, rates[1], "steps/s", "ratio") for n, rate in rates.items() if n > 1]
    figures.append(Figure("refusal of a foreign act", refused, 0.0, "ms", "difference", AT_ONCE))
    if not quick:
        figures.append(Figure(f"memory, {AGENTS} chats", ours, await _peers(browser), "MB", "ratio", THIRD))
    return Report("sharing", f"one chat; nothing; {AGENTS} times {peer.NAME} {peer.VERSION} --isolated", figures)


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


async def _refusal(stranger: Gateway, times: int) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        answer = await stranger.ask("tools/call", _FOREIGN)
        took.append((time.perf_counter() - began) * 1000)
        if not answer.get("isError") or "PAGE_OWNED" not in str(answer["content"]):
            raise Failed("a foreign act was not refused")
    return median(took)


async def _peers(browser: str) -> float:
    """Return the memory of eight peer servers, each with a browser and the page."""
    async with AsyncExitStack() as stack:
        command = peer.isolated(browser, stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(Site()).page("/sharing", HTML)
        servers = [await stack.enter_async_context(mcp_server(*command, env=environment())) for _ in range(AGENTS)]
        for server in servers:
            await server.call("browser_navigate", url=url)
            await server.call("browser_evaluate", function="() => document.querySelector('#go').click()")
        return memory(*(server.pid for server in servers))
