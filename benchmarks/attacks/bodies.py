"""Attacks by callers: bodies that are slow to read, patterns that are slow to compare, endless results."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Final

import httpx

from benchmarks.attacks.attacker import Attack, Attacker
from benchmarks.calls import HTML
from shared import wire
from tests.support.json import AnyJson

_PAGE: Final = "hostile"
_SCRIPTS: Final = {
    "200,000 numbers": "Array.from({length: 200_000}, (_, n) => n)",
    "500,000 objects": "Array.from({length: 500_000}, (_, n) => ({n}))",
    "a list doubled 19 times": "(() => { let a = [1]; for (let n = 0; n < 19; n++) a = [a, a]; return a })()",
    "50 MB": "'x'.repeat(50_000_000)",
    "an exception of 50 MB": "() => { throw 'x'.repeat(50_000_000) }",
}
_RAW: Final = {
    "400,000 keys": b"{" + b",".join(b'"k%d":0' % n for n in range(400_000)) + b"}",
    "100,000 lists": b'{"action":"evaluate_script","expression":"1","arg":[' + b"[]," * 100_000 + b"[]]}",
    "10 MB of quotes": b'{"a":[' + b'"",' * 3_000_000 + b'""]}',
}
_CALLS: Final[dict[str, tuple[str, dict[str, AnyJson]]]] = {
    "an expectUrl of brackets": ("click", {"selector": "#go", "expectUrl": "[" * 30_000}),
    "20,000 empty lists": ("evaluate_script", {"expression": "1", "arg": [[]] * 19_000}),
    "markdown of scripts left open": ("content", {"format": "markdown"}),
    "hungry patterns": ("block_requests", {"patterns": [f"/(a+)+{n}$/" for n in range(200)]}),
}
_LEFT_OPEN: Final = "document.body.append(Object.assign(document.createElement('div'), {innerHTML: '<svg><script>'"
_GROW: Final = f"{_LEFT_OPEN}.repeat(20_000)}}))"


def _script(script: str) -> Attack:
    return _call("evaluate_script", {"expression": script})


def _call(action: str, arguments: dict[str, AnyJson]) -> Attack:
    async def attack(by: Attacker) -> None:
        await by.post("goto", pageId=_PAGE, url=f"data:text/html,{HTML}")
        if action == "content":
            await by.post("evaluate_script", pageId=_PAGE, expression=_GROW)
        while True:
            await _quietly(by.post(action, pageId=_PAGE, **arguments))

    return attack


def _raw(body: bytes) -> Attack:
    async def attack(by: Attacker) -> None:
        while True:
            await _quietly(by.http.post(wire.BROWSER, content=body, headers={"Content-Type": "application/json"}))

    return attack


async def _quietly(call: Awaitable[object]) -> None:
    try:
        await call
    except (httpx.HTTPError, ValueError):
        await asyncio.sleep(0.1)  # refused without a reply


ATTACKS: Final[Mapping[str, Attack]] = {
    **{f"a result of {name}": _script(script) for name, script in _SCRIPTS.items()},
    **{f"a body of {name}": _raw(body) for name, body in _RAW.items()},
    **{name: _call(*call) for name, call in _CALLS.items()},
}
