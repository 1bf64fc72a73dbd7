"""Waiting for a page that another client holds."""

import asyncio
import contextlib

from browser_service.rules.leases import Ownership
from browser_service.waits import until_granted
from shared.calls import Call


async def claimed_in_line(page: Ownership, call: Call, agent: str, seconds: float) -> bool:
    """Wait in line for a page; return whether it is the caller's now. Raises PageNotFound if it is closed."""
    candidate = page.wait(call, agent)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await until_granted(candidate, page.free_in, page.advance)
    except asyncio.CancelledError:
        if candidate.granted:
            page.free()
        raise
    finally:
        page.stop_waiting(candidate)
    return candidate.granted
