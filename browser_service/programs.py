"""Runs other programs: without a shell, within a time, and with no more of their output than is wanted."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from browse_together.contract.background import AtMost

_ENDS_WITHIN_S: Final = 2


class Printed(NamedTuple):
    """What a program printed, and its exit code."""

    said: bytes
    code: int


async def printed_by(words: Sequence[str], within_s: float, most_bytes: int = 65_536) -> Printed:
    """Run a program to its end and return what it printed. One that prints more, which is no failure of it, or takes
    longer is ended with all that it started. Raises TimeoutError, and OSError if it does not start."""
    quiet, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *words, stdin=quiet, stdout=pipe, stderr=quiet, start_new_session=True
    )
    output = cast("asyncio.StreamReader", process.stdout)  # as asked for
    said, code = b"", 0
    try:
        async with asyncio.timeout(within_s):
            while len(said) <= most_bytes and (piece := await output.read(most_bytes)):
                said += piece
            if len(said) <= most_bytes:
                code = await process.wait()
    finally:
        if process.returncode is None:
            _kill(process)
            async with AtMost(_ENDS_WITHIN_S):
                await output.read()  # what is unread keeps the pipe, and Python 3.11.2 waits for its end
                await process.wait()
    return Printed(said[:most_bytes], code)


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        if os.name == "posix":  # in a session of its own: with all that it started
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
