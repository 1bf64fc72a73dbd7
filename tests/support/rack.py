"""Runs a front and hosts that dial in, each a process of its own as on machines of their own, with a short lease."""

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browse_together.contract.secret import read_secret
from browse_together.contract.wire import INSTANCE_FILE
from tests.support import forked
from tests.support.json import AnyJson
from tests.support.service import Agent
from tests.support.terminal import ROOT, Terminal, eventually
from tests.support.waiting import PATIENCE_S, found

POOL = "rack"


async def until(holds: Callable[[], bool]) -> None:
    await asyncio.to_thread(eventually, holds)


@dataclass(eq=False)
class HostProcess:
    """A host, and what its process and its data directory tell."""

    data_dir: Path
    process: "subprocess.Popen[bytes] | forked.Program"

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def name(self) -> str:
        """Return what the front calls it; empty until it has been linked."""
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads((self.data_dir / INSTANCE_FILE).read_text(encoding="utf-8"))["host"])
        return ""

    @property
    def log(self) -> str:
        return (self.data_dir / "log").read_text(encoding="utf-8")

    def children(self) -> list[psutil.Process]:
        """Return its driver and browsers."""
        return psutil.Process(self.pid).children(recursive=True)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        await until(lambda: self.process.poll() is not None)
        return int(self.process.poll() or 0)

    async def kill(self) -> None:
        """Kill the process and nothing else, as the system does when memory is short."""
        self.process.kill()
        await self.ended()


@dataclass(eq=False)
class Rack:
    """A front, and the hosts that were started for it."""

    front: Terminal
    port: int
    token_file: Path
    lease_s: float = 1.5
    hosts: list[HostProcess] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_front(self) -> None:
        lease = {"BROWSE_HOST_LEASE_MS": str(int(self.lease_s * 1000)), "BROWSE_CLIENT_CALLS_PER_MINUTE": "0"}
        # so little memory that sessions go to other hosts
        self.front.succeed("up", "--detach", "--hosts", PORT=str(self.port), BROWSE_MEMORY_MB="1", **lease)

    async def kill_front(self) -> None:
        assert self.front.service is not None
        process = psutil.Process(self.front.service.pid)
        process.kill()
        await asyncio.to_thread(psutil.wait_procs, [process], PATIENCE_S)

    def start_host(self, name: str, *options: str, join: str = "", **variables: str) -> HostProcess:
        """Start a host in the data directory of this name, whoever had that before."""
        data_dir = self.token_file.parent / name
        data_dir.mkdir(mode=0o700, exist_ok=True)
        named = ("host", "--join", join or self.url, "--token-file", str(self.token_file), "--allow-loopback", *options)
        env = Terminal(data_dir).environment(**variables)
        process: subprocess.Popen[bytes] | forked.Program
        with (data_dir / "log").open("ab") as log:
            if forked.are_programs() and "PYTHONPATH" not in variables:  # which may hold what is run at a start
                started = forked.Started("browser_service", named, env, str(ROOT))
                process = forked.Program(started, subprocess.DEVNULL, log, log)
            else:
                command = [sys.executable, "-m", "browser_service", *named]
                process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.hosts.append(host := HostProcess(data_dir, process))
        return host

    async def ready(self, count: int) -> list[dict[str, AnyJson]]:
        """Wait until there are this many hosts and all are ready. Returns how the front lists them."""

        async def carriers() -> list[dict[str, AnyJson]]:
            return [each for each in await self.listed() if each["name"] != "local"]

        return await found(carriers, lambda all_: [each["state"] for each in all_] == ["ready"] * count)

    async def listed(self) -> list[dict[str, AnyJson]]:
        async with self.agent("owner", operator=True) as owner:
            return list((await owner.http.get(wire.HOSTS)).json()["result"]["hosts"])

    @asynccontextmanager
    async def agent(self, client_id: str = "agent", *, operator: bool = False) -> AsyncIterator[Agent]:
        token = mint(read_secret(self.front.data_dir), client_id, client_id, operator=operator)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE_S, trust_env=False) as http:
            yield Agent(http, client_id, client_id)

    def end_hosts(self) -> None:
        """End the hosts, whatever became of the test, and let the front know of it."""
        for host in self.hosts:
            host.process.send_signal(signal.SIGCONT)
            host.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            for host in self.hosts:
                host.process.wait(PATIENCE_S)
        for host in self.hosts:
            if host.process.poll() is None:
                with contextlib.suppress(psutil.Error):
                    for child in host.children():
                        child.kill()
                host.process.kill()
                host.process.wait(PATIENCE_S)
        self.hosts.clear()

    def end(self) -> None:
        self.end_hosts()
        self.front.end()


@contextmanager
def rack(root: Path, lease_s: float = 1.5) -> Iterator[Rack]:
    """Start a front on a port that stays the same, and have a token for hosts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    made = Rack(Terminal(root / "front"), port, root / "host.token", lease_s)
    try:
        made.start_front()
        made.token_file.write_text(made.front.succeed("token", "host", POOL).out, encoding="utf-8")
        yield made
    finally:
        made.end()
