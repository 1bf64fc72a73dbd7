"""Measures what further chats cost in one shared browser.

- `n chats`: 1, 2, 4, 8 and 16 gateway processes, each with its own page, do the same task of 20 steps at once; steps a
  second of all together, beside one chat alone. They increase until the cores are full.
- `memory, 8 chats`: MB (PSS) of the service, its browser and eight gateways after the task, beside eight
  `@playwright/mcp --isolated` with their browsers after the same task. Target: at most a third.
- `refusal`: ms until an act on another chat's page is refused, at the median. Target: at most 5.

A task is one navigation and 19 scripts that fill and click, so that both kinds of server do the same amount.
"""

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

import psutil

from benchmarks import peer
from benchmarks.calls import HTML
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, browser_of, children, environment, gateway, mcp_server, service
from tests.support.site import Site

CHATS: Final = (1, 2, 4, 8, 16)
TOGETHER: Final = 8
STEPS: Final = 20
THIRD: Final = Target(1 / 3)
AT_ONCE: Final = Target(5.0)

_MB: Final = 1_048_576
_FOREIGN: Final = {"pageId": "page-0", "selector": "#go"}
_SCRIPT: Final = """() => {
  document.querySelector('#name').value = 'Ana';
  document.querySelector('#go').click();
  return window.clicks;
}"""


async def run(*, quick: bool) -> Report:
    chats = CHATS[:3] if quick else CHATS
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/sharing", HTML)
        served = await stack.enter_async_context(service())
        gates = [await stack.enter_async_context(gateway(served, f"bench-{n}")) for n in range(max(chats))]
        rates, ours = {}, 0.0
        for count in chats:
            rates[count] = await _rate(gates[:count], url)
            if count == TOGETHER:
                ours = _memory(served.pid, served.gateway_pid, *(gate.pid for gate in gates[:TOGETHER]))
        refused = await _refusal(gates[0], gates[1], 20 if quick else 200)
        browser = browser_of(served.pid)
    figures = [Figure(f"{n} chats", rate, rates[1], "steps/s", "ratio") for n, rate in rates.items() if n > 1]
    figures.append(Figure("refusal of a foreign act", refused, 0.0, "ms", "difference", AT_ONCE))
    if not quick:
        figures.append(Figure(f"memory, {TOGETHER} chats", ours, await _peers(browser), "MB", "ratio", THIRD))
    return Report("sharing", f"one chat; nothing; {TOGETHER} times {peer.NAME} {peer.VERSION} --isolated", figures)


async def _rate(gates: list[Gateway], url: str) -> float:
    """Return the steps a second of all together. A first round opens the pages."""
    await asyncio.gather(*(_task(gate, f"page-{n}", url) for n, gate in enumerate(gates)))
    began = time.perf_counter()
    await asyncio.gather(*(_task(gate, f"page-{n}", url) for n, gate in enumerate(gates)))
    return len(gates) * STEPS / (time.perf_counter() - began)


async def _task(gate: Gateway, page_id: str, url: str) -> None:
    await gate.call("goto", pageId=page_id, url=url)
    for clicks in range(1, STEPS):
        if await gate.value(page_id, f"({_SCRIPT})()") != clicks:
            raise Failed(f"{page_id} has not got its click {clicks}")


async def _refusal(holder: Gateway, stranger: Gateway, times: int) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        answer = await stranger.ask("tools/call", {"name": "click", "arguments": _FOREIGN})
        took.append((time.perf_counter() - began) * 1000)
        if not answer.get("isError") or "PAGE_OWNED" not in str(answer["content"]):
            raise Failed("a foreign act was not refused")
    if await holder.value("page-0", "window.clicks") != STEPS - 1:
        raise Failed("a refused click has happened")
    return median(took)


async def _peers(browser: str) -> float:
    """Return the memory of eight peer servers, each with a browser, after the task."""
    async with AsyncExitStack() as stack:
        command = peer.isolated(browser, stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(Site()).page("/sharing", HTML)
        servers = [await stack.enter_async_context(mcp_server(*command, env=environment())) for _ in range(TOGETHER)]
        for server in servers:
            await server.call("browser_navigate", url=url)
            for _ in range(1, STEPS):
                await server.call("browser_evaluate", function=_SCRIPT)
        return _memory(*(server.pid for server in servers))


def _memory(*pids: int) -> float:
    """Return the memory of the processes and everything that they started, each counted once."""
    found = {process.pid: process for pid in pids for process in [psutil.Process(pid), *children(pid)]}
    infos = [process.memory_full_info() for process in found.values()]
    return sum(float(getattr(info, "pss", info.uss)) for info in infos) / _MB
