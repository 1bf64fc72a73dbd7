"""Measures how long a parked page takes to be back.

Compares the first act on a page that was parked, which opens its window, loads it and scrolls it to where it was, with
a `goto` of the same document in a page that is open, and the same act there. Unit: milliseconds at the median. Target:
at most a second longer.
"""

import asyncio
import time
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, gateway, service
from tests.support.site import Site

ADDED: Final = Target(1_000.0)
ROWS: Final = 300
HTML: Final = "".join(f"<p>Row {number} <a href=#{number}>more</a></p>" for number in range(ROWS))
SCROLLED: Final = 2_000
_PAGE: Final = "parked"
_OTHER: Final = "open"
_PARKED_WITHIN_S: Final = 20.0


async def run(*, quick: bool) -> Report:
    ours: list[float] = []
    theirs: list[float] = []
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        url = site.page("/rows", HTML)
        served = await stack.enter_async_context(service(BROWSE_PARK_AFTER_MS="300"))
        gate = await stack.enter_async_context(gateway(served, "bench-parking"))
        await gate.call("goto", pageId=_PAGE, url=url)
        await gate.call("goto", pageId=_OTHER, url=url)
        for _ in range(4 if quick else 12):
            await gate.call("evaluate_script", pageId=_PAGE, expression=f"scrollTo(0, {SCROLLED})")
            await _parked(gate)
            ours.append(await _took(gate, _PAGE))
            if await gate.value(_PAGE, "scrollY") != SCROLLED:
                raise Failed("a page that came back is not where it was")
            theirs.append(await _took(gate, _OTHER, url))
    figure = Figure("first act on a parked page", median(ours[1:]), median(theirs[1:]), "ms", "difference", ADDED)
    return Report("parking", "goto and the same act in an open page", [figure])


async def _parked(gate: Gateway) -> None:
    """Wait until the service has parked the idle page."""
    async with asyncio.timeout(_PARKED_WITHIN_S):
        while True:
            listed = (await gate.call("list_pages"))["content"][0]["text"].splitlines()
            if any(line.startswith(f"{_PAGE} · ") and line.endswith(" · parked") for line in listed):
                return
            await asyncio.sleep(0.05)  # no event reports that a page is parked


async def _took(gate: Gateway, page_id: str, url: str | None = None) -> float:
    """Time an evaluation that must be seen to be done; after a `goto` if there is a URL."""
    if url is not None:
        await gate.call("get_current_url", pageId=page_id)  # open, though it may have been parked meanwhile
    began = time.perf_counter()
    if url is not None:
        await gate.call("goto", pageId=page_id, url=url)
    found = await gate.value(page_id, f"document.querySelectorAll('p').length === {ROWS}")
    took = (time.perf_counter() - began) * 1000
    if found is not True:
        raise Failed("the page that came back is not the one that was parked")
    return took
