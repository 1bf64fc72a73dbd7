"""Measures what it costs to be watched: sixteen pages on the wall, each four times a second, and one in hand.

Clicks of an agent on a page that is watched beside clicks on it when nobody watches, taking turns; the time of the
processor that service, driver and browser take for the wall above what the same agent's work takes without it, as a
share of one core; how late a change is seen; and how soon an agent is refused once a person stops it.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import median
from typing import Final

import psutil

from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, Service, gateway, service
from shared.secret import read_secret
from tests.support.site import Site
from tests.support.wall import Door, Seat, seat, unpacked

PAGES: Final = 16
SLOWER: Final = Target(3.0)
SHARE: Final = Target(15.0)
LAG: Final = Target(500.0)
STOPPED: Final = Target(200.0)
HTML: Final = "".join(
    f"<p>Row {n} <button id=b{n} onclick='this.textContent = Date.now()'>more</button></p>" for n in range(20)
)
_TILE: Final = {"width": 480, "fps": 4}
_ENDS_AFTER_S: Final = 6.0
_WORKS_S: Final = 12.0
_PAUSE_S: Final = 0.15


async def run(*, quick: bool) -> Report:
    rounds = 2 if quick else 6
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/rows", HTML)
        served = await stack.enter_async_context(service())
        door = Door(served.url, read_secret(served.data_dir))
        gate = await stack.enter_async_context(gateway(served, "bench-wall"))
        for number in range(PAGES):
            await gate.call("goto", pageId=f"p{number}", url=url)
        free, watched = await _clicks(gate, door, rounds)
        alone = await _share(gate, served)
        async with _watched(door, PAGES) as lags:
            together = await _share(gate, served)
        if not lags:
            raise Failed("no change was seen on the wall")
        figures = [
            Figure("click on a watched page", median(watched), median(free), "ms", "difference", SLOWER),
            Figure(f"processor, {PAGES} pages on the wall", together, alone, "% of a core", "difference", SHARE),
            Figure("a click is begun, and its change seen, 19 of 20", _late(lags), 0, "ms", "difference", LAG),
            Figure("a stopped agent is refused", await _stop(gate, door), 0, "ms", "difference", STOPPED),
        ]
    return Report("wall", "the same work when nobody watches", figures)


async def _clicks(gate: Gateway, door: Door, rounds: int) -> tuple[list[float], list[float]]:
    free: list[float] = []
    watched: list[float] = []
    for _ in range(rounds):
        free += [await _click(gate, 0, each) for each in range(20)]
        async with _watched(door, 1):
            watched += [await _click(gate, 0, each) for each in range(20)]
        await asyncio.sleep(_ENDS_AFTER_S)  # pictures are made a while longer, and their end tells nobody
    return free, watched


async def _click(gate: Gateway, page: int, button: int) -> float:
    began = time.perf_counter()
    await gate.call("click", pageId=f"p{page % PAGES}", selector=f"#b{button % 20}")
    return (time.perf_counter() - began) * 1000


@asynccontextmanager
async def _watched(door: Door, pages: int) -> AsyncIterator[list[float]]:
    """Watch some pages, and yield a list that gets how late each picture came, by its own clock."""
    lags: list[float] = []
    async with seat(door) as viewer:
        await viewer.send("watch", tiles={f"p{number}": _TILE for number in range(pages)}, page=None)
        await viewer.until(lambda message: message.get("hasPicture"))
        following = asyncio.create_task(_follow(viewer, lags))
        try:
            yield lags
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following


async def _follow(viewer: Seat, lags: list[float]) -> None:
    """Note how long after the begin of its click the first picture of a page came."""
    seen: dict[str, int] = {}
    async for data in viewer.socket:
        frame = unpacked(data) if isinstance(data, bytes) else {}
        act = frame.get("act")
        if not (frame.get("hasPicture") and act and act["action"] == "click"):
            continue
        page_id, ago_ms = frame["pageId"], act["agoMs"]
        if ago_ms < seen.get(page_id, ago_ms + 1):  # else it is a later picture after the same click
            lags.append(ago_ms)
        seen[page_id] = ago_ms


async def _share(gate: Gateway, served: Service) -> float:
    """Return the share of one core, in percent, that the service and all below it take while an agent works."""
    before, began, number = _processor(served), time.perf_counter(), 0
    while time.perf_counter() - began < _WORKS_S:
        await _click(gate, number, number)
        number += 1
        await asyncio.sleep(_PAUSE_S)  # an agent thinks between two acts
    return (_processor(served) - before) / (time.perf_counter() - began) * 100


def _processor(served: Service) -> float:
    process = psutil.Process(served.pid)
    family = [process, *process.children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in family)


async def _stop(gate: Gateway, door: Door) -> float:
    """Return the milliseconds from a person's stop until a click of the agent is refused."""
    async with seat(door) as person:
        began = time.perf_counter()
        await person.act("stop", "p0")
        try:
            await gate.call("click", pageId="p0", selector="#b0")
        except Failed as refused:
            if "HUMAN_IN_CONTROL" not in str(refused):
                raise
            return (time.perf_counter() - began) * 1000
    raise Failed("a stopped agent was not refused")


def _late(lags: Sequence[float]) -> float:
    return sorted(lags)[int(0.95 * len(lags))]
