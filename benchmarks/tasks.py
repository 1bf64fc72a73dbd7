"""Measures what a finished task costs: the tool list and all replies, in tokens (bytes / 4), calls and seconds.

Ten tasks of 5 to 15 steps on a shop of 300 elements, a table of 200 rows, an article of 5,000 elements and the smart
home, each done through our gateway and through @playwright/mcp by one scripted policy. It knows only what replies told
it: before it acts it looks for the element in what it was told of the document; where that is not in it, it reads. It
checks each result in the reply of the act, and reads where that says nothing of it. It reads the plain way (whole
snapshots; of ours those since the last one), or by a search (`find`, `browser_find`) and what that leads to.
Targets: a fifth of the peer's tokens the plain way, a third by search; no more calls and no more time.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from benchmarks import peer, sites
from benchmarks.chats import Chat, Ours, Step, Theirs
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import ROOT, Failed, browser_of, environment, gateway, mcp_server, service
from tests.support.site import Site

FIFTH, THIRD, NO_MORE = Target(20), Target(33.4), Target(1.0)


def go(path: str) -> Step:
    return Step("open", value=path)


def click(role: str, name: str, near: str = "", item: str = "listitem") -> Step:
    return Step("click", role, name, near=near, item=item)


def fill(role: str, name: str, value: str) -> Step:
    return Step("fill", role, name, value)


def expect(words: str) -> Step:
    return Step("expect", value=words)


def buy(*numbers: int) -> list[Step]:
    steps = [go("/shop")]
    for count, n in enumerate(numbers, 1):
        steps += [click("button", "Add to cart", near=sites.name(n)), expect(f"Cart ({count})")]
    return steps


def switch(*numbers: int) -> list[Step]:
    steps = [go("/members")]
    for n in numbers:
        steps += [click("button", "Switch", near=f"Member {n}", item="row")]
        steps += [expect(f"Member {n} is {'paused' if n % 3 else 'active'}")]
    return steps


def order(n: int, engraving: str) -> list[Step]:
    return [
        go("/shop"),
        click("link", sites.name(n)),
        expect(sites.name(n)),
        fill("textbox", "Engraving", engraving),
        Step("check", "checkbox", "As a gift"),
        Step("choose", "combobox", "Colour", "Red"),
        click("button", "Order"),
        expect(f"engraving={engraving}, gift=on, colour=Red"),
        click("link", "Back to the shop"),
        expect("Kettles and more"),
    ]


def home(*done: tuple[str, str]) -> list[Step]:
    steps = [
        go("/"),
        fill("textbox", "Username", "ana"),
        fill("textbox", "Password", "casa"),
        click("button", "Log in"),
    ]
    for name, said in done:
        steps += [click("switch", name), expect(said)]
    return [*steps, click("button", "Log out"), expect("Log in")]


LIGHTS: Final = (
    ("salon", "turned salon off"),
    ("cocina", "turned cocina on"),
    ("salon", "turned salon on"),
    ("cocina", "turned cocina off"),
)
ALARM: Final = (("alarm", "armed the alarm"), ("alarm", "disarmed the alarm"))

TASKS: Final[dict[str, list[Step]]] = {
    "shop: one": [*buy(7), click("link", "Home"), expect("Kettles and more")],
    "shop: three": buy(3, 12, 27),
    "shop: order": order(6, "Ana"),
    "shop: order late": order(28, "Bo"),
    "shop: quantity": [
        go("/shop"),
        fill("spinbutton", "Quantity of Clay kettle 8", "3"),
        click("button", "Add to cart", near="Clay kettle 8"),
        expect("Added 3 of Clay kettle 8"),
        click("button", "Add to cart", near="Iron kettle 9"),
        expect("Added 1 of Iron kettle 9"),
    ],
    "table: one": [*switch(57), expect("Member 57")],
    "table: five": switch(57, 88, 102, 150, 199),
    "article: comment": [
        go("/article"),
        fill("textbox", "Your name", "Ana"),
        click("button", "Send a comment"),
        expect("Thank you, Ana"),
        fill("textbox", "Your name", "Bo"),
        click("button", "Send a comment"),
        expect("Thank you, Bo"),
    ],
    "home: lights": home(*LIGHTS),
    "home: evening": home(*ALARM, *LIGHTS[:1], LIGHTS[2]),
}


@dataclass
class Bill:
    """Adds up what the tasks of one side cost."""

    tokens: dict[str, float] = field(default_factory=dict)
    calls: int = 0
    seconds: float = 0


async def run(*, quick: bool) -> Report:
    tasks = dict([*TASKS.items()][:: 3 if quick else 1])
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        sites.open_all(site)
        home = await stack.enter_async_context(_home())
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-tasks"))
        await gate.call("goto", pageId="first", url="about:blank")
        left = stack.enter_context(tempfile.TemporaryDirectory(prefix="browse-together-bench-"))
        server = mcp_server(*peer.isolated(browser_of(served.pid), left), env=environment())
        other = await stack.enter_async_context(server)
        figures, notes = [], []
        for searches in (False, True):
            ours, theirs = Bill(), Bill()
            for number, (name, steps) in enumerate(tasks.items()):
                base = home if name.startswith("home") else site.url("")
                page = f"task-{number}-{int(searches)}"
                await _do(ours, name, Ours(gate, base, searches, page), steps)
                await _do(theirs, name, Theirs(other, base, searches), steps)
                notes.append(f"{name}: {ours.tokens[name]:.0f} and {theirs.tokens[name]:.0f} tokens")
            how, target = ("by search", THIRD) if searches else ("the plain way", FIFTH)
            figures += _figures(how, ours, theirs, target)
    return Report("tasks", f"{peer.NAME} {peer.VERSION}", figures, notes)


async def _do(bill: Bill, name: str, chat: Chat, steps: Sequence[Step]) -> None:
    began = time.perf_counter()
    await chat.start()
    for step in steps:
        try:
            await chat.do(step)
        except Failed as failed:
            raise Failed(f"{name}, {step}: {failed}") from failed
    bill.seconds += time.perf_counter() - began
    bill.tokens[name] = chat.bytes / 4
    bill.calls += chat.calls


def _figures(how: str, ours: Bill, theirs: Bill, target: Target) -> list[Figure]:
    mine, others = (sum(bill.tokens.values()) / len(bill.tokens) for bill in (ours, theirs))
    return [
        Figure(f"tokens a task, {how}", mine, others, "tokens", "percent", target),
        Figure(f"calls, {how}", ours.calls, theirs.calls, "calls", "ratio", NO_MORE),
        Figure(f"time, {how}", ours.seconds, theirs.seconds, "s", "ratio", NO_MORE),
    ]


@asynccontextmanager
async def _home() -> AsyncIterator[str]:
    """Serve the smart home from a process of its own."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "examples.smart_home", "--port", "0"),
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        if process.stdout is None:
            raise Failed("the smart home has no output")
        async with asyncio.timeout(20):
            line = (await process.stdout.readline()).decode()
        yield line.split()[1].rstrip("/")
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
