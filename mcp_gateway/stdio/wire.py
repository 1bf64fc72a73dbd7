"""The other end of a launcher's connection: one chat, served by the shared process or the launcher's own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Final

from mcp.types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from browse_together.contract.wire import MAX_MESSAGE_BYTES
from mcp_gateway.connection import Connection
from mcp_gateway.relay import Relay
from mcp_gateway.results import encoded
from mcp_gateway.stdio import hello
from mcp_gateway.stdio.hello import Hello

MOST_LINE_BYTES: Final = 2 * MAX_MESSAGE_BYTES
"""Maximum length of a launcher's line: a message with a few additions, or the description of its start."""
_MOST_SAID: Final = 65_536


class Wire:
    """The messages of one chat."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._on_lost: Callable[[], None] = lambda: None

    async def hello(self) -> Hello:
        """Return the launcher's first line. Raises ValueError."""
        return hello.hello(await self._reader.readline())

    async def serve(self, connection: Connection, about: Hello) -> None:
        """Serve the chat until it ends. From now on, its launcher remembers the chat's toolsets."""
        chats = connection.chats
        chats.restore(about.state)
        self._on_lost = chats.lose
        connection.on_toolsets = lambda: self.tell(hello.STATE, chats.added_toolsets())
        for call_id in about.cancelled:
            chats.own.service.cancel(call_id)
        await Relay(self).serve(connection)

    async def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Yield the client's messages until the client or its launcher ends."""
        with contextlib.suppress(ConnectionError, ValueError):
            while (line := await self._reader.readline()).endswith(b"\n"):
                said = hello.words(line)
                if said == [hello.END]:
                    return
                if said:
                    self.tell(hello.PONG)
                    continue
                with contextlib.suppress(ValidationError):  # a malformed reply that nothing waits for
                    yield jsonrpc_message_adapter.validate_json(line, by_name=False)
        self._on_lost()  # the launcher was killed, or gave this process up: the chat may return

    async def send(self, message: JSONRPCMessage) -> None:
        self._write(encoded(message))
        await self.room()

    async def room(self) -> None:
        """Wait until the launcher has read most of what was sent."""
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    def tell(self, word: str, *about: object) -> None:
        """Send a message to the launcher itself."""
        self._write(hello.line(word, *about))

    def say(self, text: str) -> None:
        """Write a text to the launcher's stderr, unless its client reads nothing."""
        if self._writer.transport.get_write_buffer_size() <= _MOST_SAID:
            self.tell(hello.LOG, text[:_MOST_SAID])

    def _write(self, line: bytes) -> None:
        """Write a line after all earlier ones; nothing if the launcher is gone."""
        if not self._writer.is_closing():
            self._writer.write(line + b"\n")
