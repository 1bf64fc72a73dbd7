"""A WebSocket that the application may end at once, and let take longer messages once it knows who calls."""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

SOCKET = "browse_together.socket"
"""The key among a websocket's extensions for this."""


class LinkSocket(WebSocketsSansIOProtocol):
    """The server's websockets where hosts may dial in."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if (scope := vars(self).get("scope")) is not None:  # there is none if the handshake failed
            scope["extensions"][SOCKET] = self

    def allow(self, most: int) -> None:
        """Take messages of this many bytes from now on."""
        self.conn.max_message_size = most

    def abort(self) -> None:
        """End the connection without waiting for the other side, which may not read."""
        self.transport.abort()
