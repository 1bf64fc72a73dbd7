"""Measures what it costs to be watched: sixteen pages on the wall.

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
VIEWERS: Final = 100
"""Look at the clicked page at once; one of them reads nothing of what it is sent."""
SLOWER: Final = Target(3.0)
SHARE: Final = Target(15.0)
LAG: Final = Target(500.0)
STOPPED: Final = Target(200.0)
HTML: Final = "".join(
    f"<p>Row {n} <button id=b{n} onclick='this.textContent = Date.now()'>more</button></p>" for n in range(20)
)
Seen = dict[str, list[float]]
"""Maps a page to when its pictures came."""
_ENDS_AFTER_S: Final = 6.0
_WORKS_S: Final = 12.0
_PAUSE_S: Final = 0.15


async def run(*, quick: bool) -> Report:
    rounds = 2 if quick else 4
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/rows", HTML)
        served = await stack.enter_async_context(service())
        door = Door(served.url, read_secret(served.data_dir))
        gate = await stack.enter_async_context(gateway(served, "bench-wall"))
        for number in range(PAGES):
            await gate.call("goto", pageId=f"p{number}", url=url)
        free, watched = await _clicks(gate, door, rounds)
        alone, _ = await _work(gate, served)
        async with _watched(door, PAGES, fps=2) as seen:
            together, clicks = await _work(gate, served)
        if not (lags := _lags(clicks, seen)):
            raise Failed("no change was seen on the wall")
        figures = [
            Figure("click on a watched page", median(watched), median(free), "ms", "difference", SLOWER),
            Figure(f"processor, {PAGES} pages on the wall", together, alone, "% of a core", "difference", SHARE),
            Figure("a click is begun, and its change seen, 19 of 20", _late(lags), 0, "ms", "difference", LAG),
            Figure(f"click while {VIEWERS} look on", await _crowded(gate, door), median(free), "ms", "difference"),
            Figure("a stopped agent is refused", await _stop(gate, door), 0, "ms", "difference", STOPPED),
        ]
    return Report("wall", "the same work when nobody watches", figures)


async def _clicks(gate: Gateway, door: Door, rounds: int) -> tuple[list[float], list[float]]:
    free: list[float] = []
    watched: list[float] = []
    for _ in range(rounds):
        free += [await _click(gate, 0, each) for each in range(20)]
        async with _watched(door, 1, fps=5):
            watched += [await _click(gate, 0, each) for each in range(20)]
        await asyncio.sleep(_ENDS_AFTER_S)  # pictures are made a while longer, and their end tells nobody
    return free, watched


async def _click(gate: Gateway, page: int, button: int) -> float:
    began = time.perf_counter()
    await gate.call("click", pageId=f"p{page % PAGES}", selector=f"#b{button % 20}")
    return (time.perf_counter() - began) * 1000


@asynccontextmanager
async def _watched(door: Door, pages: int, fps: int) -> AsyncIterator[Seen]:
    """Watch some pages, and yield when the pictures of each came."""
    seen: Seen = {}
    tiles = {f"p{number}": {"width": 480, "fps": fps} for number in range(pages)}
    async with seat(door) as viewer:
        await viewer.send("watch", tiles=tiles, page=None)
        await viewer.until(lambda message: message.get("hasPicture"))
        following = asyncio.create_task(_follow(viewer, seen))
        try:
            yield seen
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await following


async def _follow(viewer: Seat, seen: Seen) -> None:
    async for data in viewer.socket:
        frame = unpacked(data) if isinstance(data, bytes) else {}
        if frame.get("hasPicture"):
            seen.setdefault(frame["pageId"], []).append(time.perf_counter())


async def _work(gate: Gateway, served: Service) -> tuple[float, list[tuple[str, float]]]:
    """Return the share of one core, in percent, that the service and all below it take while an agent works, and when
    it clicked on which page."""
    before, began, clicks = _processor(served), time.perf_counter(), list[tuple[str, float]]()
    while time.perf_counter() - began < _WORKS_S:
        clicks.append((f"p{len(clicks) % PAGES}", time.perf_counter()))
        await _click(gate, len(clicks) - 1, len(clicks))
        await asyncio.sleep(_PAUSE_S)  # an agent thinks between two acts
    return (_processor(served) - before) / (time.perf_counter() - began) * 100, clicks


def _lags(clicks: Sequence[tuple[str, float]], seen: Seen) -> list[float]:
    """Return how long after the begin of each click the next picture of its page came, in milliseconds."""
    later = [next((at for at in seen.get(page_id, ()) if at > began), None) for page_id, began in clicks]
    return [(at - began) * 1000 for (_, began), at in zip(clicks, later, strict=True) if at is not None]


def _processor(served: Service) -> float:
    process = psutil.Process(served.pid)
    family = [process, *process.children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in family)


async def _crowded(gate: Gateway, door: Door) -> float:
    """Return how long a click takes while the most viewers look on, whose own time on this machine is in it."""
    async with AsyncExitStack() as stack:
        for number in range(VIEWERS):
            viewer = await stack.enter_async_context(seat(door))
            await viewer.send("watch", tiles={"p0": {"width": 480, "fps": 2}}, page=None)
            if number:
                stack.callback(asyncio.create_task(_follow(viewer, {})).cancel)
        return median([await _click(gate, 0, each) for each in range(20)])


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
