"""Measures how long a client's click takes while others do harm.

A victim clicks on its own page, again and again, through its own gateway. One attack after another runs beside it, each
with a new service and browser: a page that never ends a script, a page that floods the service with events, and a
caller of costly bodies. Unit: milliseconds. Target, for each attack: of a hundred clicks, 99 take less than a second,
and less than 4 times as long as the same share did before the attack.

An attack is ended after some seconds, but the victim finishes its last click, so that a delay counts in full.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Final

import httpx

from benchmarks.calls import HTML
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, Gateway, Service, gateway, service
from browse_together.client.credentials import Credentials
from browse_together.contract import wire
from tests.support.site import Site

MOST_MS: Final = Target(1_000.0)
MOST_TIMES: Final = Target(4.0)

_PAGE: Final = "victim"
_ATTACKER: Final = "bench-attacker"
_USUAL_S: Final = 3.0
_PHASES: Final = 17
_LONGEST_CLICK_S: Final = 30.0
_PAGES: Final = {
    "a script without end": "setTimeout(() => { for (;;); }, 300)",
    "a flood of events": """let n = 0; setInterval(() => { for (let i = 0; i < 300; i++) {
        console.log('flood', i, {i}); history.replaceState(0, '', '#' + n++); document.title = 'title ' + n } })""",
}
_BODY: Final = b"{" + b",".join(b'"k%d":0' % n for n in range(400_000)) + b"}"

Attack = Callable[[Service, Site], Awaitable[None]]
"""An attack, until it is done or cancelled. Any failure in it is the defender's success."""


def _page(script: str) -> Attack:
    async def attack(of: Service, site: Site) -> None:
        url = site.page("/hostile", f"<title>hostile</title><script>{script}</script>")
        async with gateway(of, _ATTACKER) as gate:
            with suppress(Failed, TimeoutError):
                await gate.call("goto", pageId="hostile", url=url, waitUntil="commit")
            await asyncio.Event().wait()  # its page goes on by itself

    return attack


async def _costly_bodies(of: Service, _: Site) -> None:
    headers = {**Credentials(_ATTACKER, of.data_dir).headers(), "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=of.url, headers=headers, timeout=60) as http:
        while True:
            with suppress(httpx.HTTPError):
                await http.post(wire.BROWSER, content=_BODY)


ATTACKS: Final[Mapping[str, Attack]] = {
    **{name: _page(script) for name, script in _PAGES.items()},
    "bodies of 400,000 keys": _costly_bodies,
}


async def run(*, quick: bool) -> Report:
    figures, notes = list[Figure](), list[str]()
    for name, attack in ATTACKS.items():
        usual, beside = await _measure(attack, 3.0 if quick else 8.0)
        figures += [
            Figure(name, _p99(beside), 0.0, "ms", "difference", MOST_MS),
            Figure(f"{name}, times usual", _p99(beside), _p99(usual), "ms", "ratio", MOST_TIMES),
        ]
        notes.append(f"{name}: {len(beside)} clicks, the longest {max(beside):.0f} ms; usual {max(usual):.0f}")
        print(notes[-1], file=sys.stderr, flush=True)  # progress
    return Report("neighbours", "its own clicks without the attack", figures, notes)


def _p99(took: Sequence[float]) -> float:
    """Return the longest of the fastest 99 % of the clicks; of fewer than 100, the longest."""
    return sorted(took)[-1 - len(took) // 100]


async def _measure(attack: Attack, seconds: float) -> tuple[list[float], list[float]]:
    """Return the victim's clicks before an attack, and while it runs."""
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        served = await stack.enter_async_context(service(limited=True, BROWSE_CLIENT_CALLS_PER_MINUTE="0"))
        victim = await stack.enter_async_context(gateway(served, "bench-victim"))
        await victim.call("goto", pageId=_PAGE, url=site.page("/victim", HTML))
        await _clicks(victim, 1.0)  # the first few are slow
        usual = await _clicks(victim, _USUAL_S)
        attacking = asyncio.ensure_future(attack(served, site))
        try:
            return usual, await _clicks(victim, seconds)
        finally:
            attacking.cancel()
            await asyncio.gather(attacking, return_exceptions=True)


async def _clicks(victim: Gateway, seconds: float) -> list[float]:
    """Click for `seconds`, and return how long each took, in ms. One that fails counts as the longest wait."""
    took, ends_at, n = list[float](), time.monotonic() + seconds, 0
    while time.monotonic() < ends_at:
        await asyncio.sleep(n * 7 % _PHASES / 1000)  # so that clicks begin at all points of a frame
        n += 1
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_LONGEST_CLICK_S):
                await victim.call("click", pageId=_PAGE, selector="#go")
        except (Failed, TimeoutError):
            return [*took, _LONGEST_CLICK_S * 1000]  # its late answer would spoil the next
        took.append((time.perf_counter() - began) * 1000)
    return took
