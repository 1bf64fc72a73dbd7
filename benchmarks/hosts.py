"""Measures what the link to a host elsewhere adds to a call.

Compares acts on a page of a host that is a process of its own, and has dialled in, with the same acts on a page of the
host in the service's process. Both services run in this process, on the event loop that a service has, and are called
without a socket.
Unit: milliseconds, at the median. Target: what the link may add.
"""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from uvicorn.loops.auto import auto_loop_factory

from benchmarks.calls import HTML, Call, Pair
from benchmarks.figures import Report
from tests.support.json import AnyJson
from tests.support.remote import service_with_remote_host
from tests.support.service import Agent, running_service, settings_for
from tests.support.site import Site

MOST_ADDED_MS: Final = 1.5
_PAGE: Final = "calls"
_ACTS: Final[dict[str, dict[str, str]]] = {
    "evaluate_script": {"expression": "1 + document.title.length"},
    "click": {"selector": "#go"},
    "fill": {"selector": "#name", "value": "Ana"},
}


def _doing(agent: Agent, action: str, arguments: dict[str, AnyJson]) -> Call:
    def act(_: int) -> Awaitable[object]:
        return agent.call(action, pageId=_PAGE, **arguments)

    return act


async def run(*, quick: bool) -> Report:
    def measured() -> list[Pair]:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            return runner.run(_measure(quick=quick))

    pairs = await asyncio.to_thread(measured)
    return Report(
        "hosts", "the host in its process", [pair.figure() for pair in pairs], [each.note() for each in pairs]
    )


async def _measure(*, quick: bool) -> list[Pair]:
    async with AsyncExitStack() as stack:
        url = stack.enter_context(Site()).page("/calls", HTML)
        folder = Path(stack.enter_context(TemporaryDirectory()))
        there = await stack.enter_async_context(service_with_remote_host(settings_for(folder / "there")))
        here = await stack.enter_async_context(running_service(settings_for(folder / "here")))
        agents = [await stack.enter_async_context(service.agent()) for service in (there, here)]
        for agent in agents:
            await agent.call("goto", pageId=_PAGE, url=url)
        pairs = [
            Pair(action, MOST_ADDED_MS, _doing(agents[0], action, arguments), _doing(agents[1], action, arguments))
            for action, arguments in _ACTS.items()
        ]
        for pair in pairs:
            await pair.run(*((5, 5.0) if quick else (40, 20.0)))
        return pairs
