"""Starts Playwright's driver, which starts the browsers."""

import asyncio
import contextlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import playwright
import psutil
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from browse_together.contract.errors import BrowserLaunchFailed
from browser_service.host.sessions.errors import REPEAT_HINT, driver_lacks

_STARTS_WITHIN_S: Final = 20
_SAYS_WITHIN_S: Final = 5
_LACKS: Final = re.compile(rb"error while loading shared libraries: (lib[\w.+-]+)")
"""What Linux's linker says of a program that it cannot start."""
_LEAN: Final = "--max-semi-space-size=1 --v8-pool-size=1"
"""Make Node free memory early, with one thread for that: 25 of 150 MB less, in no more time (measured on Playwright
1.65)."""
_OWN_NODE: Final = "PLAYWRIGHT_NODEJS_PATH"
_PLAYWRIGHT: Final = str(Path(playwright.__file__).parent)


Handler = Callable[[asyncio.AbstractEventLoop, dict[str, object]], object]
Started = tuple[Playwright, psutil.Process | None]


def economize(cache: Path) -> None:
    """Make the drivers that this process starts need less memory, and cache in `cache` what they compile. Options in
    the user's environment come after ours, and win."""
    os.environ.setdefault("NODE_COMPILE_CACHE", str(cache))
    if _OWN_NODE not in os.environ:  # an older Node takes no such options from the environment
        os.environ["NODE_OPTIONS"] = f"{_LEAN} {os.environ.get('NODE_OPTIONS', '')}".rstrip()


class _QuietEnds:
    """The handler of a loop's errors that leaves out what Playwright does not read itself of the end of its driver.
    Whoever waits for the driver fails by itself."""

    def __init__(self, then: Handler | None) -> None:
        self._then = then

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        if _tells_of_end(context):
            return
        if self._then is None:
            loop.default_exception_handler(context)
        else:
            self._then(loop, context)


def _tells_of_end(context: dict[str, object]) -> bool:
    kind, future = type(context.get("exception")), context.get("future")
    if isinstance(future, asyncio.Task):
        coroutine = future.get_coro()
        is_playwrights = inspect.iscoroutine(coroutine) and coroutine.cr_code.co_filename.startswith(_PLAYWRIGHT)
        return is_playwrights and kind is Exception
    # A plain exception, which nothing of ours raises; or what Python 3.11.2 keeps of a write to a driver that ended.
    return future is not None and kind in (Exception, BrokenPipeError)


async def start_driver() -> Started:
    """Start the driver, and return it with its process. Raises BrowserLaunchFailed if it ends, or does not answer."""
    loop = asyncio.get_running_loop()
    if not isinstance(handler := loop.get_exception_handler(), _QuietEnds):
        loop.set_exception_handler(_QuietEnds(handler))
    before = set(psutil.Process().children())
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            started = await async_playwright().start()
    except TimeoutError:
        for hanging in _drivers(before):
            hanging.kill()
        message = f"Playwright's driver did not answer within {_STARTS_WITHIN_S} s, and was ended."
        raise BrowserLaunchFailed(message, hint=REPEAT_HINT) from None
    except PlaywrightError as error:
        raise BrowserLaunchFailed(f"Playwright's driver did not start: {error}", hint=REPEAT_HINT) from error
    except Exception as error:
        if type(error) is not Exception:
            raise
        if library := await lacking_library():
            raise driver_lacks(library) from error
        raise BrowserLaunchFailed(f"Playwright's driver ended as it started: {error}.", hint=REPEAT_HINT) from error
    return started, next(iter(_drivers(before)), None)


async def lacking_library() -> str | None:
    """Return the shared library that the driver's Node lacks to start; None if none is known."""
    node = os.environ.get(_OWN_NODE) or Path(_PLAYWRIGHT, "driver", "node.exe" if sys.platform == "win32" else "node")
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        node, "--version", stdin=quiet, stdout=quiet, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(_SAYS_WITHIN_S):
            _, said = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    lacks = _LACKS.search(said)
    return lacks[1].decode() if lacks else None


def _drivers(before: set[psutil.Process]) -> list[psutil.Process]:
    drivers = []
    for child in set(psutil.Process().children()) - before:
        with contextlib.suppress(psutil.Error):
            if "run-driver" in child.cmdline():
                drivers.append(child)
    return drivers
