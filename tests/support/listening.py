"""Runs the real service on a real socket in this process, with clients that use that socket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import httpx
from httpx_sse import EventSource

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.events import CallMoved
from browser_service.app import create_app
from browser_service.process import Server, bind, server_config, tls
from tests.support import browsers
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService, settings_for
from tests.support.standin import InThisProcess
from tests.support.waiting import PATIENCE_S, become


class _Server(InThisProcess, Server):
    """The service's own server."""


@contextlib.asynccontextmanager
async def listening(data_dir: Path, **settings: AnyJson) -> AsyncIterator[RunningService]:
    """Run a service on a free port of 127.0.0.1. Any: any setting's value."""
    ours = settings_for(data_dir, **settings)
    listener = bind(ours.model_copy(update={"port": 0}))
    ours = ours.model_copy(update={"port": int(listener.getsockname()[1])})
    app = create_app(ours, make_host=browsers.make_host())
    server = _Server(server_config(app, tls(ours)), app)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with asyncio.timeout(PATIENCE_S):
            await server.listens.wait()
        yield RunningService(app, ours)
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE_S):
            await serving
        listener.close()


@contextlib.asynccontextmanager
async def connected(service: RunningService, client_id: str, label: str = "") -> AsyncIterator[Agent]:
    """Return a client with connections of its own."""
    token = mint(service.secret, client_id, label or client_id)
    async with httpx.AsyncClient(
        base_url=service.base_url, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False
    ) as http:
        yield Agent(http, client_id, label or client_id)


@dataclass
class Progress:
    """The progress that a client receives about its calls."""

    moves: list[CallMoved] = field(default_factory=list)
    _grown: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, moved: CallMoved) -> None:
        self.moves.append(moved)
        self._grown.set()

    def of(self, call_id: str) -> list[CallMoved]:
        """Return each move of a call once. On a busy machine the heartbeat tells the last one again."""
        moves: list[CallMoved] = []
        for moved in self.all_of(call_id):
            if not moves or moved.model_copy(update={"elapsed_ms": moves[-1].elapsed_ms}) != moves[-1]:
                moves.append(moved)
        return moves

    def all_of(self, call_id: str) -> list[CallMoved]:
        return [moved for moved in self.moves if moved.call_id == call_id]

    async def until(self, holds: Callable[[Self], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds(self):
                self._grown.clear()
                await self._grown.wait()


@contextlib.asynccontextmanager
async def watching(service: RunningService, client_id: str) -> AsyncIterator[Progress]:
    """Keep the client present, without a socket, as long as this lasts."""
    progress = Progress()

    async def listen() -> None:
        async with contextlib.aclosing(service.parts.clients.stream(client_id)) as stream:
            async for moved in stream:
                if isinstance(moved, CallMoved):
                    progress.add(moved)

    listener = asyncio.create_task(listen())
    await become(lambda: service.is_present(client_id))
    try:
        yield progress
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


@contextlib.asynccontextmanager
async def present(service: RunningService, agent: Agent) -> AsyncIterator[Progress]:
    """Keep the client present by a real event stream as long as this lasts."""
    progress = Progress()

    async def listen(response: httpx.Response) -> None:
        async for event in EventSource(response).aiter_sse():
            if event.event == "call":
                progress.add(CallMoved.model_validate(event.json()))

    async with agent.http.stream("GET", wire.EVENTS) as response:
        assert response.status_code == 200
        listener = asyncio.create_task(listen(response))
        await become(lambda: service.is_present(agent.client_id))
        try:
            yield progress
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)


def sent(agent: Agent, call_id: str, action: str, **arguments: object) -> "asyncio.Task[httpx.Response]":
    """Send a call, and return the task that waits for its reply."""
    return asyncio.create_task(agent.reply(action, headers={wire.CALL_ID: call_id}, **arguments))
