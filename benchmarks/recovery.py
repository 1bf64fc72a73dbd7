"""Measures how soon after a kill -9 the same page works again: logged in, and at the same URL.

A gateway process has a page of a site behind a login, by a session cookie that no script can read. A process is killed,
and at once the gateway is asked for a click on that pageId, repeatedly until one succeeds; what counts is the time from
the kill to that click. Afterwards the page must be at its URL and logged in, else the benchmark fails.

- `renderer`, `browser`, `driver`: the processes behind the service. Target: at most 2 s.
- `service`: killed, and started again at once on the same address and data, as a supervisor would.
- `gateway`: killed, and another one started for the same chat.
- `browser, any answer`: beside @playwright/mcp --isolated, whose browser is killed too: the time until any answer that
  is no error. It comes from a blank page without the login, which a note says.

Each round is at its own URL, because a page that crashes repeatedly at one URL is left alone.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from statistics import median
from typing import Any, Final

import psutil

from benchmarks import peer
from benchmarks.figures import Figure, Report, Skipped, Target
from benchmarks.processes import (
    Failed,
    Gateway,
    Service,
    browser_of,
    children,
    environment,
    gateway,
    mcp_server,
    served_at,
    service,
)
from tests.support.site import Answer, Received, Site

SOON: Final = Target(2_000)
_PAGE: Final = "cart"
_WITHIN_S: Final = 30
_EACH_S: Final = 12
_CLIENT: Final = "bench-recovery"
_WHERE: Final = "[location.href, document.body.dataset.who].join(' ')"


async def run(*, quick: bool) -> Report:
    times, restarts = (1, 1) if quick else (7, 3)
    with Site() as site:
        _furnish(site)
        async with AsyncExitStack() as stack:
            served = await stack.enter_async_context(service())
            gate = await stack.enter_async_context(gateway(served, _CLIENT))
            await gate.call("goto", pageId=_PAGE, url=site.url("/in"))
            took = {
                kind: await _times(times, partial(_recovery, gate, site, kind, served))
                for kind in ("renderer", "browser", "driver")
            }
            browser = browser_of(served.pid)
            took["gateway"] = await _times(restarts, partial(_of_gateway, served, site))
        took["service"] = await _times(restarts, partial(_of_service, site))
        figures = [
            Figure(
                kind, median(each), 0.0, "ms", "difference", SOON if kind in {"renderer", "browser", "driver"} else None
            )
            for kind, each in took.items()
        ]
        notes = [f"{kind}: {len(each)} kills, {min(each):.0f} to {max(each):.0f} ms" for kind, each in took.items()]
        try:
            theirs, shown = await _peers(site, browser)
        except Skipped as skipped:
            return Report("recovery", "nothing", figures, [*notes, str(skipped)])
    figures.append(Figure("browser, any answer", median(took["browser"]), theirs, "ms", "ratio"))
    notes.append(f"{peer.NAME} answers after its browser was killed: {shown}")
    return Report("recovery", f"nothing; {peer.NAME} {peer.VERSION} --isolated", figures, notes)


def _furnish(site: Site) -> None:
    def home(received: Received) -> Answer:
        who = "member" if "sid=1" in received.headers.get("Cookie", "") else "stranger"
        return Answer(f"<!doctype html><title>home</title><body data-who={who}><button>go</button>")

    site.page("/in", Answer("in", headers={"set-cookie": "sid=1; HttpOnly; Path=/"}))
    site.page("/home", home)


async def _times(most: int, once: Callable[[int], Awaitable[float]]) -> list[float]:
    """Return `most` times, or as many as there is time for."""
    took: list[float] = []
    give_up_at = time.monotonic() + _EACH_S
    while len(took) < most and (not took or time.monotonic() < give_up_at):
        took.append(await once(len(took)))
    return took


async def _recovery(gate: Gateway, site: Site, kind: str, served: Service, number: int) -> float:
    url = site.url(f"/home?{kind}={number}")
    await gate.call("goto", pageId=_PAGE, url=url)
    began = time.perf_counter()
    await asyncio.to_thread(_kill, _processes(served.pid, kind))
    return await _until_it_works(gate, url, began)


async def _until_it_works(gate: Gateway, url: str, began: float) -> float:
    """Return the milliseconds until a click on the page succeeds. Raises Failed if the page is not as it was."""
    click = {"name": "click", "arguments": {"pageId": _PAGE, "selector": "button"}}
    async with asyncio.timeout(_WITHIN_S):
        while True:
            with suppress(Failed):  # the service is not back yet
                if not (await gate.ask("tools/call", click)).get("isError"):
                    break
            # a refused click returns at once; this keeps the retries from taking the processor
            # a refused click returns at once; this keeps the retries from taking the processor
            await asyncio.sleep(0.01)
    took = (time.perf_counter() - began) * 1000
    if (where := await gate.value(_PAGE, _WHERE)) != f"{url} member":
        raise Failed(f"after the kill the page is at {where}, and was at {url} as a member")
    return took


async def _of_service(site: Site, _: int) -> float:
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-", ignore_cleanup_errors=True) as data:
        async with AsyncExitStack() as stack:
            first = await stack.enter_async_context(served_at(data, "0"))
            gate = await stack.enter_async_context(gateway(first, _CLIENT))
            url = await _signed_in(gate, site, 0)
            began = time.perf_counter()
            await asyncio.to_thread(_kill, [psutil.Process(first.pid)])
            port = first.url.rpartition(":")[2]
            await stack.enter_async_context(served_at(data, port))
            return await _until_it_works(gate, url, began)


async def _of_gateway(served: Service, site: Site, number: int) -> float:
    async with gateway(served, _CLIENT) as gate:
        url = await _signed_in(gate, site, number)
        began = time.perf_counter()
        await asyncio.to_thread(_kill, [psutil.Process(gate.pid)])
        async with gateway(served, _CLIENT) as second:
            return await _until_it_works(second, url, began)


async def _signed_in(gate: Gateway, site: Site, number: int) -> str:
    url = site.url(f"/home?again={number}")
    await gate.call("goto", pageId=_PAGE, url=site.url("/in"))
    await gate.call("goto", pageId=_PAGE, url=url)
    return url


async def _peers(site: Site, browser: str) -> tuple[float, str]:
    """Return the time until the peer answers again, and what that answer says about the page."""
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-") as left:
        async with mcp_server(*peer.isolated(browser, left), env=environment()) as server:
            await server.call("browser_navigate", url=site.url("/in"))
            await server.call("browser_navigate", url=site.url("/home"))
            began = time.perf_counter()
            await asyncio.to_thread(_kill, _processes(server.pid, "browser"))
            answer: dict[str, Any] = {"isError": True}  # Any: JSON
            async with asyncio.timeout(_WITHIN_S):
                while answer.get("isError"):
                    answer = await server.ask("tools/call", {"name": "browser_snapshot", "arguments": {}})
            took = (time.perf_counter() - began) * 1000
    text = " ".join(str(block.get("text", "")) for block in answer["content"])
    return took, "at about:blank" if "about:blank" in text else text[:120]


def _processes(pid: int, kind: str) -> list[psutil.Process]:
    """Return the renderers, the browser, or the driver below a process."""
    commands = [(process, _command(process)) for process in children(pid)]
    browsers = [p for p, words in commands if "--user-data-dir=" in words and "--type=" not in words]
    if kind == "renderer":
        return [process for process, words in commands if "--type=renderer" in words]
    found = browsers if kind == "browser" else [p for p, words in commands if "run-driver" in words]
    if not found:
        raise Failed(f"there is no {kind} to kill")
    return found


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
