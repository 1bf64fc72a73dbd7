"""Relays the messages of stdin and stdout to a connection, from those read so far to the last replies."""

import asyncio
import threading

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_gateway.connection import Connection
from mcp_gateway.errors import encoded
from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio.early import EarlyServer

_LAST_REPLIES_WITHIN_S = 0.4
_MOST_WAITING = 1_000
"""A client that sends more than is read meanwhile is left to wait: its messages stay in its pipe."""
_ROOM_WITHIN_S = 60.0


class Relay:
    """Carries messages between the two descriptors of an early server and the streams of a connection."""

    def __init__(self, early: EarlyServer) -> None:
        self._early = early
        self._inbox = asyncio.Queue[Message | None]()
        self._room = threading.Semaphore(_MOST_WAITING)
        self._unanswered: set[object] = set()
        self._replied = asyncio.Event()

    async def serve(self, connection: Connection) -> None:
        """Serve a connection until its client closes stdin."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        loop, own_thread = asyncio.get_running_loop(), threading.get_ident()

        def receive(message: Message | None) -> None:
            if threading.get_ident() != own_thread:  # which hands over what came before
                self._room.acquire(timeout=_ROOM_WITHIN_S)
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._inbox.put_nowait, message)

        self._early.hand_over(receive)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass_requests, to_server)
            tasks.start_soon(self._pass_replies, from_server)
            await connection.serve(requests, replies)

    async def _pass_requests(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass requests on until the client closes, then wait a moment for the last replies: requests that were piped
        in end with the pipe."""
        async with to_server:
            while (message := await self._inbox.get()) is not None:
                self._room.release()
                try:
                    parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                except ValidationError:  # a malformed reply, which nobody waits for: wrong requests were refused
                    continue
                if "method" in message and "id" in message:
                    self._unanswered.add(message["id"])
                await to_server.send(SessionMessage(parsed))
            with anyio.move_on_after(_LAST_REPLIES_WITHIN_S):
                while self._unanswered:
                    self._replied.clear()
                    await self._replied.wait()

    async def _pass_replies(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what is to be sent, except replies that the early server has given."""
        async with from_server:
            async for item in from_server:
                message = item.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(message.id)
                    self._replied.set()
                    if message.id in self._early.answered:
                        self._early.answered.discard(message.id)
                        continue
                await self._write(encoded(message))

    async def _write(self, line: bytes) -> None:
        if self._early.descriptors.can_write(line):
            self._early.descriptors.write(line)
        else:  # a client may be slow to read
            await asyncio.to_thread(self._early.descriptors.write, line)
