"""Serves streamable HTTP: a connection for each MCP session, and one for each client without sessions."""

import asyncio
import contextlib
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final
from uuid import uuid4

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.context import ServerRequestContext as Context
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from mcp_gateway.connection import Connection, server_of
from mcp_gateway.transports.access import Refused
from mcp_gateway.transports.messages import METHOD

_EVENT: Final = b"event: message\r\ndata: "
_END: Final = b"\r\n\r\n"
_RESPONSE: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(?:-?\d+|"(?:[^"\\]|\\.)*"),"(result|error)":')
_OF_STREAMS: Final = ("connection", "x-accel-buffering")


class OneBody:
    """The `send` of one request. It holds back the start of a stream until the first event, or until the response for a
    client that takes JSON alone: what else the stream has is not for it."""

    def __init__(self, send: Send, *, json_alone: bool = False) -> None:
        self._send, self._json_alone = send, json_alone
        self._start: Message | None = None
        self._is_over = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_stream(message):
            self._start = message
        elif self._start is not None:
            response = _response(message.get("body", b""), or_error=self._json_alone)
            if response is None and self._json_alone and message.get("more_body"):
                return
            start, self._start = self._start, None
            if response is None:
                await self._send(start)
                await self._send(message)
            else:
                self._is_over = True
                await self._send(_start_of_body(start, len(response)))
                await self._send({"type": "http.response.body", "body": response})
        elif not self._is_over:
            await self._send(message)


def _is_stream(start: Message) -> bool:
    return MutableHeaders(raw=start["headers"]).get("content-type", "").startswith("text/event-stream")


def _response(event: bytes, *, or_error: bool) -> bytes | None:
    """Return the response in an event that contains a result, or maybe an error; None for any other event."""
    text = event[len(_EVENT) : -len(_END)]
    is_one_event = event.startswith(_EVENT) and event.endswith(_END) and b"\n" not in text
    found = _RESPONSE.match(text) if is_one_event else None
    return text if found and (or_error or found[1] == b"result") else None


def _start_of_body(start: Message, size: int) -> Message:
    headers = MutableHeaders(raw=[*start["headers"]])
    for name in _OF_STREAMS:
        del headers[name]
    headers["content-type"], headers["content-length"] = "application/json", str(size)
    return {**start, "headers": headers.raw}


_JSON: Final = "application/json"
_STREAM: Final = "text/event-stream"
_BOTH: Final = f"{_JSON}, {_STREAM}"


