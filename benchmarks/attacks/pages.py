"""Attacks by pages: floods of everything that a page can make, and pages that are costly to read."""

import asyncio
from collections.abc import Mapping
from typing import Final

from benchmarks.attacks.attacker import Attack, Attacker, for_ever
from benchmarks.attacks.scripts import AT_ONCE, ON_CLICK, QUIET
from benchmarks.processes import Failed
from tests.support.json import AnyJson


def _path(name: str) -> str:
    return f"/attack/{name}".replace(" ", "%20")


def _opened(name: str) -> Attack:
    async def attack(by: Attacker) -> None:
        await by.open(_path(name))
        await for_ever()

    return attack


def _clicked(name: str) -> Attack:
    async def attack(by: Attacker) -> None:
        await by.open(_path(name))
        await by.click()
        await for_ever()

    return attack


def _read(name: str) -> Attack:
    """Read a page again and again, in every way."""

    async def attack(by: Attacker) -> None:
        await by.open(_path(name))
        reads: list[tuple[str, dict[str, AnyJson]]] = [
            ("snapshot", {}),
            ("find", {"text": "x"}),
            ("content", {}),
            ("screenshot", {"fullPage": True}),
            ("get_storage", {}),
            ("extract_text", {"selector": "body"}),
            ("close_page", {}),
        ]
        while True:
            for action, arguments in reads:
                await _quietly(by, action, arguments)
            await by.open(_path(name))

    return attack


async def _quietly(by: Attacker, action: str, arguments: dict[str, AnyJson]) -> None:
    try:
        await by.gate.call("call_tool", name=action, arguments={"pageId": "hostile", **arguments})
    except (Failed, TimeoutError):
        return


async def answered_confirms(by: Attacker) -> None:
    """Ask for ever, while the service answers at once."""
    await by.open(_path("confirms"))
    await _quietly(by, "set_dialog_policy", {"accept": True})
    await by.click()
    await for_ever()


async def many_spinning(by: Attacker) -> None:
    """Spin in several pages at once."""
    for n in range(4):
        await by.open(_path("spinning"), f"hostile-{n}")
    await for_ever()


async def spinning_data(by: Attacker) -> None:
    """Spin in a document that is its own address."""
    try:
        url = "data:text/html,<title>x</title><script>for (;;);</script>"
        await by.gate.call("goto", pageId="hostile", url=url, waitUntil="commit", timeout=5_000)
    except (Failed, TimeoutError):
        await asyncio.sleep(0)  # refused, or it spins
    await for_ever()


ATTACKS: Final[Mapping[str, Attack]] = {
    **{name: _opened(name) for name in AT_ONCE},
    **{name: _clicked(name) for name in ON_CLICK},
    **{f"reading {name}": _read(name) for name in QUIET},
    "confirms, answered": answered_confirms,
    "four that spin": many_spinning,
    "spinning data": spinning_data,
}
