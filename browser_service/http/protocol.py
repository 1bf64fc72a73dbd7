"""Limits what uvicorn's parser leaves unlimited, even for callers without a token: long headers, slow senders and
readers."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from browse_together.contract.patience import MAX_HEAD_BYTES, Patience
from browse_together.contract.requests import TARGET, ambiguity


class BoundedHttp(HttpToolsProtocol):
    """An HTTP connection that closes if its request is not complete in time, its headers do not end, or nobody reads
    its reply."""

    _in_head = False
    _is_websocket = False
    _is_whole = True
    _received = 0
    _patience: Patience

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._patience = Patience(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._patience.end()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_websocket:
            return
        if self._in_head:
            self._received += len(data)
            if self._received > MAX_HEAD_BYTES:
                self.send_400_response("The request's headers are too long.")
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn's type lacks the None that it starts with
        if cycle is not None and not cycle.response_complete:
            self._patience.met()
        elif not self.transport.is_closing():
            self._patience.wait()

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to the websocket protocol, which alone learns of its end."""
        if problem := ambiguity(self.headers, self.url.decode("latin-1")):
            self.send_400_response(problem)  # the websocket protocol would see only one of two headers
            return
        self._is_websocket = True
        self._patience.end()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._is_whole, self._received = True, False, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        if not self.url.startswith(b"/"):  # uvicorn would keep only its path
            vars(self)["scope"][TARGET] = self.url.decode("latin-1")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_whole = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        cycle: RequestResponseCycle = self.cycle  # already the next one, if a request came while this was answered
        if cycle.response_complete and not self.transport.is_closing():
            self._patience.rest() if self._is_whole else self._patience.wait()
        self._patience.look_at_reader()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._patience.look_at_reader()