def _taking_both(scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Return a request as one whose client takes JSON and streams, as the protocol demands, and the `send` that gives
    it what it takes. A client that names neither type is left to be refused."""
    accepted = Headers(scope=scope).get("accept", "") or "*/*"
    kinds = {each.partition(";")[0].strip().lower() for each in accepted.split(",")}
    takes_any = "*/*" in kinds
    takes_json, takes_streams = (
        takes_any or not kinds.isdisjoint(of) for of in ({_JSON, "application/*"}, {_STREAM, "text/*"})
    )
    if not (takes_json or takes_streams):
        return scope, send
    both = _with_header(scope, "accept", _BOTH)
    return both, OneBody(send, json_alone=not takes_streams) if takes_json else send


def _with_header(scope: Scope, name: str, value: str | None) -> Scope:
    """Return a request with another value of a header, or without it."""
    headers = MutableHeaders(raw=[*scope["headers"]])
    del headers[name]
    if value is not None:
        headers[name] = value
    return {**scope, "headers": headers.raw}


_MAX_SESSIONS: Final = 1_000
"""The most sessions. If there are too many, the longest silent session ends of the client with most silent ones."""
_ABSENT_AFTER_S: Final = 60.0
"""A client without open requests for this long counts as gone: its leases lapse, but its session stays."""
_FORGOTTEN_AFTER_S: Final = 86_400.0
"""A session that is silent for this long ends."""
_BAD_REQUEST: Final = 400
_VISITOR: Final = "mcp.visitor"
"""The key of the visitor in a request's scope."""

_NO_SESSION: Final = (
    f"Bad Request: no {MCP_SESSION_ID_HEADER}. Begin with `initialize`, whose response has one, or name a revision "
    f"without sessions as {MCP_PROTOCOL_VERSION_HEADER}."
)

Connect = Callable[[str], Connection]


class Visitor:
    """A client that sends single requests. It is present while one is open, and for a while after."""

    def __init__(self, connection: Connection, user: AuthenticatedUser) -> None:
        self.connection, self.user = connection, user
        self.silent_since = 0.0
        """0 while a request is open."""
        self._open_requests = 0
        self._leaving: asyncio.TimerHandle | None = None

    @contextlib.contextmanager
    def visit(self) -> Iterator[None]:
        """Be present during the block."""
        self._open_requests += 1
        self.silent_since = 0.0
        self._stay()
        self.connection.chats.own.appear()
        try:
            yield
        finally:
            self._open_requests -= 1
            if not self._open_requests:
                self.silent_since = time.monotonic()
                self._leaving = asyncio.get_running_loop().call_later(_ABSENT_AFTER_S, self.connection.chats.leave)

    def leave(self) -> None:
        """Be gone for good."""
        self._stay()
        self.connection.chats.leave(for_good=True)

    def _stay(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None


class StreamableHttp:
    """An ASGI application behind a door that passes each request to the connection of its session or client."""

    def __init__(self, connect: Connect, instructions: str, most_bytes: int) -> None:
        self._connect = connect
        self._sessions: dict[str, Visitor] = {}
        self._clients: dict[str, Visitor] = {}
        self._is_ending = asyncio.Event()
        self._manager = StreamableHTTPSessionManager(
            server_of(_connection, instructions),
            session_idle_timeout=_FORGOTTEN_AFTER_S,
            max_request_body_size=most_bytes,
            max_sessions=_MAX_SESSIONS,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within the block. All sessions end with it."""
        async with self._manager.run():
            try:
                yield
            finally:
                for visitor in (*self._sessions.values(), *self._clients.values()):
                    visitor.leave()

    def end_streams(self) -> None:
        """End the notification streams, which would never end by themselves."""
        self._is_ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            scope, send = _taking_both(scope, send)
        else:
            receive = self._until_end(receive)
        headers, user = Headers(scope=scope), scope["user"]
        version, session_id = headers.get(MCP_PROTOCOL_VERSION_HEADER), headers.get(MCP_SESSION_ID_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            if user.username not in self._clients:
                self._clients[user.username] = Visitor(self._connect(f"mcp:{user.username}"), user)
            await self._visit(self._clients[user.username], scope, receive, send)
        elif session_id and (visitor := self._sessions.get(session_id)) and visitor.user.username == user.username:
            self._sessions[session_id] = self._sessions.pop(session_id)  # keeps the dict in the order of last calls
            await self._visit(visitor, scope, receive, send)
            if scope["method"] == "DELETE":
                self._forget(session_id)
        elif scope.get(METHOD) == "initialize":
            await self._make_room()
            anew = _with_header(scope, MCP_SESSION_ID_HEADER, None)  # that of a session which has ended
            await self._open(Visitor(self._connect(f"mcp:{uuid4().hex}"), user), anew, receive, send)
        elif session_id:
            raise Refused(404, "Session not found: it has ended, or is another client's. Send `initialize` again.")
        else:
            raise Refused(400, _NO_SESSION)

    async def _open(self, visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a session, unless the request is refused."""
        session_ids = list[str]()

        async def watch(message: Message) -> None:
            headers = MutableHeaders(raw=message.get("headers", []))
            if message["type"] == "http.response.start" and message["status"] < _BAD_REQUEST:
                session_ids.append(headers[MCP_SESSION_ID_HEADER])
                self._sessions[session_ids[0]] = visitor
            elif message["type"] == "http.response.start":
                del headers[MCP_SESSION_ID_HEADER]
            await send(message)

        await self._visit(visitor, scope, receive, watch)
        if not session_ids:
            visitor.leave()

    async def _visit(self, visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        scope[_VISITOR] = visitor
        with visitor.visit():
            await self._manager.handle_request(scope, receive, send)

    async def _make_room(self) -> None:
        """End sessions that were silent for long; if there are still too many, end one of the client with most silent
        sessions. Raises Refused if none is silent."""
        long_ago = time.monotonic() - _FORGOTTEN_AFTER_S
        for session_id in [each for each, visitor in self._sessions.items() if 0 < visitor.silent_since < long_ago]:
            await self._end(session_id)
        if len(self._sessions) < _MAX_SESSIONS:
            return
        silent = {each: visitor.user.username for each, visitor in self._sessions.items() if visitor.silent_since}
        if not silent:
            raise Refused(503, f"{_MAX_SESSIONS} sessions are open and all in use; try again later.")
        greediest, _ = Counter(silent.values()).most_common(1)[0]
        await self._end(next(session_id for session_id, owner in silent.items() if owner == greediest))

    async def _end(self, session_id: str) -> None:
        """End a session as its client would."""
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": "/",
            "query_string": b"",
            "headers": [(MCP_SESSION_ID_HEADER.encode(), session_id.encode())],
            "user": self._sessions[session_id].user,
        }
        await self._manager.handle_request(scope, _no_body, lambda _: asyncio.sleep(0))
        self._forget(session_id)

    def _forget(self, session_id: str) -> None:
        if visitor := self._sessions.pop(session_id, None):
            visitor.leave()

    def _until_end(self, receive: Receive) -> Receive:
        """Return the receive function of a notification stream. It also reports the end when the server should end."""

        async def received() -> Message:
            message, ending = asyncio.ensure_future(receive()), asyncio.ensure_future(self._is_ending.wait())
            try:
                await asyncio.wait((message, ending), return_when=asyncio.FIRST_COMPLETED)
                return message.result() if message.done() else {"type": "http.disconnect"}
            finally:
                message.cancel()
                ending.cancel()

        return received


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _connection(ctx: Context) -> Connection:
    """Return the connection of a request, from its scope."""
    visitor: Visitor = ctx.request.scope[_VISITOR]  # type: ignore[union-attr] # each comes by a request
    return visitor.connection
