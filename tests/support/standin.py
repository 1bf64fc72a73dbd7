"""Runs a real HTTP server that speaks the service's envelope, so that the gateway can be tested without a browser."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import uvicorn
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from browse_together.contract import wire
from browse_together.contract.replies import OTHER_VERSION
from browse_together.contract.secret import proof
from browser_service.spine.rendering.reply import asked_form, rendered
from tests.support.waiting import PATIENCE_S

Json = dict[str, JsonValue]
SECRET = "a secret of forty-eight characters, more or less"
UNAUTHORIZED = 401


class Seen(NamedTuple):
    path: str
    headers: dict[str, str]
    body: Json


Answer = Callable[[Seen], Awaitable[Response]]


def success(result: Json, *, headers: dict[str, str] | None = None, **beside: JsonValue) -> Response:
    return JSONResponse({"success": True, "result": result, "page": None, "notices": [], **beside}, headers=headers)


def failure(
    code: str, message: str, status: int, *, headers: dict[str, str] | None = None, **error: JsonValue
) -> Response:
    body = {"code": code, "message": message, "hint": None, "details": {}, "timestamp": "", "requestId": "", **error}
    return JSONResponse({"success": False, "error": body}, status_code=status, headers=headers)


def _in_form(response: Response, seen: Seen) -> Response:
    """Make a reply into what its caller can show, as the service does of all that its spine answers."""
    form = asked_form(seen.headers.get(wire.REPLY.lower()))
    if form is None or not isinstance(response, JSONResponse) or response.status_code == UNAUTHORIZED:
        return response
    other = response.headers.get(wire.CATALOGUE) not in {None, seen.headers[wire.CATALOGUE.lower()]}
    body = rendered(json.loads(bytes(response.body)), seen.body, form, OTHER_VERSION if other else "")
    headers = {key: value for key, value in response.headers.items() if key != "content-length"}
    return JSONResponse(body, response.status_code, headers)


class BrokenOff(Response):
    """An answer that promises more than it sends, so that the connection ends in the middle."""

    def __init__(self) -> None:
        super().__init__(b"{", headers={"content-length": "999", "content-type": "application/json"})


async def echo(seen: Seen) -> Response:
    return success({"heard": seen.body["action"]})


class StandIn:
    """A service of which a test awaits the requests and sets the answers."""

    def __init__(self) -> None:
        self.url = ""
        self._events: set[asyncio.Queue[str | None]] = set()
        self.forget()
        self.app = Starlette(
            routes=[
                Route(wire.HEALTH, self._health),
                Route(wire.EVENTS, self._hold_stream),
                Route(wire.BROWSER, self._act, methods=["POST"]),
                Route(wire.BROWSER + "/{page_id:path}", self._act, methods=["POST"]),
                Route(wire.CALLS + "/{call_id}/cancel", self._cancel, methods=["POST"]),
            ]
        )

    def forget(self) -> None:
        """Forget everything, for the next test."""
        self.end_streams()
        self.answer: Answer = echo
        self.secret: str | None = SECRET
        self.asked_for_proof = 0
        self.events_status = 200
        self.opens_streams = asyncio.Event()
        self.opens_streams.set()
        self.calls: asyncio.Queue[Seen] = asyncio.Queue()
        self.cancels: asyncio.Queue[str] = asyncio.Queue()
        self.streams: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def call(self) -> Seen:
        return await asyncio.wait_for(self.calls.get(), PATIENCE_S)

    async def cancelled(self) -> str:
        return await asyncio.wait_for(self.cancels.get(), PATIENCE_S)

    async def stream(self) -> dict[str, str]:
        return await asyncio.wait_for(self.streams.get(), PATIENCE_S)

    @property
    def open_streams(self) -> int:
        return len(self._events)

    def emit(self, name: str, data: Json) -> None:
        for events in self._events:
            events.put_nowait(f"event: {name}\r\ndata: {json.dumps(data)}\r\n\r\n")

    def end_streams(self) -> None:
        for events in self._events:
            events.put_nowait(None)

    async def _health(self, request: Request) -> Response:
        about = {"status": "ok", "path": request.url.path}
        if self.secret and (nonce := request.query_params.get(wire.NONCE)):
            self.asked_for_proof += 1
            about["proof"] = proof(self.secret, nonce, request.scope["server"])
        return JSONResponse(about)

    async def _act(self, request: Request) -> Response:
        seen = Seen(request.scope["raw_path"].decode(), dict(request.headers), await request.json())
        self.calls.put_nowait(seen)
        return _in_form(await self.answer(seen), seen)

    async def _cancel(self, request: Request) -> Response:
        self.cancels.put_nowait(request.path_params["call_id"])
        return success({})

    async def _hold_stream(self, request: Request) -> Response:
        self.streams.put_nowait({**request.headers, **request.query_params})
        if self.events_status != 200:
            return failure("UNAUTHORIZED", "no", self.events_status)
        await self.opens_streams.wait()
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        events: asyncio.Queue[str | None] = asyncio.Queue()
        self._events.add(events)
        try:
            yield ": here\r\n\r\n"
            while (event := await events.get()) is not None:
                yield event
        finally:
            self._events.discard(events)


class InThisProcess(uvicorn.Server):
    """A server that reports when it listens."""

    @cached_property
    def listens(self) -> asyncio.Event:
        return asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing, because the test run handles signals itself."""
        yield


@contextlib.asynccontextmanager
async def listening(standin: StandIn, port: int = 0) -> AsyncIterator[StandIn]:
    config = uvicorn.Config(standin.app, port=port, ws="none", log_level="critical", timeout_graceful_shutdown=1)
    server = InThisProcess(config)
    serving = asyncio.create_task(server.serve())
    await asyncio.wait_for(server.listens.wait(), PATIENCE_S)
    standin.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield standin
    finally:
        standin.end_streams()
        server.should_exit = True
        await asyncio.wait_for(serving, PATIENCE_S)
