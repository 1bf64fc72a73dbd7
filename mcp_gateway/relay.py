"""A relay carries a connection over stdin and stdout, from what the front has read so far to the last replies."""

import asyncio
import sys

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from client.autostart import Autostart
from client.http import ServiceClient
from mcp_gateway.connection import Connection
from mcp_gateway.front import Front
from mcp_gateway.identity import credentials
from mcp_gateway.parameters import explained
from mcp_gateway.settings import Settings
from mcp_gateway.stdio import Message
from shared.catalogue import fingerprint

_LAST_REPLIES_WITHIN_S = 0.4
_LAST_WORDS_WITHIN_S = 0.2


async def serve(front: Front, settings: Settings, autostart: Autostart, instructions: str) -> None:
    """Serve the connection of this process until its client closes stdin."""
    _log_to_stderr(settings)
    service = ServiceClient(settings.url, credentials(settings), autostart, fingerprint())
    await Relay(front).serve(Connection(settings, service, instructions))
    await service.close(_LAST_WORDS_WITHIN_S)


class Relay:
    """Carries messages between the two descriptors of a front and the streams of a connection."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._inbox = asyncio.Queue[Message | None]()
        self._unanswered: set[object] = set()
        self._replied = asyncio.Event()

    async def serve(self, connection: Connection) -> None:
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        replies, from_server = anyio.create_memory_object_stream[SessionMessage]()
        loop = asyncio.get_running_loop()

        def take(message: Message | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._inbox.put_nowait, message)

        self._front.hand_over(take)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._feed, to_server)
            tasks.start_soon(self._drain, from_server)
            await connection.serve(requests, replies)

    async def _feed(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Hand on what comes. What is nearly done when the client closes is still answered: requests that were piped
        in end with the pipe."""
        async with to_server:
            while (message := await self._inbox.get()) is not None:
                try:
                    parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
                except ValidationError:  # a reply that is none, and nobody waits for: wrong requests were refused
                    continue
                if "method" in message and "id" in message:
                    self._unanswered.add(message["id"])
                await to_server.send(SessionMessage(parsed))
            with anyio.move_on_after(_LAST_REPLIES_WITHIN_S):
                while self._unanswered:
                    self._replied.clear()
                    await self._replied.wait()

    async def _drain(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write what is to be sent, but for replies that the front gave already."""
        async with from_server:
            async for item in from_server:
                message = item.message
                if isinstance(message, JSONRPCResponse | JSONRPCError):
                    self._unanswered.discard(message.id)
                    self._replied.set()
                    if message.id in self._front.answered:
                        self._front.answered.discard(message.id)
                        continue
                if isinstance(message, JSONRPCError):
                    message = message.model_copy(update={"error": explained(message.error)})
                await self._write(message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def _write(self, line: bytes) -> None:
        if self._front.stdio.takes(line):
            self._front.stdio.write(line)
        else:  # a client may be slow to read
            await asyncio.to_thread(self._front.stdio.write, line)


def _log_to_stderr(settings: Settings) -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
