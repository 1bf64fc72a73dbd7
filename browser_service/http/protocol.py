"""Bounds the head of a request, which uvicorn's parser takes at any length, and from callers without a token too."""

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD_BYTES: Final = 1_000_000


class BoundedHttp(HttpToolsProtocol):
    """Refuses a request whose URL and headers together do not end within the limit, and closes its connection."""

    _in_head = False
    _received = 0

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._received += len(data)
            if self._received > _HEAD_BYTES:
                self.send_400_response("The request's headers are too long.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._received = True, 0

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()
