"""One chat in the shared process: whose environment holds for it, and how its messages come and go."""

import asyncio
import contextlib
import io
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final, NamedTuple

from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from client.caller import Caller, on_behalf_of
from mcp_gateway.arguments import take
from mcp_gateway.connection import Connection
from mcp_gateway.errors import encoded
from mcp_gateway.sharing import frames
from mcp_gateway.sharing.hello import Hello, variables
from mcp_gateway.startup import Prepared, prepare
from shared.wire import ATTEMPT_META, CALL_ID_META

_MOST_SAID: Final = 65_536


class Refused(Exception):
    """Raised for a chat that a process of its own has to serve: it says why to its host."""


class Wire:
    """Sends frames to a launcher, and reads those that it sends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.is_ended = False
        """True once the client has closed its end by itself."""

    async def receive(self) -> tuple[int, bytes, bytes]:
        """Return kind, head and body of the next frame. Raises WrongFrame, and IncompleteReadError at the end."""
        kind, head, body = frames.sizes(await self._reader.readexactly(frames.SIZES.size))
        return kind, await self._reader.readexactly(head), await self._reader.readexactly(body)

    def send(self, kind: int, head: bytes = b"", body: bytes = b"") -> None:
        """Send a frame, once those before it are sent. One to a launcher that has gone is dropped, and so is what goes
        to the stderr of a client that reads nothing."""
        is_behind = kind == frames.LOG and self._writer.transport.get_write_buffer_size() > _MOST_SAID
        if not self._writer.is_closing() and not is_behind:
            self._writer.write(frames.frame(kind, head, body))

    async def room(self) -> None:
        """Wait until the launcher has read most of what was sent."""
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    def say(self, text: str) -> None:
        self.send(frames.LOG, body=text[:_MOST_SAID].encode(errors="backslashreplace"))

    async def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Yield the client's messages until it, or its launcher, ends."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, frames.WrongFrame):
            while True:
                kind, head, body = await self.receive()
                if kind == frames.END:
                    self.is_ended = True
                    return
                if kind == frames.PING:
                    self.send(frames.PONG)
                elif kind == frames.LINE:
                    with contextlib.suppress(ValidationError):  # a malformed reply, as on any other wire
                        yield _numbered(jsonrpc_message_adapter.validate_json(body, by_name=False), head)

    async def send_message(self, message: JSONRPCMessage) -> None:
        """Send a message to the client, and which request it answers or makes."""
        head = b""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            head = json.dumps({"answers": message.id}).encode()
        elif isinstance(message, JSONRPCRequest):
            head = json.dumps({"asks": message.id}).encode()
        self.send(frames.LINE, head, encoded(message))
        await self.room()


class Seat:
    """Has a chat's settings and where its stderr is; is the host of its connection."""

    def __init__(self, wire: Wire, hello: Hello, environment: dict[str, str]) -> None:
        self._wire = wire
        self._said: list[str] | None = []
        """What is to be said once the chat is served, because a process of its own would say it again."""
        self.hello = hello
        self.caller = Caller(environment, Path(hello.folder), self._say)
        self.prepared: Prepared
        self.on_lost: Callable[[], None] = lambda: None

    def prepare(self) -> None:
        """Read the settings. Raises Refused."""
        said = io.StringIO()
        try:
            with on_behalf_of(self.caller), contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                environment = {**self.caller.environment}
                flags = take(self.hello.arguments, environment) if self.hello.arguments else {}
                self.caller = self.caller._replace(environment=environment)
                with on_behalf_of(self.caller):
                    self.prepared = prepare(flags)
        except SystemExit:  # its own process says why
            raise Refused from None
        if self.prepared.transports.transport != ("stdio",) or not self.prepared.settings.shared:
            raise Refused

    def welcome(self) -> None:
        """Tell the launcher that its chat is served, and what there is to say."""
        said, self._said = self._said or [], None
        self._wire.send(frames.WELCOME)
        for text in said:
            self._wire.say(text)

    async def messages(self) -> AsyncIterator[JSONRPCMessage]:
        async for message in self._wire.messages():
            yield message
        if not self._wire.is_ended:  # its launcher was killed, or has given this process up: the chat may return
            self.on_lost()

    async def send(self, message: JSONRPCMessage) -> None:
        await self._wire.send_message(message)

    def keep(self, connection: Connection) -> None:
        """Have the launcher remember the chat's toolsets from now on."""
        connection.chats.restore(self.hello.state)

        def tell() -> None:
            self._wire.send(frames.STATE, body=json.dumps(connection.chats.added_toolsets()).encode())

        connection.on_toolsets = tell
        self.on_lost = connection.chats.lose

    def _say(self, text: str) -> None:
        if self._said is None:
            self._wire.say(text)
        else:
            self._said.append(text)


class Greeting(NamedTuple):
    hello: Hello
    environment: dict[str, str]


async def greeting(wire: Wire) -> Greeting:
    """Return what a launcher says first. Raises WrongFrame, ValidationError, and IncompleteReadError."""
    kind, head, body = await wire.receive()
    if kind != frames.HELLO:
        raise frames.WrongFrame("it did not say who it is")
    return Greeting(Hello.model_validate_json(head), dict(variables(body)))


def _numbered(message: JSONRPCMessage, head: bytes) -> JSONRPCMessage:
    """Give a call the id that its launcher made for it, and say whether it may have been sent before."""
    if head and isinstance(message, JSONRPCRequest) and message.params is not None:
        call_id, attempt = json.loads(head)
        meta = message.params.get("_meta")
        own = {CALL_ID_META: call_id, **(meta if isinstance(meta, dict) else {})}
        message.params["_meta"] = own | ({ATTEMPT_META: True} if attempt > 1 else {})
    return message
