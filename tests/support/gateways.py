"""Real processes: a service on a free port, and chats, each a real MCP client on a gateway process of its own."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Implementation, TextContent

from tests.support import browsers

ROOT = Path(__file__).parents[2]
_START_WITHIN_S = 30
_END_WITHIN_S = 15
COLD = {"BROWSE_MIN_INSTANCES": "0"}
"""A service's browser starts with the first call that needs it: most tests of processes need none."""


def environment(data_dir: Path, **changes: str) -> dict[str, str]:
    """What our processes get: none of the developer's settings, and this source tree."""
    ours = {"PORT", "LOG_LEVEL", "APP_ENV", "HEADLESS", "BROWSER_TYPE", "CLAUDE_CODE_SESSION_ID"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BROWSE_") and name not in ours}
    return {**kept, "PYTHONPATH": str(ROOT), "BROWSE_DATA_DIR": str(data_dir), **COLD, **browsers.setting(), **changes}


@dataclass
class ServiceProcess:
    process: asyncio.subprocess.Process
    data_dir: Path
    url: str

    async def end(self) -> int:
        """SIGTERM, and its exit code."""
        self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), _END_WITHIN_S)


@asynccontextmanager
async def service_process(data_dir: Path, **changes: str) -> AsyncIterator[ServiceProcess]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "browser_service", "up", "--port", "0"),
        env=environment(data_dir, **changes),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield ServiceProcess(process, data_dir, await _answering(data_dir, process))
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _END_WITHIN_S)
            except TimeoutError:
                process.kill()
                await process.wait()


async def _answering(data_dir: Path, process: asyncio.subprocess.Process) -> str:
    async with asyncio.timeout(_START_WITHIN_S), httpx.AsyncClient(trust_env=False) as http:
        while True:
            assert process.returncode is None, "the service ended"
            with contextlib.suppress(OSError, ValueError, httpx.TransportError):
                url = str(json.loads((data_dir / "instance.json").read_text(encoding="utf-8"))["url"])
                if (await http.get(f"{url}/health")).is_success:
                    return url
            await asyncio.sleep(0.05)  # between two looks at a process that starts


@asynccontextmanager
async def chat(service: ServiceProcess, name: str, **changes: str) -> AsyncIterator[Client]:
    """A chat that is connected to a running service."""
    env = environment(service.data_dir, BROWSE_URL=service.url, BROWSE_AUTOSTART="false", **changes)
    gateway = StdioServerParameters(command=sys.executable, args=["-m", "mcp_gateway"], env=env)
    info = Implementation(name=name, version="1")
    async with Client(gateway, client_info=info, mode="legacy", read_timeout_seconds=60) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
