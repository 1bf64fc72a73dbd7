"""Measures what a form of ten fields costs in one call.

Compares `fill_form` of ten text fields with three calls of `fill`, through the same gateway and service processes, turn
by turn on the same page. Unit: milliseconds at the median. Target: less than the three calls.
"""

import time
from contextlib import AsyncExitStack
from statistics import median
from typing import Final

from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, gateway, service
from tests.support.site import Site

FIELDS: Final = 10
FILLS: Final = 3
HTML: Final = "".join(f"<input id=f{number}>" for number in range(FIELDS))
_PAGE: Final = "form"


async def run(*, quick: bool) -> Report:
    forms: list[float] = []
    fills: list[float] = []
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-forms"))
        await gate.call("goto", pageId=_PAGE, url=site.page("/form", HTML))
        for turn in range(12 if quick else 40):
            forms.append(await _form(gate, f"form {turn}"))
            fills.append(await _fills(gate, f"fill {turn}"))
            await _check(gate, turn)
    figure = Figure("ten fields", median(forms[2:]), median(fills[2:]), "ms", "ratio", Target(1.0))
    return Report("forms", "three calls of fill", [figure])


async def _form(gate: Gateway, value: str) -> float:
    began = time.perf_counter()
    await gate.call(
        "fill_form", pageId=_PAGE, fields=[{"selector": f"#f{number}", "value": value} for number in range(FIELDS)]
    )
    return (time.perf_counter() - began) * 1000


async def _fills(gate: Gateway, value: str) -> float:
    began = time.perf_counter()
    for number in range(FILLS):
        await gate.call("fill", pageId=_PAGE, selector=f"#f{number}", value=value)
    return (time.perf_counter() - began) * 1000


async def _check(gate: Gateway, turn: int) -> None:
    found = await gate.value(_PAGE, "[...document.querySelectorAll('input')].map(e => e.value)")
    if found != [f"fill {turn}"] * FILLS + [f"form {turn}"] * (FIELDS - FILLS):
        raise Failed(f"the fields have {found}")
