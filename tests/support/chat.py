"""Speaks raw lines to a real gateway process, as a client does."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from pydantic import JsonValue

from tests.support import browsers
from tests.support.gateways import COLD
from tests.support.waiting import PATIENCE_S

Json = dict[str, JsonValue]
ROOT = Path(__file__).parents[2]
CLIENT: Json = {"name": "claude-ai", "title": "Claude", "version": "1.0"}
MODERN: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "claude-ai", "version": "1.0"},
}


def environment(**settings: str) -> dict[str, str]:
    """Return our environment without variables that would make a gateway start or find something of this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BROWSE_", "CLAUDE_", "PORT"))}
    return kept | {"PYTHONPATH": str(ROOT), "BROWSE_AUTOSTART": "false"} | COLD | browsers.setting() | settings


class Chat:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.process, self.stdin, self.stdout, self.stderr = process, process.stdin, process.stdout, process.stderr
        self._last_id = 0

    async def write(self, line: bytes) -> None:
        self.stdin.write(line)
        await asyncio.wait_for(self.stdin.drain(), PATIENCE_S)

    async def send(self, method: str, params: Json | None = None) -> int:
        """Send a request without waiting for its reply."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method} | ({"params": params} if params else {})
        await self.write(json.dumps(message).encode() + b"\n")
        return self._last_id

    async def notify(self, method: str, params: Json | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})
        await self.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Json:
        line = await asyncio.wait_for(self.stdout.readline(), PATIENCE_S)
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    async def ask(self, method: str, params: Json | None = None) -> Json:
        """Send a request, and give its reply, passing over notifications."""
        request_id = await self.send(method, params)
        while (message := await self.receive()).get("id") != request_id:
            assert "method" in message, f"an answer to something else: {message}"
        return message

    async def initialize(self, version: str = "2025-11-25") -> Json:
        reply = await self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT})
        await self.notify("notifications/initialized")
        return reply

    async def call(self, tool: str, **arguments: JsonValue) -> Json:
        reply = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        result = reply["result"]
        assert isinstance(result, dict)
        return result

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)


@contextlib.asynccontextmanager
async def chatting(env: Mapping[str, str], *command: str) -> AsyncIterator[Chat]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *(command or ("-m", "mcp_gateway")),
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=32 * 1024 * 1024,
    )
    try:
        yield Chat(process)
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.wait_for(process.communicate(), PATIENCE_S)


def text(result: JsonValue) -> str:
    """Return all text of a tool's result."""
    assert isinstance(result, dict)
    blocks = result["content"]
    assert isinstance(blocks, list)
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and block["type"] == "text")
