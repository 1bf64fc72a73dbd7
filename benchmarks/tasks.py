"""Measures what finished tasks cost: the tool list once, then all calls and replies, in tokens (bytes / 4), calls and
seconds.

The tasks of `errands` are done in one chat after another through our gateway and through @playwright/mcp, by one
scripted policy. It knows only what replies say: before it acts, it looks for the element in what it knows of the
document, and searches if it is not there, by `find` and queries, or by `browser_find`. It checks each result in the
reply of the act, and searches if the reply does not say.
"""

import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Final

from benchmarks import peer, sites
from benchmarks.chats import Chat, Ours, Theirs
from benchmarks.errands import TASKS, Step
from benchmarks.figures import Figure, Report, Target
from benchmarks.processes import Failed, browser_of, environment, gateway, mcp_server, service
from tests.support.site import Site

THIRD, NO_MORE = Target(100 / 3), Target(1.0)
LIMITS: Final = {"act": 120, "goto": 300, "error": 60}
"""Tokens that a reply may take."""


@dataclass
class Bill:
    """What the tasks of one side cost."""

    start: float = 0
    """What a chat receives before its first call."""
    tokens: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return self.start + sum(self.tokens.values())


async def run(*, quick: bool) -> Report:
    tasks = dict([*TASKS.items()][:: 4 if quick else 1])
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        sites.open_all(site)
        served = await stack.enter_async_context(service())
        gate = await stack.enter_async_context(gateway(served, "bench-tasks"))
        await gate.call("goto", pageId="first", url="about:blank")
        left = stack.enter_context(tempfile.TemporaryDirectory(prefix="browse-together-bench-"))
        command = peer.isolated(browser_of(served.pid), left)
        chats = [Ours(gate), Theirs(await stack.enter_async_context(mcp_server(*command, env=environment())))]
        bills = [Bill(), Bill()]
        for chat, bill in zip(chats, bills, strict=True):
            await chat.start()
            bill.start = chat.bytes / 4
        for task, steps in tasks.items():
            for chat, bill in zip(chats, bills, strict=True):
                await _do(bill, task, chat, [at(site.url(""), step) for step in steps])
    ours, theirs = bills
    figures = [
        Figure("tokens", ours.total, theirs.total, "tokens", "percent", THIRD),
        Figure("calls", chats[0].calls, chats[1].calls, "calls", "ratio", NO_MORE),
        Figure("time", sum(ours.seconds.values()), sum(theirs.seconds.values()), "s", "ratio", NO_MORE),
        *(
            Figure(
                f"longest reply of {kind}, beside its limit", chats[0].longest[kind], most, "tokens", "ratio", NO_MORE
            )
            for kind, most in LIMITS.items()
            if kind in chats[0].longest
        ),
    ]
    notes = [f"before the first call: {ours.start:.0f} tokens ours, {theirs.start:.0f}"]
    for task in tasks:
        parts = [f"{bill.tokens[task]:.0f} in {bill.seconds[task]:.1f} s" for bill in bills]
        notes.append(f"{task}: {', '.join(parts)}")
    return Report("tasks", f"{peer.NAME} {peer.VERSION}", figures, notes)


def at(base: str, step: Step) -> Step:
    return replace(step, value=f"{base}{step.value}") if step.do == "open" else step


async def _do(bill: Bill, task: str, chat: Chat, steps: Sequence[Step]) -> None:
    began, before = time.perf_counter(), chat.bytes
    try:
        await chat.do_all(steps)
    except Failed as failed:
        raise Failed(f"{task}, {type(chat).__name__}: {failed}") from failed
    bill.seconds[task] = time.perf_counter() - began
    bill.tokens[task] = (chat.bytes - before) / 4
