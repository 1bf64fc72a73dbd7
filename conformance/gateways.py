"""Starts what is tested: a service, and a gateway that serves HTTP without a key and without limits on requests."""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from examples.processes import ServiceProcess, service

ROOT: Final = Path(__file__).parents[1]
STDIO: Final = ("-m", "mcp_gateway")
_HTTP: Final = (*STDIO, "--transport", "http", "--port", "0", "--auth", "none", "--rate-limit-max", "0")
_OURS: Final = frozenset({"PORT", "LOG_LEVEL", "HEADLESS", "BROWSER_TYPE", "AUTH_SECRET", "CLAUDE_CODE_SESSION_ID"})
_START_WITHIN_S: Final = 30
_END_WITHIN_S: Final = 10
_LAST_LINES: Final = 40
_URL: Final = re.compile(r"\burl=(http://\S+)")


class NotServing(Exception):
    """The gateway did not begin to serve. The text has its last lines."""


@dataclass(frozen=True)
class Tried:
    """How to reach the gateways: one by HTTP, and any number that are started on stdio."""

    url: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]


@contextlib.asynccontextmanager
async def serving(data_dir: Path) -> AsyncIterator[Tried]:
    """Run both within the block. Raises Ended, NotServing, TimeoutError."""
    env = _environment(data_dir)
    async with service(data_dir, env) as running, _gateway(env | _reaching(running)) as url:
        yield Tried(url, sys.executable, STDIO, env | _reaching(running))


def _environment(data_dir: Path) -> dict[str, str]:
    """Return our environment, without settings of the service or a gateway."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BROWSE_") and name not in _OURS}
    ours = {"PYTHONPATH": str(ROOT), "BROWSE_DATA_DIR": str(data_dir), "HEADLESS": "true", "BROWSE_MIN_INSTANCES": "0"}
    return kept | ours


def _reaching(running: ServiceProcess) -> dict[str, str]:
    return {"BROWSE_URL": running.url, "BROWSE_AUTOSTART": "false"}


@contextlib.asynccontextmanager
async def _gateway(env: Mapping[str, str]) -> AsyncIterator[str]:
    """Run a gateway that serves HTTP, and yield the address from its log."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *_HTTP, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    reading = asyncio.create_task(_read(process, lines, address))
    try:
        yield await asyncio.wait_for(address, _START_WITHIN_S)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await asyncio.wait_for(process.wait(), _END_WITHIN_S)
        await reading


async def _read(process: asyncio.subprocess.Process, lines: deque[str], address: asyncio.Future[str]) -> None:
    """Read the gateway's log until it ends, so that it never blocks on a full pipe."""
    while process.stderr and (line := await process.stderr.readline()):
        lines.append(line.decode(errors="replace"))
        if (found := _URL.search(lines[-1])) and not address.done():
            address.set_result(found[1])
    if not address.done():
        address.set_exception(NotServing(f"the gateway does not serve:\n{''.join(lines)}"))
