"""Streamable HTTP carries a connection for each MCP session, and one for each client that keeps no session."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from mcp_gateway.connection import Connection
from mcp_gateway.transports.access import Refused
from mcp_gateway.transports.brevity import OneBody
from mcp_gateway.transports.messages import METHOD
from mcp_gateway.transports.turnstile import Turnstile

_MAX_SESSIONS: Final = 1_000
"""Bounds the sessions: of the client that has most of them, the one that was silent longest makes room for another."""
_ABSENT_AFTER_S: Final = 60.0
"""A client with no open request for so long counts as gone: its leases lapse, and its session stays."""
_FORGOTTEN_AFTER_S: Final = 86_400.0
"""A session that was silent for so long ends."""
_BAD_REQUEST: Final = 400

_NO_SESSION: Final = (
    f"Bad Request: no {MCP_SESSION_ID_HEADER}. Begin with `initialize`, whose response has one, or name a revision "
    f"without sessions as {MCP_PROTOCOL_VERSION_HEADER}."
)

Connect = Callable[[str], Connection]
"""Makes a connection whose client has a name in the service."""


class Visitor:
    """A client that comes by single requests is present while one is open, and a while after."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._open_requests = 0
        self._leaving: asyncio.TimerHandle | None = None

    @property
    def is_silent(self) -> bool:
        return self._open_requests == 0

    @contextlib.contextmanager
    def visit(self) -> Iterator[None]:
        """Be present while the block lasts."""
        self._open_requests += 1
        self.stay()
        self.connection.chats.own.appear()
        try:
            yield
        finally:
            self._open_requests -= 1
            if self.is_silent:
                self._leaving = asyncio.get_running_loop().call_later(_ABSENT_AFTER_S, self.connection.chats.leave)

    def stay(self) -> None:
        """Take back that the client will count as gone."""
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None


class Session(Visitor):
    """An MCP session: a client opens it by `initialize`, and may end it by DELETE."""

    def __init__(self, connection: Connection, owner: str) -> None:
        super().__init__(connection)
        self.owner = owner
        self.id = uuid4().hex
        self.transport = StreamableHTTPServerTransport(self.id, idle_timeout=_FORGOTTEN_AFTER_S)

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Answer until the session has ended, or was silent for too long. Its client is gone then."""
        try:
            async with self.transport.connect() as (requests, replies):
                task_status.started()
                with self.transport.idle_scope or anyio.CancelScope():
                    await self.connection.answer(requests, replies)
        finally:
            self.stay()
            self.connection.chats.leave()


class StreamableHttp:
    """An ASGI application behind a door, which leads each request to the connection of its session or client."""

    def __init__(self, connect: Connect, turnstile: Turnstile) -> None:
        self._connect = connect
        self._turnstile = turnstile
        self._sessions: dict[str, Session] = {}
        self._clients: dict[str, tuple[Visitor, StreamableHTTPSessionManager]] = {}
        self._opening = asyncio.Lock()
        self._tasks: TaskGroup

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within the block. All sessions end with it."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    def end_streams(self) -> None:
        """End the streams that carry notifications alone, and would never end by themselves."""
        for session in self._sessions.values():
            session.transport.close_standalone_sse_stream()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = OneBody(send) if scope["method"] == "POST" else send
        headers = Headers(scope=scope)
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        client: str = scope["user"].username
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            visitor, manager = await self._stateless(client)
            with visitor.visit():
                await manager.handle_request(scope, receive, send)
        elif session_id := headers.get(MCP_SESSION_ID_HEADER):
            await self._continue(session_id, client, scope, receive, send)
        else:
            await self._open(client, scope, receive, send)

    async def _continue(self, session_id: str, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        session = self._sessions.get(session_id)
        if session is None or session.owner != client:
            raise Refused(404, "Session not found: it has ended, or is another client's. Send `initialize` again.")
        self._sessions[session_id] = self._sessions.pop(session_id)  # the last is who called last
        with session.visit():
            await session.transport.handle_request(scope, receive, send)
        if session.transport.is_terminated:
            self._sessions.pop(session_id, None)

    async def _open(self, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Open a session for the request that asks for one. It is dropped if the request is refused."""
        if scope.get(METHOD) != "initialize":
            raise Refused(400, _NO_SESSION)
        async with self._turnstile.passed(client):
            await self._handshake(client, scope, receive, send)

    async def _handshake(self, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        await self._make_room()
        session = Session(self._connect(f"mcp:{uuid4().hex}"), client)
        self._sessions[session.id] = session
        statuses: list[int] = []

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                if message["status"] >= _BAD_REQUEST:
                    del MutableHeaders(raw=message["headers"])[MCP_SESSION_ID_HEADER]
            await send(message)

        try:
            await self._tasks.start(self._serve, session)
            with session.visit():
                await session.transport.handle_request(scope, receive, watch)
        finally:
            if not statuses or statuses[0] >= _BAD_REQUEST:
                await self._end(session)

    async def _serve(self, session: Session, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        try:
            await session.serve(task_status=task_status)
        finally:
            await self._end(session)

    async def _end(self, session: Session) -> None:
        self._sessions.pop(session.id, None)
        if not session.transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await session.transport.terminate()

    async def _make_room(self) -> None:
        """End a silent session of the client that has most, if there are too many. Raises Refused if none is silent."""
        if len(self._sessions) < _MAX_SESSIONS:
            return
        silent = [session for session in self._sessions.values() if session.is_silent]
        if not silent:
            raise Refused(503, f"{_MAX_SESSIONS} sessions are open and all in use; try again later.")
        greediest, _ = Counter(session.owner for session in silent).most_common(1)[0]
        await self._end(next(session for session in silent if session.owner == greediest))

    async def _stateless(self, client: str) -> tuple[Visitor, StreamableHTTPSessionManager]:
        """Return what serves a client whose every request stands for itself."""
        async with self._opening:  # or the first requests of a client, if they come together, would make one each
            if client not in self._clients:
                connection = self._connect(f"mcp:{client}")
                manager = StreamableHTTPSessionManager(connection.server(), stateless=True)
                await self._tasks.start(self._run, manager)
                self._clients[client] = Visitor(connection), manager
            return self._clients[client]

    async def _run(
        self, manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        async with manager.run():
            task_status.started()
            await anyio.sleep_forever()
