"""Measures what chats weigh: memory, and the processor's time to start them.

- `memory, one page`: MB (PSS) of the service, its driver and browser, the gateway and a launcher, with one page open;
  beside `@playwright/mcp --isolated` with the same page, both at the same time. Target: no more.
- `memory, 8 chats`: the same with eight chats, each with a page of 300 elements; beside plain Playwright with eight
  contexts in one process, as it comes: without the flags by which ours has fewer renderers. Target: no more.
- `one more chat`: MB that a chat adds outside the browser. Target: 12.
- `processor, 8 chats`: seconds of processor time from nothing until the eight have their pages; beside the same.
  Target: at most twice as much.

A launcher is 8 MB of an interpreter. Browsers share their program's pages with other browsers that run, and so both
sides of a figure are looked at while both run.
"""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from subprocess import PIPE
from typing import Final

import psutil
from playwright.async_api import async_playwright

from benchmarks import peer
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import (
    Failed,
    Gateway,
    Service,
    browser_of,
    children,
    environment,
    gateway,
    mcp_server,
    service,
)
from client.process import running
from tests.support.site import Site

CHATS: Final = 8
ELEMENTS: Final = 300
NO_MORE: Final = Target(1.0)
TWICE: Final = Target(2.0)
ONE_MORE: Final = Target(12.0)

_MB: Final = 1_048_576
_SETTLES_S: Final = 3
_BUTTONS: Final = "".join(f"<button>Buy {n}</button>" for n in range(ELEMENTS))
_HTML: Final = f"<!doctype html><title>weight</title><main>{_BUTTONS}</main>"


async def run(*, quick: bool) -> Report:
    chats = 2 if quick else CHATS
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/weight", _HTML)
        served = await stack.enter_async_context(service())
        gates = await _chats(stack, served, range(1))
        await _open(gates, url)
        single = await _peer(stack, served, url)
        one = _servers(served, gates)
        gates += await _chats(stack, served, range(1, chats))
        await _open(gates[1:], url)
        pids = [served.pid, served.gateway_pid, *(gate.pid for gate in gates)]
        spent = processor(pids)
        more = (_servers(served, gates) - one) / (chats - 1)
        plain = await _plain(stack, browser_of(served.pid), url, chats)
        theirs = processor([plain])
        await asyncio.sleep(_SETTLES_S)  # browsers tidy up after a start
        figures = [
            single,
            Figure(f"memory, {chats} chats", _memory(pids), _memory([plain]), "MB", "ratio", NO_MORE),
            Figure("one more chat", more, 0.0, "MB", "difference", ONE_MORE),
            Figure(f"processor, {chats} chats", spent, theirs, "s", "ratio", TWICE),
        ]
    return Report("weight", f"{peer.NAME} {peer.VERSION} --isolated; plain Playwright, {chats} contexts", figures)


async def _chats(stack: AsyncExitStack, served: Service, numbers: range) -> list[Gateway]:
    return [await stack.enter_async_context(gateway(served, f"bench-{number}")) for number in numbers]


async def _open(gates: Sequence[Gateway], url: str) -> None:
    for gate in gates:
        await gate.call("open_page", url=url)


async def _peer(stack: AsyncExitStack, served: Service, url: str) -> Figure:
    """Compare one chat with the peer, which is ended again."""
    async with AsyncExitStack() as inner:
        command = peer.isolated(browser_of(served.pid), stack.enter_context(tempfile.TemporaryDirectory()))
        server = await inner.enter_async_context(mcp_server(*command, env=environment()))
        await server.call("browser_navigate", url=url)
        await asyncio.sleep(_SETTLES_S)  # as above
        launchers = [child.pid for child in psutil.Process().children() if "mcp_gateway" in child.cmdline()]
        ours = _memory([served.pid, served.gateway_pid, *launchers])
        return Figure("memory, one page", ours, _memory([server.pid]), "MB", "ratio", NO_MORE)


async def _plain(stack: AsyncExitStack, browser: str, url: str, chats: int) -> int:
    """Have another process open as many contexts with a page each, and return its pid."""
    command = (sys.executable, "-m", "benchmarks.weight", browser, url, str(chats))
    process = await stack.enter_async_context(running(*command, env=environment(), stdin=PIPE, stdout=PIPE))
    if process.stdout is None or not await process.stdout.readline():
        raise Failed("plain Playwright did not open its pages")
    return process.pid


async def _be_plain(browser: str, url: str, chats: int) -> None:
    async with async_playwright() as playwright:
        running_browser = await playwright.chromium.launch(executable_path=browser)
        for _ in range(chats):
            page = await (await running_browser.new_context()).new_page()
            await page.goto(url)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


def _servers(served: Service, gates: Sequence[Gateway]) -> float:
    """Measure all of ours but the browser."""
    pids = [served.pid, served.gateway_pid, *(gate.pid for gate in gates)]
    browser = {child.pid for child in children(served.pid) if "chrom" in child.name()}
    return _pss([process for process in _family(pids) if process.pid not in browser])


def _memory(pids: Sequence[int]) -> float:
    return _pss(_family(pids))


def _pss(processes: Sequence[psutil.Process]) -> float:
    infos = [process.memory_full_info() for process in processes]
    return sum(float(getattr(info, "pss", info.uss)) for info in infos) / _MB


def processor(pids: Sequence[int]) -> float:
    """Return the seconds that the processes have taken so far, with what they started."""
    return sum(sum(process.cpu_times()[:2]) for process in _family(pids))


def _family(pids: Sequence[int]) -> list[psutil.Process]:
    """Return the processes and all that they started, each once."""
    return [*{each.pid: each for pid in pids for each in (psutil.Process(pid), *children(pid))}.values()]


if __name__ == "__main__":
    asyncio.run(_be_plain(sys.argv[1], sys.argv[2], int(sys.argv[3])))
