"""Measures how soon a chat's server answers, how much memory it takes, and how soon the chat has its first page.

`startup` compares `python -m mcp_gateway`, without and with a running service at its address, with `node cli.js
--headless` of @playwright/mcp, which has not started a browser yet at that point. Units: milliseconds from the
process's start to its answer, at the median; MB of proportional memory (PSS). Targets: `initialize` and `tools/list`
answered no later than by the peer. Our gateway answers these two before it is fully imported. So each server also gets
a call of an unknown tool, which only a complete server can refuse. Its time is for information, and memory is measured
after it.

`first_page`:
- `from nothing`: ms from the spawn of a chat's server to the reply of its first `goto`, with no gateway process,
  service or browser running, although all ran before; beside `@playwright/mcp --isolated`. Target: 1.5 times as long.
- `processor, from nothing`: the seconds of processor time that this takes, in all processes. Target: no more.
- `service running`: the same while another chat already has pages; beside plain Playwright's new page and `goto`.
  Target: 150 ms longer. The window may be the blank one that is kept ready while pages are being opened.
"""

import asyncio
import contextlib
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
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
    gateway_pid,
    mcp_server,
    memory,
    processor,
    service,
)
from browse_together.client import instance
from tests.support.site import Site
from tests.support.tab import closed_port

NO_LATER: Final = Target(1.0)
LONGER: Final = Target(1.5)
LATER: Final = Target(150.0)
GATEWAY: Final = [sys.executable, "-m", "mcp_gateway"]
_MEMORY: Final = "memory, complete"
_SETTLES_S: Final = 2.0
_HTML: Final = "<!doctype html><title>First</title><h1>First</h1>"

Start = dict[str, float]
"""The milliseconds until the answer to each request, and the MB."""


async def run(*, quick: bool) -> Report:
    rounds = 3 if quick else 12
    node = peer.command()
    async with AsyncExitStack() as stack:
        data, other = (
            stack.enter_context(tempfile.TemporaryDirectory(prefix="browse-together-bench-")) for _ in range(2)
        )  # a shared process that is warm would answer for the other variant
        nobody = stack.enter_context(closing(socket.socket()))
        nobody.bind(("127.0.0.1", 0))  # and does not listen, so connections are refused
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        served = await stack.enter_async_context(service())
        variants = {
            "alone": (GATEWAY, environment(BROWSE_URL=url, BROWSE_AUTOSTART="false", **_own(data)), Path(data)),
            "all toolsets": (
                GATEWAY,
                environment(BROWSE_URL=url, BROWSE_AUTOSTART="false", BROWSE_TOOLSETS="all", **_own(other)),
                Path(other),
            ),
            "with a service": (GATEWAY, served.gateway_settings("bench-startup"), served.data_dir),
            "peer": (node, environment(), None),
        }
        seen: dict[str, list[Start]] = {name: [] for name in variants}
        for number in range(rounds + 1):
            for name, variant in variants.items():
                start = await _start(*variant)
                seen[name] += [start] if number else []  # the first fills the disk cache
            await asyncio.sleep(_SETTLES_S)  # for the process that serves all chats to end
    return Report("startup", f"{peer.NAME} {peer.VERSION}", _figures(seen))


def _own(data: str) -> dict[str, str]:
    """Return settings for a gateway process that no other chat shares."""
    return {"BROWSE_DATA_DIR": data, "BROWSE_SHARED_IDLE_S": "1", "XDG_RUNTIME_DIR": data}


async def _start(command: list[str], env: dict[str, str], data: Path | None) -> Start:
    """Run one process from its start to its end."""
    began, found = time.perf_counter(), Start()
    async with mcp_server(*command, env=env) as server:
        found["initialize"] = (time.perf_counter() - began) * 1000
        await server.ask("tools/list", {})
        found["tools/list"] = (time.perf_counter() - began) * 1000
        with contextlib.suppress(Failed):
            await server.ask("tools/call", {"name": "no_such_tool", "arguments": {}})
        found["first call refused"] = (time.perf_counter() - began) * 1000
        found[_MEMORY] = memory(server.pid, *([gateway_pid(data)] if data else []))
    return found


def _figures(seen: dict[str, list[Start]]) -> list[Figure]:
    found = []
    for variant in ("alone", "all toolsets", "with a service"):
        for what in seen[variant][0]:
            ours, theirs = (median(start[what] for start in seen[side]) for side in (variant, "peer"))
            target = NO_LATER if what in {"initialize", "tools/list"} else None
            unit = "MB" if what == _MEMORY else "ms"
            found.append(Figure(f"{what}, {variant}", ours, theirs, unit, "ratio", target))
    return found


async def first_page(*, quick: bool) -> Report:
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
        Figure("processor, from nothing", median(spent), median(peer_spent), "s", "ratio", NO_LATER),
        Figure("first page, service running", median(chats), median(pages), "ms", "difference", LATER),
    ]
    return Report("first_page", f"{peer.NAME} {peer.VERSION} --isolated; plain Playwright's new page", figures)


async def _from_nothing(url: str, data: str) -> tuple[float, float]:
    """Return the milliseconds to the first page, and the seconds of processor time."""
    env = environment(PORT=str(closed_port()), **_own(data))
    try:
        took = await _first_page(GATEWAY, env, "goto", url, Path(data))
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
