"""Speaks JSON lines over two pipes, to a server in this process."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from browse_together.contract.json_lines.lines import Lines
from browse_together.contract.wire import MAX_MESSAGE_BYTES
from tests.support.json import AnyJson
from tests.support.waiting import PATIENCE_S

Serve = Callable[[Lines], Awaitable[None]]


class Speaker:
    """A client, which reads no reply before it is asked to."""

    def __init__(self, stdin: int, stdout: int, serving: "asyncio.Future[None]") -> None:
        self._input = os.fdopen(stdin, "wb", buffering=0)
        self._output = os.fdopen(stdout, "rb")
        self.serving = serving

    async def write(self, *lines: str | bytes) -> None:
        text = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.to_thread(self._write, text)

    async def line(self) -> str:
        """Return the next line; empty at the end."""
        async with asyncio.timeout(PATIENCE_S):
            return (await asyncio.to_thread(self._output.readline)).decode().removesuffix("\n")

    async def reply(self) -> AnyJson:
        return json.loads(await self.line())

    async def ask(self, line: str | bytes) -> str:
        await self.write(line)
        return await self.line()

    async def call(self, tool: str, call_id: int | str = 1, **args: AnyJson) -> AnyJson:
        await self.write(json.dumps({"type": "call", "id": call_id, "tool": tool, "args": args}))
        return await self.reply()

    def stop_writing(self) -> None:
        self._input.close()

    def stop_reading(self) -> None:
        self._output.close()

    async def ended(self) -> None:
        """Wait until the server has ended by itself."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.shield(self.serving)

    def _write(self, text: bytes) -> None:
        rest = memoryview(text)
        while rest:
            rest = rest[self._input.write(rest) or 0 :]


@asynccontextmanager
async def speaking(serve: Serve, most_bytes: int = MAX_MESSAGE_BYTES) -> AsyncIterator[Speaker]:
    """Serve a client within the block."""
    (stdin, to_server), (from_server, stdout) = os.pipe(), os.pipe()

    async def run() -> None:
        try:
            await serve(Lines(stdin, stdout, most_bytes))
        finally:
            os.close(stdout)  # as the end of a process does

    serving = asyncio.ensure_future(run())
    speaker = Speaker(to_server, from_server, serving)
    try:
        yield speaker
    finally:
        speaker.stop_writing()
        speaker.stop_reading()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([serving])
        os.close(stdin)
    serving.result()
