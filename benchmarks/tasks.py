"""Measures what finished tasks cost: the tool list or skill once, then all calls and replies, in tokens (bytes / 4),
calls and seconds.

The tasks of `errands` are done in one chat after another through our gateway, through @playwright/mcp, and by
agent-browser if npm has it, by one scripted policy. It knows only what replies say: before it acts, it looks for the
element in what it knows of the document, and reads if it is not there. It checks each result in the reply of the act,
and reads if the reply does not say. In the plain variant, it reads as each tool does by default: ours by whole
snapshots, then changes since the last one, and articles by headings and a section; the peer by whole snapshots;
agent-browser by snapshots of interactive elements, and articles by their text. In the search variant, it asks for what
it needs: by `find` and queries, `browser_find`, names and filters.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final

from benchmarks import apps, articles, peer, sites, skill
from benchmarks.chats import Chat, Ours, ToolChat
from benchmarks.errands import TASKS, Step
from benchmarks.figures import Figure, Report, Skipped, Target
from benchmarks.processes import ROOT, Failed, browser_of, environment, gateway, mcp_server, service
from benchmarks.skill import BySkill
from benchmarks.theirs import Theirs
from tests.support.site import Site

FIFTH, THIRD, NO_MORE = Target(20), Target(100 / 3), Target(1.0)
LIMITS: Final = {"act": 120, "goto": 300, "error": 60}
"""Tokens that a reply may take."""
_WAYS: Final = ((False, "the plain way", FIFTH), (True, "by search", THIRD))


@dataclass
class Bill:
    """What the tasks of one side cost."""

    start: float = 0
    """What a chat receives before its first call."""
    tokens: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    calls: int = 0

    @property
    def total(self) -> float:
        return self.start + sum(self.tokens.values())


async def run(*, quick: bool) -> Report:
    tasks = dict([*TASKS.items()][:: 4 if quick else 1])
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        for opened in (sites, apps, articles):
            opened.open_all(site)
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-tasks"))
        await gate.call("goto", pageId="first", url="about:blank")
        left = stack.enter_context(tempfile.TemporaryDirectory(prefix="browse-together-bench-"))
        browser = browser_of(served.pid)
        other = await stack.enter_async_context(mcp_server(*peer.isolated(browser, left), env=environment()))
        sides: dict[str, Callable[[bool], Chat]] = {
            "ours": lambda searches: Ours(searches, server=gate),
            peer.NAME: lambda searches: Theirs(searches, server=other, folder=left),
        }
        notes = []
        try:
            command = await stack.enter_async_context(skill.installed(browser))
            await command.run("open", "about:blank")
            sides[skill.NAME] = lambda searches: BySkill(searches, command=command)
        except Skipped as skipped:
            notes.append(str(skipped))
        figures: list[Figure] = []
        for searches, how, target in _WAYS:
            chats = {name: make(searches) for name, make in sides.items()}
            bills = await _all(chats, tasks, site.url(""))
            figures += [*_figures(how, bills, target), *_longest(how, chats["ours"])]
            notes += _notes(how, bills)
    return Report("tasks", f"{peer.NAME} {peer.VERSION}, or {skill.NAME} {skill.VERSION}", figures, notes)


async def _all(chats: dict[str, Chat], tasks: dict[str, list[Step]], site: str) -> dict[str, Bill]:
    """Do the tasks on all sides in turn. Each side finds the smart home in its initial state."""
    bills = {name: Bill() for name in chats}
    for name, chat in chats.items():
        await chat.start()
        bills[name].start = chat.bytes / 4
    for task, steps in tasks.items():
        for name, chat in chats.items():
            async with _home() if task.startswith("home") else nullcontext(site) as base:
                await _do(bills[name], f"{task}, {name}", chat, [at(base, step) for step in steps])
    return bills


def at(base: str, step: Step) -> Step:
    return replace(step, value=f"{base}{step.value}") if step.do == "open" else step


async def _do(bill: Bill, name: str, chat: Chat, steps: Sequence[Step]) -> None:
    began, before, calls = time.perf_counter(), chat.bytes, chat.calls
    try:
        await chat.do_all(steps)
    except Failed as failed:
        raise Failed(f"{name}: {failed}") from failed
    task = name.rpartition(",")[0]
    bill.seconds[task] = time.perf_counter() - began
    bill.tokens[task] = (chat.bytes - before) / 4
    bill.calls += chat.calls - calls


def _figures(how: str, bills: dict[str, Bill], target: Target) -> list[Figure]:
    ours, theirs, others = bills["ours"], bills[peer.NAME], bills.get(skill.NAME)
    figures = [
        Figure(f"tokens, {how}", ours.total, theirs.total, "tokens", "percent", target),
        Figure(f"calls, {how}", ours.calls, theirs.calls, "calls", "ratio", NO_MORE),
        Figure(f"time, {how}", sum(ours.seconds.values()), sum(theirs.seconds.values()), "s", "ratio", NO_MORE),
    ]
    if others is not None:
        beside = f"{how}, beside {skill.NAME}"
        figures += [
            Figure(f"tokens, {beside}", ours.total, others.total, "tokens", "ratio", NO_MORE),
            Figure(f"time, {beside}", sum(ours.seconds.values()), sum(others.seconds.values()), "s", "ratio", NO_MORE),
        ]
    return figures


def _longest(how: str, chat: Chat) -> list[Figure]:
    """Compare the longest replies with their limits."""
    found = chat.longest if isinstance(chat, ToolChat) else {}
    return [
        Figure(f"longest reply of {kind}, {how}, beside its limit", found[kind], most, "tokens", "ratio", NO_MORE)
        for kind, most in LIMITS.items()
        if kind in found
    ]


def _notes(how: str, bills: dict[str, Bill]) -> list[str]:
    """Return what each task cost each side."""
    starts = ", ".join(f"{bill.start:.0f} ({name})" for name, bill in bills.items())
    lines = [f"{how}, before the first call: {starts} tokens"]
    for task in bills["ours"].tokens:
        parts = [f"{bill.tokens[task]:.0f} in {bill.seconds[task]:.1f} s" for bill in bills.values()]
        lines.append(f"{how}, {task}: {', '.join(parts)}")
    return lines


@asynccontextmanager
async def _home() -> AsyncIterator[str]:
    """Serve the smart home from a separate process."""
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
