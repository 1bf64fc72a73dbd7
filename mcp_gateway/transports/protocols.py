"""Bounds what uvicorn's protocols take from a client at any length: the wait for a head, and a websocket's messages."""

import asyncio
from typing import TYPE_CHECKING, Final, cast

from h11 import Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame

from mcp_gateway.transports.access import HELD
from mcp_gateway.transports.frames import Trimmer
from shared.held import MESSAGES_AT_A_TIME
from shared.json_lines.lines import END_BYTES
from shared.patience import Patience
from shared.requests import ambiguity

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent

_ENDS_BYTES: Final = 2 * END_BYTES
_SLICE_BYTES: Final = 1_024
_MOST_FRAMES: Final = 120
"""Frames in a slice, which are all but empty beyond that."""
_MOST_FRAGMENTS: Final = 2_000
_NOT_ALLOWED: Final = 1008
_TRY_AGAIN_LATER: Final = 1013
CUT: Final = "cut"
"""Is true of a websocket's message of which only the two ends are left."""


class PromptHttp(H11Protocol):
    """Closes a connection whose next request does not come or end in time, or whose reply is not read."""

    _patience: Patience
    _is_websocket = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._patience = Patience(transport)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_websocket:
            return
        cycle: RequestResponseCycle | None = self.cycle  # which uvicorn declares without the None that it has at first
        if cycle is not None and not cycle.response_complete:
            self._patience.met()
        elif not self.transport.is_closing():
            self._patience.wait()

    def handle_websocket_upgrade(self, event: Request) -> None:
        """Leave the connection to the websocket's protocol, which alone hears of its end."""
        if problem := ambiguity(self.headers, event.target.decode("latin-1")):
            self.send_400_response(problem)  # the websocket's protocol would see one of two headers
            return
        self._is_websocket = True
        self._patience.end()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._patience.end()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._patience.rest()
        self._patience.look_at_reader()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._patience.look_at_reader()


def websocket_limit(most_bytes: int) -> int:
    """Return the limit of uvicorn's parser that lets messages of so many bytes through, and the ends of others."""
    return most_bytes + _ENDS_BYTES


class TrimmedWebSocket(WebSocketsSansIOProtocol):
    """Hands messages on as bytes, valid UTF-8 or not: the protocol of MCP has an error for those that are not.

    One over the limit comes as its two ends, so that it can be refused and the connection lives on."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._most_bytes = (config.ws_max_size or _ENDS_BYTES) - _ENDS_BYTES
        self._trimmer = Trimmer(self._most_bytes)
        self._message = bytearray()
        """One buffer, because a list of fragments can take a hundred times their bytes."""
        self._rest = bytearray()
        """The bytes that came and have not been looked at yet."""
        self._is_due = False
        self._client, self._counted = "", 0

    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            super().data_received(data)
            return
        self._rest += data
        if not self._is_due:
            self._take_slice()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._rest.clear()
        self._count(0)

    def handle_text(self, event: Frame) -> None:
        self.handle_cont(event)

    def handle_bytes(self, event: Frame) -> None:
        self.handle_cont(event)

    def handle_cont(self, event: Frame) -> None:
        self._message += event.data
        if event.fin:
            cut = self._trimmer.was_cut.popleft()
            if not self.close_sent:
                received: dict[str, object] = {"type": "websocket.receive", "bytes": bytes(self._message), CUT: cut}
                self.queue.put_nowait(cast("ASGIReceiveEvent", received))  # uvicorn's own event
            self._message.clear()

    async def receive(self) -> "ASGIReceiveEvent":
        message = await self.queue.get()
        self._go_on()
        return message

    def _take_slice(self) -> None:
        """Look at a few frames, and let others have their turn before the next: ten thousand fit in 64 KB."""
        self._is_due = False
        if self.disconnected or self.transport.is_closing():
            return
        size = max(_SLICE_BYTES, self._trimmer.left)  # of what is left of one frame, all
        data, frames = bytes(self._rest[:size]), self._trimmer.frames
        del self._rest[:size]
        super().data_received(self._trimmer.feed(data))
        self._count(self._trimmer.held)
        if HELD.of(self._client) > MESSAGES_AT_A_TIME * self._most_bytes:
            self._fail(_TRY_AGAIN_LATER, "this client is sending too much at a time")
        elif self._trimmer.frames - frames > _MOST_FRAMES or self._trimmer.fragments > _MOST_FRAGMENTS:
            self._fail(_NOT_ALLOWED, "the frames are too small")
        self._go_on()

    def _fail(self, code: int, reason: str) -> None:
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def _go_on(self) -> None:
        """Look at the rest once the messages before it are taken, and read on once there is no rest."""
        if self.disconnected or self.transport.is_closing():
            return
        is_busy = not self.queue.empty()
        if self._rest and not is_busy and not self._is_due:
            self._is_due = True
            self.loop.call_soon(self._take_slice)
        if (is_busy or self._rest) and not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()
        elif not is_busy and not self._rest and self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()

    def _count(self, held: int) -> None:
        """Count what this connection holds of a message that is not whole among what its client holds."""
        scope: dict[str, object] = vars(self).get("scope", {})  # there is none before the handshake
        if isinstance(user := scope.get("user"), AuthenticatedUser):
            self._client = user.username
            HELD.count(self._client, held - self._counted)
            self._counted = held
