"""Measures how long a client's click takes while others do harm.

A victim clicks on its own page, again and again, through its own gateway. One attack after another runs beside it, each
with a new service and browser. Unit: milliseconds. Target, for each attack: of a hundred clicks, 99 take less than a
second, and less than 4 times as long as the same share did before the attack.

An attack is one short function in a table of `benchmarks/attacks/`. It is ended after some seconds, but the victim
finishes its last click, so that a delay counts in full.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from statistics import median
from typing import Final

from benchmarks.attacks import bodies, pages
from benchmarks.attacks.attacker import CLIENT_ID, Attack, Attacker, client_of
from benchmarks.calls import HTML
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, environment, gateway, service
from client import ports
from examples import processes
from tests.support.site import Site

ATTACKS: Final[Mapping[str, Attack]] = {**pages.ATTACKS, **bodies.ATTACKS}
"""All attacks by name. Those that do not come from a page have modules of their own."""
MOST_MS: Final = Target(1_000.0)
MOST_TIMES: Final = Target(4.0)

_PAGE: Final = "victim"
_USUAL_S: Final = 3.0
_ATTACK_S: Final = 8.0
_QUICK_S: Final = 3.0
_PHASES: Final = 17
_LONGEST_CLICK_S: Final = 30.0


@dataclass(frozen=True)
class Clicks:
    """How long the victim's clicks took, in ms."""

    took: Sequence[float]
    failure: str = ""

    @property
    def p99(self) -> float:
        """Return the longest of the fastest 99 % of the clicks; of fewer than 100, the longest."""
        return sorted(self.took)[-1 - len(self.took) // 100]

    def line(self) -> str:
        return f"{median(self.took):.0f} / {self.p99:.0f} / {max(self.took):.0f}"


@dataclass(frozen=True)
class Found:
    """What the victim felt of one attack."""

    attack: str
    usual: Clicks
    beside: Clicks

    @property
    def figures(self) -> list[Figure]:
        ours, theirs = self.beside.p99, self.usual.p99
        return [
            Figure(self.attack, ours, 0.0, "ms", "difference", MOST_MS),
            Figure(f"{self.attack}, times usual", ours, theirs, "ms", "ratio", MOST_TIMES),
        ]

    @property
    def note(self) -> str:
        """Return median, p99 and maximum, with and without the attack."""
        clicks = f"{len(self.beside.took)} clicks{self.beside.failure}"
        return f"{self.attack}: {self.beside.line()} ms; usual {self.usual.line()} ms; {clicks}"


async def run(*, quick: bool, attacks: Sequence[str] = ()) -> Report:
    """Measure beside the named attacks, or beside all."""
    figures, notes = list[Figure](), list[str]()
    for name in attacks or ATTACKS:
        try:
            found = await beside(name, _QUICK_S if quick else _ATTACK_S)
        except (Failed, TimeoutError) as error:
            notes.append(f"{name}: no figure, {type(error).__name__}: {error}")
        else:
            figures += found.figures
            notes.append(found.note)
        print(notes[-1], file=sys.stderr, flush=True)  # progress, because all together take long
    return Report("neighbours", "its own clicks without the attack", figures, notes, failed=not figures)


async def beside(name: str, seconds: float) -> Found:
    """Measure the victim's clicks before an attack, and while it runs."""
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        served = await stack.enter_async_context(service(limited=True, BROWSE_CLIENT_CALLS_PER_MINUTE="0"))
        hostile = await stack.enter_async_context(_hostile_site())
        victim = await stack.enter_async_context(gateway(served, "bench-victim"))
        gate = await stack.enter_async_context(gateway(served, CLIENT_ID))
        http = await stack.enter_async_context(client_of(served))
        await victim.call("goto", pageId=_PAGE, url=site.page("/victim", HTML))
        await _clicks(victim, 1.0)  # the first few are slow
        usual = await _clicks(victim, _USUAL_S)
        attacking = asyncio.ensure_future(ATTACKS[name](Attacker(served, gate, hostile, http)))
        try:
            return Found(name, usual, await _clicks(victim, seconds))
        finally:
            attacking.cancel()
            await asyncio.gather(attacking, return_exceptions=True)


async def _clicks(victim: Gateway, seconds: float) -> Clicks:
    """Click for `seconds`. A click that fails, or that the page did not get, counts as the longest wait."""
    took, ends_at, n = [], time.monotonic() + seconds, 0
    while time.monotonic() < ends_at:
        await asyncio.sleep(n * 7 % _PHASES / 1000)  # so that clicks begin at all points of a frame
        n += 1
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_LONGEST_CLICK_S):
                await victim.call("click", pageId=_PAGE, selector="#go")
            took.append((time.perf_counter() - began) * 1000)
        except (Failed, TimeoutError) as error:
            took.append(_LONGEST_CLICK_S * 1000)
            return Clicks(
                took, f"; the last failed: {str(error) or 'no answer'}"
            )  # its late answer would spoil the next
    return Clicks(took)


@asynccontextmanager
async def _hostile_site() -> AsyncIterator[str]:
    """Serve the attacker's pages from a separate process."""
    listener = ports.bind("127.0.0.1", 0, listen=True)
    with contextlib.closing(listener):
        listener.set_inheritable(True)
        command = (sys.executable, "-m", "benchmarks.attacks.site", str(listener.fileno()))
        async with processes.running(*command, env=environment(), inherited=(listener.fileno(),)):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
