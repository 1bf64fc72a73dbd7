"""Connects a client of the MCP SDK to a gateway by a websocket, and again when that is cut.

    async with Client(websocket_client("ws://127.0.0.1:3001/ws", key="..."), mode="legacy") as client:
        await client.call_tool("goto", {"url": "https://example.com/"})

It is here and not in `client/`, which reaches the service and knows nothing of MCP: this is the other end of
`mcp_gateway.transports.websocket`, and as that it speaks by the SDK."""

import contextlib
import json
import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import JsonValue, ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from client.instance import is_local
from shared.next_calls import next_call
from shared.wire import CALL_ID_META, MAX_MESSAGE_BYTES, MCP_SUBPROTOCOL

_OWN_ID: Final = "returned-"
"""Begins the ids of the requests that are made here, whose responses nobody else waits for."""
_ANSWER_WITHIN_S: Final = 10.0
_CLOSE_WITHIN_S: Final = 2.0
_MAX_BYTES: Final = 4 * MAX_MESSAGE_BYTES
"""Bounds a message from the gateway; one reply may have several pictures."""
_UNREACHED: Final = (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reconnect:
    """Says how often a connection that was cut is tried again, and how far apart."""

    max_attempts: int = 5
    delay_ms: int = 1_000


class NotConnected(ConnectionError):
    """Raised if the gateway cannot be reached, or does not let this client in; its text says why."""


@contextlib.asynccontextmanager
async def websocket_client(
    url: str,
    *,
    key: str | None = None,
    session: str | None = None,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    plain: bool = False,
    reconnect: Reconnect = Reconnect(),
    heartbeat_interval_ms: int = 30_000,
    heartbeat_timeout_ms: int = 5_000,
) -> AsyncIterator[Streams]:
    """Yield the streams that `mcp.Client` takes. Raises NotConnected.

    A connection that is cut is tried again `reconnect.max_attempts` times, the first time at once. It comes back under
    the same `session`, 32 hexadecimal digits that are chosen here unless given: the pages are still this client's.
    Calls that were under way get an error that says how to ask what became of them. A key goes unencrypted (`ws:`) to
    this machine alone, unless `plain` says that nobody else can read what passes.
    """
    if key and url.startswith("ws:") and not is_local(url) and not plain:
        raise NotConnected(f"{url} would send the key unencrypted to another machine; write wss://, or give plain=True")
    session = session or uuid4().hex
    proof = {"Authorization": f"Bearer {key}"} if key else {}
    connecting = connect(
        url,
        additional_headers={**proof, **(headers or {}), MCP_SESSION_ID_HEADER: session},
        subprotocols=[Subprotocol(MCP_SUBPROTOCOL)],
        compression=None,
        max_size=_MAX_BYTES,
        open_timeout=_ANSWER_WITHIN_S,
        ping_interval=heartbeat_interval_ms / 1_000 or None,
        ping_timeout=heartbeat_timeout_ms / 1_000,
        proxy=None if is_local(url) else True,
        ssl=(tls or True) if url.startswith("wss:") else None,
        close_timeout=_CLOSE_WITHIN_S,
    )
    line = _Line(url, connecting, reconnect)
    await line.connect()
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception]()
    write, outgoing = anyio.create_memory_object_stream[SessionMessage]()
    try:
        async with read, write, anyio.create_task_group() as tasks:
            tasks.start_soon(line.receive, incoming)
            tasks.start_soon(line.send, outgoing)
            yield read, write
            tasks.cancel_scope.cancel()
    finally:
        await line.close()


