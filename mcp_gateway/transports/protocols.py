"""Bounds what uvicorn's protocols take from a client at any length: the wait for a head, and a websocket's messages."""

import asyncio
from typing import TYPE_CHECKING, Final, cast

from h11 import Request
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame

from mcp_gateway.transports.frames import Trimmer
from shared.json_lines.lines import END_BYTES

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent

_HEAD_WITHIN_S: Final = 10.0
_ENDS_BYTES: Final = 2 * END_BYTES
CUT: Final = "cut"
"""Is true of a websocket's message of which only the two ends are left."""


class PromptHttp(H11Protocol):
    """Closes a connection whose next request does not come, or has a head that does not end."""

    _waiting: asyncio.TimerHandle | None = None
    _is_websocket = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_websocket:
            return
        cycle: RequestResponseCycle | None = self.cycle  # which uvicorn declares without the None that it has at first
        if cycle is not None and not cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def handle_websocket_upgrade(self, event: Request) -> None:
        """Leave the connection to the websocket's protocol, which alone hears of its end."""
        self._is_websocket = True
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(_HEAD_WITHIN_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        self.transport.close()


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
        self._trimmer = Trimmer((config.ws_max_size or _ENDS_BYTES) - _ENDS_BYTES)
        self._message = bytearray()
        """One buffer, because a list of fragments can take a hundred times their bytes."""

    def data_received(self, data: bytes) -> None:
        super().data_received(self._trimmer.feed(data) if self.handshake_initiated else data)

    def handle_text(self, event: Frame) -> None:
        self.handle_cont(event)

    def handle_bytes(self, event: Frame) -> None:
        self.handle_cont(event)

    def handle_cont(self, event: Frame) -> None:
        self._message += event.data
        if event.fin:
            self._deliver(bytes(self._message), cut=self._trimmer.was_cut.popleft())
            self._message.clear()

    def _deliver(self, message: bytes, *, cut: bool) -> None:
        if self.close_sent:
            return
        received: dict[str, object] = {"type": "websocket.receive", "bytes": message, CUT: cut}
        self.queue.put_nowait(cast("ASGIReceiveEvent", received))
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()
