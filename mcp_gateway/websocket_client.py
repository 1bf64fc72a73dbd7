"""Connects a client of the MCP SDK to a gateway by websocket, and reconnects when the connection is lost.

    async with Client(websocket_client("ws://127.0.0.1:3001/ws", key="..."), mode="legacy") as client:
        await client.call_tool("goto", {"url": "https://example.com/"})

It is not in `browse_together.client`, because that reaches the service and knows nothing of MCP. It is the other end of
`mcp_gateway.transports.websocket`, and uses the SDK as that does.
"""

import contextlib
import json
import logging
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, jsonrpc_message_adapter
from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.frames import CloseCode
from websockets.protocol import State
from websockets.typing import Subprotocol

from browse_together.client.instance import is_local
from browse_together.contract.wire import MAX_MESSAGE_BYTES, MCP_SUBPROTOCOL
from mcp_gateway import jsonrpc
from mcp_gateway.jsonrpc import Message
from mcp_gateway.unanswered import Request, Unanswered

_ANSWER_WITHIN_S: Final = 10.0
_CLOSE_WITHIN_S: Final = 2.0
_MAX_BYTES: Final = 4 * MAX_MESSAGE_BYTES
"""Maximum size of a message from the gateway; one reply may contain several pictures."""
_UNREACHED: Final = (OSError, TimeoutError, InvalidHandshake, ConnectionClosed)

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reconnect:
    """How often, and at which interval, a lost connection is tried again."""

    max_attempts: int = 5
    delay_ms: int = 1_000


class NotConnected(ConnectionError):
    """The gateway cannot be reached, or does not let this client in; the text says why."""


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

    A lost connection is tried again `reconnect.max_attempts` times, the first time at once. It returns under the same
    `session`, 32 hexadecimal digits that are chosen here unless given, so that the client keeps its pages. Calls in
    progress are sent again under their ids; none is done twice. A key is sent unencrypted (`ws:`) only to this machine,
    unless `plain` says that nobody else can read the traffic.
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
    """The present websocket, and the state that the next one needs."""

    def __init__(self, url: str, connecting: connect, reconnect: Reconnect) -> None:
        self._url, self._connecting, self._reconnect = url, connecting, reconnect
        self._websocket: ClientConnection
        self._is_up = anyio.Event()
        self._unanswered = Unanswered("The connection was lost")

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
        """Pass on the gateway's messages until it can no longer be reached."""
        async with incoming:
            while True:
                with contextlib.suppress(ConnectionClosed):
                    async for text in self._websocket:
                        await self._pass_on(json.loads(text), incoming)
                self._is_up = anyio.Event()
                for message in (*self._too_large(), *self._unanswered.lose()):
                    await incoming.send(_parsed(message))
                if not await self._return():
                    return
                for message in self._missed():
                    await incoming.send(_parsed(message))

    async def send(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Send the client's messages; without a connection, wait."""
        async with outgoing:
            async for item in outgoing:
                await self._is_up.wait()
                given = self._unanswered.from_client(
                    item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                )
                if given is not None:
                    size = len(jsonrpc.encoded(given))
                    with contextlib.suppress(ConnectionClosed):
                        await self._write(*self._unanswered.note(given, size))

    async def _write(self, message: Message, request: Request | None) -> None:
        """Send a message. A request that is lost with the connection is sent again on the next one."""
        if request:
            request.is_sent = self._websocket.state is State.OPEN
        await self._websocket.send(jsonrpc.encoded(message).decode())

    async def _pass_on(self, message: Message, incoming: Incoming) -> None:
        """Pass a message on, unless it repeats an answer."""
        is_answer = "method" not in message and message.get("id") is not None
        if not is_answer or self._unanswered.answer(message["id"]):
            await incoming.send(_parsed(self._unanswered.to_client(message)))

    async def _return(self) -> bool:
        """Connect again, and send the gateway its missing messages. Returns whether that worked."""
        for attempt in range(self._reconnect.max_attempts):
            if attempt:
                await anyio.sleep(self._reconnect.delay_ms / 1_000)  # so not all cut-off clients return at once
            try:
                with anyio.fail_after(_ANSWER_WITHIN_S):
                    self._websocket = await self._connecting
                    for message, request in [*self._unanswered.resumed()]:
                        await self._write(message, request)
            except _UNREACHED as error:
                await self.close()
                log.info("%s is not back yet, after attempt %d: %s", self._url, attempt + 1, error)
            else:
                self._is_up.set()
                return True
        log.warning("%s cannot be reached again, after %d attempts", self._url, self._reconnect.max_attempts)
        return False

    def _too_large(self) -> Iterator[Message]:
        """If the gateway closed the connection because of a too large request, yield that request's error."""
        waiting = self._unanswered.waiting
        if self._websocket.close_code == CloseCode.MESSAGE_TOO_BIG and waiting:
            request_id = max(waiting, key=lambda each: waiting[each].size)
            self._unanswered.answer(request_id)
            reason = f"The gateway takes no message of this size: {self._websocket.close_reason}"
            yield {"jsonrpc": "2.0", "id": request_id, "error": {"code": INVALID_REQUEST, "message": reason}}

    def _missed(self) -> Iterator[Message]:
        """Yield notifications of what may have changed while the client was away, so that it reads that again."""
        if self._unanswered.handshake:
            yield {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
            for uri in self._unanswered.subscribed:
                yield {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def _parsed(message: Message) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
    except ValidationError as error:
        return error


def _reason(error: InvalidStatus) -> str:
    """Return the gateway's reason for refusing a handshake."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(json.loads(error.response.body or b"")["error"]["message"])
    return f"it answered {error.response.status_code}"