class _Line:
    """Holds the websocket of the moment, and what the next one has to be told."""

    def __init__(self, url: str, connecting: connect, reconnect: Reconnect) -> None:
        self._url = url
        self._connecting = connecting
        self._reconnect = reconnect
        self._websocket: ClientConnection
        self._is_up = anyio.Event()
        self._unanswered: dict[RequestId, JSONRPCRequest] = {}
        self._initialize: JSONRPCRequest | None = None
        self._initialized: JSONRPCNotification | None = None
        self._subscribed = dict[str, None]()
        """The resources whose changes the client is to be told of."""

    async def connect(self) -> None:
        try:
            self._websocket = await self._connecting
        except InvalidStatus as error:
            raise NotConnected(f"{self._url} does not let this client in: {_reason(error)}") from None
        except _UNREACHED as error:
            raise NotConnected(f"{self._url} cannot be reached: {str(error) or type(error).__name__}") from None
        self._is_up.set()

    async def close(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._websocket.close()

    async def receive(self, incoming: Incoming) -> None:
        """Pass on what the gateway sends, until it cannot be reached any more."""
        async with incoming:
            while True:
                with contextlib.suppress(ConnectionClosed):
                    async for text in self._websocket:
                        await self._pass_on(text, incoming)
                self._is_up = anyio.Event()
                await self._answer_for_gateway(incoming)
                if not await self._return(incoming):
                    return

    async def send(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send what the client writes; while there is no connection, it waits."""
        async with outgoing:
            async for item in outgoing:
                await self._is_up.wait()
                await self._write(self._noted(item.message))

    async def _write(self, message: JSONRPCMessage) -> None:
        """Send a message. One that is lost with the connection is answered for there, if it is a request."""
        with contextlib.suppress(ConnectionClosed):
            await self._websocket.send(_text(message))

    def _noted(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Return the message as it is sent, and remember what the next connection has to be told."""
        if isinstance(message, JSONRPCNotification):
            if message.method == "notifications/initialized":
                self._initialized = message
            elif message.method == "notifications/cancelled":
                self._unanswered.pop((message.params or {}).get("requestId", ""), None)
        elif isinstance(message, JSONRPCRequest):
            uri = str((message.params or {}).get("uri"))
            if message.method == "initialize":
                self._initialize = message
            elif message.method == "tools/call":
                message = _with_call_id(message)
            elif message.method == "resources/subscribe":
                self._subscribed[uri] = None
            elif message.method == "resources/unsubscribe":
                self._subscribed.pop(uri, None)
            self._unanswered[message.id] = message
        return message

    async def _pass_on(self, text: str | bytes, incoming: Incoming) -> None:
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValidationError as error:
            await incoming.send(error)
            return
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            if str(message.id).startswith(_OWN_ID):
                return
            self._unanswered.pop(message.id or "", None)
        await incoming.send(SessionMessage(message))

    async def _answer_for_gateway(self, incoming: Incoming) -> None:
        """Answer the requests that were under way. A handshake is sent again instead."""
        for request in [*self._unanswered.values()]:
            if request is not self._initialize:
                del self._unanswered[request.id]
                await incoming.send(SessionMessage(_lost(request)))

    async def _return(self, incoming: Incoming) -> bool:
        """Connect again, and tell the gateway what it has to know. Returns whether that was possible."""
        for attempt in range(self._reconnect.max_attempts):
            if attempt:
                await anyio.sleep(self._reconnect.delay_ms / 1_000)  # who was cut off together is not back together
            try:
                with anyio.fail_after(_ANSWER_WITHIN_S):
                    self._websocket = await self._connecting
                    await self._introduce()
            except _UNREACHED as error:
                await self.close()
                log.info("%s is not back yet, after attempt %d: %s", self._url, attempt + 1, error)
            else:
                self._is_up.set()
                await self._tell_of_missed(incoming)
                return True
        log.warning("%s cannot be reached again, after %d attempts", self._url, self._reconnect.max_attempts)
        return False

    async def _introduce(self) -> None:
        """Shake hands again, and subscribe again."""
        if self._initialize is None:
            return
        if self._initialize.id in self._unanswered:  # the client still waits for the first answer
            await self._websocket.send(_text(self._initialize))
            return
        handshake = self._initialize.model_copy(update={"id": f"{_OWN_ID}{uuid4().hex}"})
        await self._websocket.send(_text(handshake))
        while json.loads(await self._websocket.recv()).get("id") != handshake.id:
            continue  # a notification of something that is told below
        if self._initialized:
            await self._websocket.send(_text(self._initialized))
        for uri in self._subscribed:
            params: dict[str, JsonValue] = {"uri": uri}
            request_id = f"{_OWN_ID}{uuid4().hex}"
            await self._websocket.send(
                _text(JSONRPCRequest(jsonrpc="2.0", id=request_id, method="resources/subscribe", params=params))
            )

    async def _tell_of_missed(self, incoming: Incoming) -> None:
        """Tell the client of what may have changed while it was away: it reads that again."""
        if self._initialized is None:
            return
        told: list[tuple[str, dict[str, JsonValue] | None]] = [("notifications/tools/list_changed", None)]
        told += [("notifications/resources/updated", {"uri": uri}) for uri in self._subscribed]
        for method, params in told:
            message = JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
            await incoming.send(SessionMessage(message))


def _with_call_id(request: JSONRPCRequest) -> JSONRPCRequest:
    """Give a call an id by which it can be asked for on another connection."""
    params = dict(request.params or {})
    params["_meta"] = {CALL_ID_META: uuid4().hex, **(params.get("_meta") or {})}
    return request.model_copy(update={"params": params})


def _lost(request: JSONRPCRequest) -> JSONRPCError:
    """Make the error of a request whose answer was lost with the connection."""
    params = request.params or {}
    what, data = request.method, dict[str, JsonValue]()
    advice = "Send it again."
    if request.method == "tools/call":
        what, call_id = str(params.get("name")), str(params["_meta"][CALL_ID_META])
        data = {"tool": what, "callId": call_id}
        advice = f"It may have happened, or still go on. Ask: {next_call('get_call', call_id=call_id)}."
    error = ErrorData(code=CONNECTION_CLOSED, message=f"The connection was lost during {what}. {advice}", data=data)
    return JSONRPCError(jsonrpc="2.0", id=request.id, error=error)


def _reason(error: InvalidStatus) -> str:
    """Return what the gateway says of a handshake that it refuses."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(json.loads(error.response.body or b"")["error"]["message"])
    return f"it answered {error.response.status_code}"


def _text(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)
