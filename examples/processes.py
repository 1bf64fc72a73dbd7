"""Runs the service as a child process that ends with its parent: for the demo, the benchmarks and the tests."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from browse_together.client import instance

END_WITHIN_S: Final = 15.0
_POLL_S: Final = 0.05
_MAX_LINE_BYTES: Final = 4_000_000


class Ended(Exception):
    """A service ended before it answered."""


@dataclass
class ServiceProcess:
    """The process of a service that answers at `url`."""

    process: asyncio.subprocess.Process
    data_dir: Path
    url: str

    @property
    def pid(self) -> int:
        return self.process.pid

    async def end(self) -> int:
        """End it with SIGTERM. Returns its exit code."""
        self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), END_WITHIN_S)


@asynccontextmanager
async def running(
    *command: str,
    env: Mapping[str, str],
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    inherited: Sequence[int] = (),
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a program while the block lasts. It is ended with SIGTERM, and killed after END_WITHIN_S.
    `inherited` are the descriptors that it is given.

    It runs in the folder of this source tree, which need not be installed.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        env=env,
        cwd=Path(__file__).parents[1],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        limit=_MAX_LINE_BYTES,
        pass_fds=inherited,
    )
    try:
        yield process
    finally:
        await _end(process)


@asynccontextmanager
async def service(data_dir: Path, env: Mapping[str, str], port: int = 0) -> AsyncIterator[ServiceProcess]:
    """Run a service on that data directory while the block lasts, by default on a free port.

    Raises Ended if it ends before it answers, TimeoutError if it takes longer than `instance.START_WITHIN_S`.
    """
    child_env = {**env, "BROWSE_DATA_DIR": str(data_dir)}
    async with running(sys.executable, "-m", "browser_service", "up", "--port", str(port), env=child_env) as process:
        yield ServiceProcess(process, data_dir, await _wait_for_url(data_dir, process))


async def _wait_for_url(data_dir: Path, process: asyncio.subprocess.Process) -> str:
    """Return the URL of the service, once it answers. A file that another process left there is ignored."""
    async with asyncio.timeout(instance.START_WITHIN_S):
        while True:
            if process.returncode is not None:
                raise Ended(f"exit code {process.returncode}; `browse-together doctor` says why")
            if found := await asyncio.to_thread(instance.find, data_dir):
                return found.url
            await asyncio.sleep(_POLL_S)  # between two looks at a process that starts


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END_WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
