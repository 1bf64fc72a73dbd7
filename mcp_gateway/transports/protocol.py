"""Limits two waits that uvicorn's protocol leaves to the client: for a request's head, and for a reply to be read."""

import asyncio

from h11 import Request
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from shared.patience import Patience
from shared.requests import ambiguity


class PromptHttp(H11Protocol):
    """HTTP whose connections close if the next request does not arrive completely in time, or if the reply is not
    read."""

    _patience: Patience
    _is_websocket = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._patience = Patience(transport)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_websocket:
            return
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn's declaration omits the initial None
        if cycle is not None and not cycle.response_complete:
            self._patience.met()
        elif not self.transport.is_closing():
            self._patience.wait()

    def handle_websocket_upgrade(self, event: Request) -> None:
        """Leave the connection to the websocket protocol: only that learns of its end."""
        if problem := ambiguity(self.headers, event.target.decode("latin-1")):
            self.send_400_response(problem)  # the websocket protocol would see only one of two headers
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
