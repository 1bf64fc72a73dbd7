"""Measures how soon a chat has its first page.

- `first page, from nothing`: ms from the spawn of a chat's server to the reply of its first `goto`, with no gateway
  process, service or browser running, although all ran before; beside `@playwright/mcp --isolated`.
  Target: 1.5 times as long.
- `processor, from nothing`: the seconds of processor time that this takes, in all processes. Target: no more.
- `first page, service running`: the same while another chat already has pages; beside plain Playwright's new page and
  `goto`. Target: 150 ms longer. The window may be the blank one that is kept ready while pages are being opened.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Final

from playwright.async_api import Page

from benchmarks import peer
from benchmarks.figures import Figure, Report, Target
from benchmarks.plain import plain_playwright
from benchmarks.processes import (
    Failed,
    Service,
    browser_of,
    environment,
    gateway,
    mcp_server,
    processor,
    service,
)
from client import instance
from tests.support.site import Site
from tests.support.tab import closed_port

LONGER: Final = Target(1.5)
NO_MORE: Final = Target(1.0)
LATER: Final = Target(150.0)
_SETTLES_S: Final = 2.0
_HTML: Final = "<!doctype html><title>First</title><h1>First</h1>"


async def run(*, quick: bool) -> Report:
    rounds = 2 if quick else 7
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/first", _HTML)
        served = await stack.enter_async_context(service())
        others = await stack.enter_async_context(gateway(served, "bench-others"))
        for number in range(2):
            await others.call("goto", pageId=f"other-{number}", url=url)
        command = peer.isolated(browser_of(served.pid), stack.enter_context(tempfile.TemporaryDirectory()))
        data = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        await _from_nothing(url, data)  # creates the profile, and fills Node's compile cache
        nothing = [(await _from_nothing(url, data), await _peers(command, url)) for _ in range(rounds)]
        page = await (await stack.enter_async_context(plain_playwright())).page(url)
        beside = [(await _of_chat(served, number, url), await _plain(page, url)) for number in range(rounds)]
    (ours, spent), (theirs, peer_spent) = (zip(*side, strict=True) for side in zip(*nothing, strict=True))
    chats, pages = zip(*beside, strict=True)
    figures = [
        Figure("first page, from nothing", median(ours), median(theirs), "ms", "ratio", LONGER),
        Figure("processor, from nothing", median(spent), median(peer_spent), "s", "ratio", NO_MORE),
        Figure("first page, service running", median(chats), median(pages), "ms", "difference", LATER),
    ]
    both = {"from nothing": (ours, theirs), "service running": (chats, pages)}
    notes = [
        f"{name}, at the least: {min(ours):.0f} ms ours, {min(peers):.0f} ms" for name, (ours, peers) in both.items()
    ]
    return Report("first_page", f"{peer.NAME} {peer.VERSION} --isolated; plain Playwright's new page", figures, notes)


async def _from_nothing(url: str, data: str) -> tuple[float, float]:
    """Return the milliseconds to the first page, and the seconds of processor time."""
    env = environment(BROWSE_DATA_DIR=data, PORT=str(closed_port()), BROWSE_SHARED_IDLE_S="1", XDG_RUNTIME_DIR=data)
    try:
        took = await _first_page((sys.executable, "-m", "mcp_gateway"), env, "goto", url, Path(data))
    finally:
        if started := instance.find(Path(data)):
            await asyncio.to_thread(instance.stop, started)
    await asyncio.sleep(_SETTLES_S)  # for the gateway's process to end
    return took


async def _peers(command: Sequence[str], url: str) -> tuple[float, float]:
    took = await _first_page(command, environment(), "browser_navigate", url)
    await asyncio.sleep(_SETTLES_S)  # as above
    return took


async def _first_page(
    command: Sequence[str], env: dict[str, str], tool: str, url: str, data: Path | None = None
) -> tuple[float, float]:
    began = time.perf_counter()
    async with mcp_server(*command, env=env) as server:
        shown = await server.call(tool, url=url)
        took = (time.perf_counter() - began) * 1000
        if "/first" not in str(shown):
            raise Failed(f"another page was opened: {shown}")
        pids = [server.pid]
        if data is not None and (started := instance.find(data)):
            pids += [started.pid, Service(started.url, data, started.pid).gateway_pid]
        return took, processor(pids)


async def _of_chat(served: Service, number: int, url: str) -> float:
    began = time.perf_counter()
    async with gateway(served, f"bench-{number}") as chat:
        await chat.call("goto", pageId=f"first-{number}", url=url)
        took = (time.perf_counter() - began) * 1000
        await chat.call("close_page", pageId=f"first-{number}")
    return took


async def _plain(page: Page, url: str) -> float:
    began = time.perf_counter()
    opened = await page.context.new_page()
    await opened.goto(url)
    took = (time.perf_counter() - began) * 1000
    await opened.close()
    return took
