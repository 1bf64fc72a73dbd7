"""Relays the messages of a host to a connection, from those read so far to the last replies."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mcp_gateway.connection import Connection
from mcp_gateway.errors import encoded
from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio.early import EarlyServer

_LAST_REPLIES_WITHIN_S = 0.4
_MOST_WAITING = 1_000
"""A client that sends more than is read meanwhile is left to wait: its messages stay in its pipe."""
_ROOM_WITHIN_S = 60.0


class Host(Protocol):
    """Is the other end of a connection: where its messages come from, and the replies go."""

    def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Yield what the client sends, until it closes."""

    async def send(self, message: JSONRPCMessage) -> None:
        """Send a message to the client, as soon as it reads."""


class Relay:
    """Carries messages between a host and the streams of a connection."""

    def __init__(self, host: Host, prefix: str = "") -> None:
        self._host = host
        self._prefix = prefix
        """Begins the ids of requests to the client, if another process has made such before."""
        self._unanswered: set[object] = set()
        self._replied = asyncio.Event()

    async def serve(self, connection: Connection) -> None:
        """Serve a connection until its client closes."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_requests, to_server)
            tasks.start_soon(self._pass_replies, from_server)
            await connection.serve(requests, replies)

    async def _pass_requests(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass requests on until the client closes, then wait a moment for the last replies: requests that were piped
        in end with the pipe."""
        async with to_server:
            async for message in self._host.messages():
                if isinstance(message, JSONRPCRequest):
                    self._unanswered.add(message.id)
                if (expected := self._expected(message)) is not None:
                    await to_server.send(SessionMessage(expected))
            with anyio.move_on_after(_LAST_REPLIES_WITHIN_S):
                while self._unanswered:
                    self._replied.clear()
                    await self._replied.wait()

    async def _pass_replies(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                message = item.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(message.id)
                    self._replied.set()
                await self._host.send(self._spelt(message))

    def _spelt(self, message: JSONRPCMessage) -> JSONRPCMessage:
        """Return a message to the client with the id that no process before has used."""
        if self._prefix and isinstance(message, JSONRPCRequest):
            return message.model_copy(update={"id": f"{self._prefix}{message.id}"})
        if self._prefix and isinstance(message, JSONRPCNotification) and "requestId" in (message.params or {}):
            params = {**(message.params or {}), "requestId": f"{self._prefix}{(message.params or {})['requestId']}"}
            return message.model_copy(update={"params": params})
        return message

    def _expected(self, message: JSONRPCMessage) -> JSONRPCMessage | None:
        """Return a message of the client; None for a reply to a process before."""
        if not self._prefix or not isinstance(message, JSONRPCResponse | JSONRPCError):
            return message
        own_id = str(message.id).removeprefix(self._prefix)
        return message.model_copy(update={"id": int(own_id)}) if own_id.isdecimal() else None


class Stdio:
    """Is the host that started this process, which an early server has answered so far."""

    def __init__(self, early: EarlyServer) -> None:
        self._early = early
        self._inbox = asyncio.Queue[Message | None]()
        self._room = threading.Semaphore(_MOST_WAITING)

    async def messages(self) -> AsyncIterator[JSONRPCMessage]:
        """Yield the messages that the early server has received, and those to come."""
        loop, own_thread = asyncio.get_running_loop(), threading.get_ident()

        def receive(message: Message | None) -> None:
            if threading.get_ident() != own_thread:  # which hands over what came before
                self._room.acquire(timeout=_ROOM_WITHIN_S)
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._inbox.put_nowait, message)

        self._early.hand_over(receive)
        while (message := await self._inbox.get()) is not None:
            self._room.release()
            try:
                yield jsonrpc_message_adapter.validate_python(message, by_name=False)
            except ValidationError:  # a malformed reply, which nobody waits for: wrong requests were refused
                continue

    async def send(self, message: JSONRPCMessage) -> None:
        """Write a message, except a reply that the early server has given."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id in self._early.answered:
            self._early.answered.discard(message.id)
            return
        line = encoded(message)
        if self._early.descriptors.can_write(line):
            self._early.descriptors.write(line)
        else:  # a client may be slow to read
            await asyncio.to_thread(self._early.descriptors.write, line)
