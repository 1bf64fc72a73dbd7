"""Starts a real process of a gateway that listens."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.chat import ROOT, environment
from tests.support.waiting import PATIENCE_S


@asynccontextmanager
async def gateway_process(*flags: str, **settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mcp_gateway", *flags),
        env=environment(**settings),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.wait_for(process.communicate(), PATIENCE_S)


async def addresses(process: asyncio.subprocess.Process, *transports: str) -> list[str]:
    """Return where a process says that it listens."""
    assert process.stderr
    found = dict[str, str]()
    while not {*transports} <= found.keys():
        line = (await process.stderr.readline()).decode()
        assert line, "the process ended"
        if said := re.search(r"transport=(\w+) url=(\S+)", line):
            found[said[1]] = said[2]
    return [found[transport] for transport in transports]
