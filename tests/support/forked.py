"""Forks our programs from a process that has imported them already. They have their own arguments, streams, environment
and exit code all the same, after a tenth of the start, and tests start two hundred.

Only their command line is another, and what they import early or late is there at once: tests that are about this have
the mark `own_start`.
"""

import asyncio
import multiprocessing
import os
import subprocess
import sys
from asyncio.base_subprocess import BaseSubprocessTransport
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import reduction
from multiprocessing.forkserver import set_forkserver_preload
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from unittest.mock import patch

_FORKS: Final = multiprocessing.get_context("forkserver")
_PROGRAMS: Final = ("browser_service", "mcp_gateway")
_COMMANDS: Final = ("activity", "actions", "hosts", "requests", "lifecycle", "output", "logins", "upkeep", "config")
_SERVERS: Final = (
    "browser_service.process",
    "browser_service.host_process",
    "browser_service.app",
    "mcp_gateway.startup",
    "mcp_gateway.transports.serving",
)
_OPEN: Final = 256
"""More descriptors than a freshly forked process has."""
_UNDERSTOOD: Final = frozenset(("env", "cwd", "start_new_session", "stdin", "stdout", "stderr"))
set_forkserver_preload([__name__, *(f"browser_service.cli.{name}" for name in _COMMANDS), *_SERVERS])
_exec = asyncio.BaseEventLoop.subprocess_exec

Stream = int | IO[Any] | None  # Any: as subprocess has it


class Started(NamedTuple):
    """What a new process receives. The descriptors of its streams are sent with it."""

    module: str
    arguments: tuple[str, ...]
    env: Mapping[str, str]
    directory: str
    own_session: bool = False


class Passed:
    """A descriptor that is sent to a new process, where it has another number."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __reduce__(self) -> tuple[Any, ...]:  # Any: as pickle has it
        return _received, (reduction.DupFd(self.descriptor),)


def _received(passed: Any) -> int:  # Any: one of multiprocessing's own, which has no public name
    return int(passed.detach())


def fork(started: Started, streams: Sequence[int]) -> BaseProcess:
    """Start a program. Its streams may be closed here at once."""
    process = _FORKS.Process(target=_run, args=(started, *map(Passed, streams)), daemon=True)
    process.start()
    return process


def _run(started: Started, *streams: int) -> None:
    if started.own_session:
        os.setsid()
    os.environ.clear()
    os.environ.update(started.env)
    os.chdir(started.directory)
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
    os.closerange(3, _OPEN)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it lasts as long as the process
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as there
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115 - as there
    program = import_module(f"{started.module}.__main__")
    sys.argv = [str(program.__file__), *started.arguments]
    sys.orig_argv = [sys.executable, "-m", started.module, *started.arguments]  # by which a host begins anew
    program.main()


class Program:
    """What subprocess.Popen is, of a forked program."""

    def __init__(self, started: Started, *streams: Stream) -> None:
        self._ours: list[IO[bytes] | None] = [None, None, None]
        theirs = [self._theirs(number, stream) for number, stream in enumerate(streams)]
        self.stdin, self.stdout, self.stderr = self._ours
        self.process = fork(started, theirs)
        for descriptor in theirs:
            os.close(descriptor)
        self.pid = self.process.pid or 0
        self.returncode: int | None = None

    def _theirs(self, number: int, stream: Stream) -> int:
        """Return the program's end of a stream, which is to be closed here."""
        if stream == DEVNULL:
            return os.open(os.devnull, os.O_RDWR)
        if stream != PIPE:
            return os.dup(number if stream is None else stream if isinstance(stream, int) else stream.fileno())
        read, write = os.pipe()
        ours, theirs, mode = (write, read, "wb") if number == 0 else (read, write, "rb")
        self._ours[number] = os.fdopen(ours, mode, buffering=0)
        return theirs

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, within_s: float) -> None:
        self.process.join(within_s)
        if self.poll() is None:
            raise subprocess.TimeoutExpired(str(self.pid), within_s)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()


class _Transport(BaseSubprocessTransport):
    """A program whose end the forking process reports, because it is no child of this one."""

    def _start(  # noqa: PLR0917 - as asyncio has it
        self,
        args: Any,  # Any: as there
        shell: bool,  # noqa: FBT001 - as there
        stdin: Stream,
        stdout: Stream,
        stderr: Stream,
        bufsize: int,
        **options: Any,
    ) -> None:
        del args, shell, bufsize
        self._program = Program(options["started"], stdin, stdout, stderr)
        self._proc = self._program  # type: ignore[assignment] # of Popen, asyncio uses no more than that has
        self._loop.add_reader(self._program.process.sentinel, self._end)

    def _end(self) -> None:
        self._loop.remove_reader(self._program.process.sentinel)
        self._process_exited(self._program.poll() or 0)


async def _subprocess_exec(
    loop: asyncio.BaseEventLoop,
    new_protocol: Callable[[], asyncio.SubprocessProtocol],
    *command: str,
    **options: Any,  # Any: as asyncio has them
) -> tuple[asyncio.SubprocessTransport, asyncio.SubprocessProtocol]:
    """Stand in for a loop's own, and leave to it whatever is no program of ours."""
    if not _is_ours(command) or {name for name, value in options.items() if value} - _UNDERSTOOD:
        return await _exec(loop, new_protocol, *command, **options)
    _, _, module, *arguments = command
    env, directory = options.get("env") or os.environ, options.get("cwd") or Path.cwd()
    started = Started(module, tuple(arguments), {**env}, str(directory), bool(options.get("start_new_session")))
    stdin, stdout, stderr = (options.get(name, PIPE) for name in ("stdin", "stdout", "stderr"))
    protocol, waiter = new_protocol(), loop.create_future()
    transport = _Transport(loop, protocol, command, False, stdin, stdout, stderr, 0, waiter, started=started)  # noqa: FBT003 - as there
    await waiter
    return transport, protocol


def _is_ours(command: Sequence[str]) -> bool:
    return command[:2] == (sys.executable, "-m") and command[2] in _PROGRAMS


def are_programs() -> bool:
    """Tell whether our programs are forked now."""
    return asyncio.BaseEventLoop.subprocess_exec is not _exec


@contextmanager
def programs(*, are_forked: bool) -> Iterator[None]:
    """Have our programs forked within the block, or started by themselves."""
    with patch.object(asyncio.BaseEventLoop, "subprocess_exec", _subprocess_exec if are_forked else _exec):
        yield


def run(arguments: tuple[str, ...], env: dict[str, str], directory: Path, within_s: float) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it wrote to stdout and stderr. Raises TimeoutError."""
    out, err = (directory / f"{stream}-of-command" for stream in ("stdout", "stderr"))
    with Path(os.devnull).open("rb") as nothing, out.open("wb") as stdout, err.open("wb") as stderr:
        started = Started("browser_service", arguments, env, str(directory))
        process = fork(started, (nothing.fileno(), stdout.fileno(), stderr.fileno()))
    process.join(within_s)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"{arguments} did not end within {within_s} s")
    return process.exitcode, out.read_text("utf-8"), err.read_text("utf-8")
