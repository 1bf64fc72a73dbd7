"""Measures how soon after a kill -9 the same page works again: logged in, and at the same URL.

A gateway process has a page of a site behind a login, by a session cookie that no script can read. A process is killed,
and at once the gateway is asked for a click on that pageId, repeatedly until one succeeds; what counts is the time from
the kill to that click. Afterwards the page must be at its URL and logged in, else the benchmark fails.

- `renderer`, `browser`, `driver`: the processes behind the service. Target: at most 2 s.
- `service`: killed, and started again at once on the same address and data, as a supervisor would.
- `gateway`: killed, and another one started for the same chat.

Each round is at its own URL, because a page that crashes repeatedly at one URL is left alone.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from statistics import median
from typing import Final

import psutil

from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, Service, gateway, served_at, service
from tests.support import processes
from tests.support.site import Answer, Received, Site

SOON: Final = Target(2_000)
BEHIND: Final[dict[str, Callable[[Path], list[psutil.Process]]]] = {
    "renderer": processes.renderers,
    "browser": processes.browsers,
    "driver": lambda data: [processes.driver(data)],
}
_PAGE: Final = "cart"
_WITHIN_S: Final = 30
_CLIENT: Final = "bench-recovery"
_WHERE: Final = "[location.href, document.body.dataset.who].join(' ')"


async def run(*, quick: bool) -> Report:
    times, restarts = (1, 1) if quick else (7, 3)
    with Site() as site:
        site.page("/in", Answer("in", headers={"set-cookie": "sid=1; HttpOnly; Path=/"}))
        site.page("/home", _home)
        async with service() as served:
            async with gateway(served, _CLIENT) as gate:
                took = {kind: [await _behind(gate, site, kind, served, n) for n in range(times)] for kind in BEHIND}
            took["gateway"] = [await _of_gateway(served, site, n) for n in range(restarts)]
        took["service"] = [await _of_service(site) for _ in range(restarts)]
    figures = [
        Figure(kind, median(each), 0.0, "ms", "difference", SOON if kind in BEHIND else None)
        for kind, each in took.items()
    ]
    notes = [f"{kind}: {len(each)} kills, {min(each):.0f} to {max(each):.0f} ms" for kind, each in took.items()]
    return Report("recovery", "nothing", figures, notes)


def _home(received: Received) -> Answer:
    who = "member" if "sid=1" in received.headers.get("Cookie", "") else "stranger"
    return Answer(f"<!doctype html><title>home</title><body data-who={who}><button>go</button>")


async def _behind(gate: Gateway, site: Site, kind: str, served: Service, number: int) -> float:
    url = await _signed_in(gate, site, f"{kind}={number}")
    found = await asyncio.to_thread(BEHIND[kind], served.data_dir)
    began = time.perf_counter()
    await processes.kill(*found)
    return await _until_it_works(gate, url, began)


async def _of_gateway(served: Service, site: Site, number: int) -> float:
    async with gateway(served, _CLIENT) as gate:
        url = await _signed_in(gate, site, f"gateway={number}")
        began = time.perf_counter()
        await processes.kill(psutil.Process(gate.pid))
        async with gateway(served, _CLIENT) as second:
            return await _until_it_works(second, url, began)


async def _of_service(site: Site) -> float:
    async with AsyncExitStack() as stack:
        data = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="browse-together-bench-", ignore_cleanup_errors=True)
        )
        first = await stack.enter_async_context(served_at(data, "0"))
        gate = await stack.enter_async_context(gateway(first, _CLIENT))
        url = await _signed_in(gate, site, "service")
        began = time.perf_counter()
        await processes.kill(psutil.Process(first.pid))
        await stack.enter_async_context(served_at(data, first.url.rpartition(":")[2]))
        return await _until_it_works(gate, url, began)


async def _signed_in(gate: Gateway, site: Site, name: str) -> str:
    url = site.url(f"/home?{name}")
    await gate.call("goto", pageId=_PAGE, url=site.url("/in"))
    await gate.call("goto", pageId=_PAGE, url=url)
    return url


async def _until_it_works(gate: Gateway, url: str, began: float) -> float:
    """Return the milliseconds until a click on the page succeeds. Raises Failed if the page is not as it was."""
    click = {"name": "click", "arguments": {"pageId": _PAGE, "selector": "button"}}
    async with asyncio.timeout(_WITHIN_S):
        while True:
            with suppress(Failed):  # the service is not back yet
                if not (await gate.ask("tools/call", click)).get("isError"):
                    break
            # a refused click returns at once; this keeps the retries from taking the processor
            await asyncio.sleep(0.01)
    took = (time.perf_counter() - began) * 1000
    if (where := await gate.value(_PAGE, _WHERE)) != f"{url} member":
        raise Failed(f"after the kill the page is at {where}, and was at {url} as a member")
    return took
