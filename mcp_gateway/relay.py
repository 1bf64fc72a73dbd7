"""Between the wire and the SDK's server: messages in, replies out, and an end within a second of the client's."""

import asyncio

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_gateway.connection import Connection
from mcp_gateway.front import Front
from mcp_gateway.parameters import explained
from mcp_gateway.stdio import INVALID_REQUEST, Message, is_request_id

_LAST_REPLIES_WITHIN_S = 0.4


class Relay:
    """Serves one connection: first what the front has read so far, then what comes."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self._inbox = asyncio.Queue[Message | None]()
        self._unanswered: set[object] = set()
        self._all_answered = asyncio.Event()

    async def serve(self, connection: Connection) -> None:
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        loop = asyncio.get_running_loop()

        def sink(message: Message | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._inbox.put_nowait, message)

        self.front.hand_over(sink)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._feed, to_server)
            tasks.start_soon(self._drain, from_server)
            await connection.serve(requests, replies)

    async def _feed(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with to_server:
            while (message := await self._inbox.get()) is not None:
                try:
                    parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                except ValidationError:
                    self._refuse(message)
                    continue
                if "method" in message and "id" in message:
                    self._unanswered.add(message["id"])
                await to_server.send(SessionMessage(parsed))
            with anyio.move_on_after(_LAST_REPLIES_WITHIN_S):
                await self._settled()

    async def _settled(self) -> None:
        """What is nearly done may still be answered: requests that were piped in end with the pipe."""
        while self._unanswered:
            self._all_answered.clear()
            await self._all_answered.wait()

    async def _drain(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for item in from_server:
                message = item.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(message.id)
                    self._all_answered.set()
                    if message.id in self.front.answered:
                        self.front.answered.discard(message.id)
                        continue
                if isinstance(message, JSONRPCError):
                    message = message.model_copy(update={"error": explained(message.error)})
                line = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
                if self.front.stdio.takes(line):
                    self.front.stdio.write(line)
                else:  # a client may be slow to read
                    await asyncio.to_thread(self.front.stdio.write, line)

    def _refuse(self, message: Message) -> None:
        if "method" in message:
            request_id = message.get("id")
            error = {"code": INVALID_REQUEST, "message": "Invalid Request"}
            self.front.stdio.reply(request_id if is_request_id(request_id) else None, error=error)
