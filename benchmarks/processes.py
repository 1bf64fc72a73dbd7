"""Starts the processes to be measured, apart from the developer's own, and stops them by pid."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import psutil

from browse_together.contract.wire import SHARED_GATEWAY
from examples import processes
from examples.processes import ServiceProcess
from tests.support.json import AnyJson

ROOT: Final = Path(__file__).parents[1]
CLIENT: Final = {"name": "benchmark", "version": "1"}
PROTOCOL: Final = "2025-11-25"

_ANSWERS_WITHIN_S = 60
_MB: Final = 1_048_576
_OURS = ("BROWSE_", "CLAUDE_CODE_SESSION_ID")
_BARE = frozenset({"PORT", "LOG_LEVEL", "APP_ENV", "HEADLESS", "BROWSER_TYPE"})


Started = TypeVar("Started", ServiceProcess, asyncio.subprocess.Process)


class Failed(Exception):
    """Raised when a measured process did not do its work, so that its times mean nothing."""


_UNLIMITED = {"BROWSE_CLIENT_CALLS_PER_MINUTE": "0"}
"""Settings that switch the limits off, so that a benchmark is as fast as it can be."""
_COLD = {"BROWSE_MIN_INSTANCES": "0"}
"""Settings that make the browser start with the first page, for all services."""


def environment(**settings: str) -> dict[str, str]:
    """Return the environment without the product's settings, so that the developer's service and chats are left
    alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS) and name not in _BARE}
    return kept | {"BROWSE_CONFIG": os.devnull} | settings


@dataclass(frozen=True)
class Service:
    """A running service with its own data directory."""

    url: str
    data_dir: Path
    pid: int

    def gateway_settings(self, client_id: str) -> dict[str, str]:
        return environment(
            BROWSE_URL=self.url,
            BROWSE_DATA_DIR=str(self.data_dir),
            BROWSE_AUTOSTART="false",
            BROWSE_CLIENT_ID=client_id,
            BROWSE_SHARED_IDLE_S="1",
            XDG_RUNTIME_DIR=str(self.data_dir),
        )

    @property
    def gateway_pid(self) -> int:
        return gateway_pid(self.data_dir)


def gateway_pid(data_dir: Path) -> int:
    """Return the process that serves all chats. Raises Failed."""
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if SHARED_GATEWAY in each.cmdline() and str(data_dir) in each.cmdline()[-1]:
                return each.pid
    raise Failed("no gateway process serves the chats")


@asynccontextmanager
async def service(*, limited: bool = False, **settings: str) -> AsyncIterator[Service]:
    """Run a service process until the block ends. Its browser starts with the first page. `limited` keeps the usual
    limits."""
    with tempfile.TemporaryDirectory(prefix="browse-together-bench-", ignore_cleanup_errors=True) as data:
        async with served_at(data, "0", limited=limited, **settings) as running:
            yield running


@asynccontextmanager
async def served_at(data: str, port: str, *, limited: bool = False, **settings: str) -> AsyncIterator[Service]:
    """Run a service process on that data directory and port."""
    env = environment(**({} if limited else _UNLIMITED), **_COLD, **settings)
    async with _with_family(processes.service(Path(data), env, int(port))) as running:
        yield Service(running.url, running.data_dir, running.pid)


class Gateway:
    """A connection to a gateway process in raw lines, because an MCP client would add its own work to every call."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise Failed("the gateway has no pipes")
        self.pid = process.pid
        self._to, self._from = process.stdin, process.stdout
        self._last_id = 0
        self.instructions = ""

    async def ask(self, method: str, params: dict[str, AnyJson]) -> dict[str, AnyJson]:
        """Return the result of a request. Any: JSON. Raises Failed."""
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        while True:
            line = await self._from.readline()
            if not line:
                raise Failed(f"the gateway ended at {method}")
            message: dict[str, AnyJson] = json.loads(line)
            if message.get("id") != self._last_id:
                continue
            if "error" in message:
                raise Failed(f"{method}: {message['error']}")
            return dict(message["result"])

    async def open(self) -> None:
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
        self.instructions = str((await self.ask("initialize", hello)).get("instructions", ""))
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def call(self, tool: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        """Call a tool. Raises Failed if the call fails."""
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Failed(f"{tool}: {result['content']}")
        return result

    async def value(self, page_id: str, expression: str) -> object:
        # A reply shows strings as they are and other values as JSON; this way, all are JSON.
        result = await self.call("evaluate_script", pageId=page_id, expression=f"JSON.stringify({expression})")
        lines = iter(result["content"][0]["text"].splitlines())
        next(line for line in lines if "(data, " in line)  # the value follows this line
        return json.loads(next(lines))

    def _write(self, message: dict[str, AnyJson]) -> None:
        self._to.write(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def gateway(of: Service, client_id: str) -> AsyncIterator[Gateway]:
    async with mcp_server(sys.executable, "-m", "mcp_gateway", env=of.gateway_settings(client_id)) as opened:
        yield opened


@asynccontextmanager
async def mcp_server(*command: str, env: dict[str, str]) -> AsyncIterator[Gateway]:
    """Start any server that speaks MCP on stdio, and initialize it."""
    started = processes.running(*command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    async with _with_family(started) as running:
        opened = Gateway(running)
        await opened.open()
        yield opened


@asynccontextmanager
async def _with_family(started: AbstractAsyncContextManager[Started]) -> AsyncIterator[Started]:
    """Run a process within the block. Then kill what it started and left behind, such as a browser."""
    family: list[psutil.Process] = []
    try:
        async with started as process:
            try:
                yield process
            finally:
                family = children(process.pid)
    finally:
        for left in family:
            with contextlib.suppress(psutil.NoSuchProcess):  # psutil notices if the pid now belongs to another process
                left.kill()


def browser_of(pid: int) -> str:
    """Return the browser that the service runs, which the peer must run too."""
    return next(child.exe() for child in children(pid) if "chrom" in child.name())


def processor(pids: Sequence[int]) -> float:
    """Return the seconds of processor time that the processes and their children have used so far."""
    family = {each.pid: each for pid in pids for each in (psutil.Process(pid), *children(pid))}
    return sum(sum(process.cpu_times()[:2]) for process in family.values())


def memory(*pids: int) -> float:
    """Return the MB (PSS) of the processes and everything that they started, each counted once."""
    return memory_of({each.pid: each for pid in pids for each in (psutil.Process(pid), *children(pid))}.values())


def memory_of(processes: Iterable[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # a renderer that has just ended
            held = process.memory_full_info()
            total += getattr(held, "pss", held.uss) / _MB
    return total


def children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
