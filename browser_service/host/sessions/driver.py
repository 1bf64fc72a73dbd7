"""Starts Playwright's driver, which starts the browsers."""

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import playwright
import psutil
from playwright._impl._driver import compute_driver_executable
from playwright._impl.out_of_process import PlaywrightClient
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright

from browse_together.contract.errors import BrowserLaunchFailed
from browser_service.host.sessions.errors import REPEAT_HINT, driver_lacks
from browser_service.host.sessions.options import always

_STARTS_WITHIN_S: Final = 20
_SAYS_WITHIN_S: Final = 5
_LACKS: Final = re.compile(rb"error while loading shared libraries: (lib[\w.+-]+)")
"""What Linux's linker says of a program that it cannot start."""
SAME_SCRIPT: Final = Path(__file__).with_name("driver.cjs")
_LEAN: Final = "--max-semi-space-size=1 --v8-pool-size=1"
"""Make Node free memory early, with one thread for that: 25 of 150 MB less, in no more time (measured on Playwright
1.65)."""
_PLAYWRIGHT: Final = str(Path(playwright.__file__).parent)
_NAMES_CALLS: Final = "playwright._impl.channel_owner"

Started = tuple[Playwright, psutil.Process | None]


def economize(cache: Path) -> None:
    """Make the drivers that this process starts need less memory, cache in `cache` what they compile, and let the
    browser compile their script for pages once. Options in the user's environment come after ours, and win."""
    os.environ.setdefault("NODE_COMPILE_CACHE", str(cache))
    if "PLAYWRIGHT_NODEJS_PATH" not in os.environ:  # an older Node takes no such options from the environment
        ours = _LEAN
        os.environ["NODE_OPTIONS"] = f"{ours} {os.environ.get('NODE_OPTIONS', '')}".rstrip()


async def start_driver(may_act: Callable[[], bool] = always) -> Started:
    """Start the driver, and return it with its process. Whatever it is told while `may_act` says no is lost, so that no
    browser acts. Raises BrowserLaunchFailed if it ends, or does not answer."""
    _name_calls()
    before = set(psutil.Process().children())
    client = PlaywrightClient()
    _guard(client, may_act)
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            started = Playwright(await client._playwright)  # noqa: SLF001 - there is no public way
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
    started.stop = client.stop  # type: ignore[method-assign] # as Playwright's own context manager does
    return started, next(iter(_drivers(before)), None)


async def lacking_library() -> str | None:
    """Return the shared library that the driver's Node lacks to start; None if none is known."""
    node, _ = compute_driver_executable()
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


def _name_calls() -> None:
    """Name Playwright's calls ourselves, as its errors begin. Playwright lists all frames that led to a call, ours
    included, so each call would keep all that these refer to until garbage is collected, and cause most of that
    garbage."""
    if module := sys.modules.get(_NAMES_CALLS):
        vars(module)["capture_library_stack_trace"] = _name_of_call


def _name_of_call() -> dict[str, object]:
    """Return the outermost Playwright function that led here, and no frames, which only Playwright's own tools show."""
    frame = sys._getframe(1)  # noqa: SLF001 - as Playwright does
    while (outer := frame.f_back) is not None and outer.f_code.co_filename.startswith(_PLAYWRIGHT):
        frame = outer
    of, name = frame.f_locals.get("self"), frame.f_code.co_name
    return {"frames": [], "apiName": f"{type(of).__name__}.{name}" if of is not None else name}


def _drivers(before: set[psutil.Process]) -> list[psutil.Process]:
    drivers = []
    for child in set(psutil.Process().children()) - before:
        with contextlib.suppress(psutil.Error):
            if "run-driver" in child.cmdline():
                drivers.append(child)
    return drivers


def _guard(client: PlaywrightClient, may_act: Callable[[], bool]) -> None:
    """Send only what may be, and let the driver end without noise at any time, also as it starts: whoever waits for it
    fails with the connection.

    Nobody reads the futures that report the end, and asyncio would log that as our mistake. With uvloop, writes to a
    driver that has gone raise.
    """
    transport = client._transport  # noqa: SLF001 - there is no public way
    transport.on_error_future.add_done_callback(_read)
    connect, send = transport.connect, transport.send

    async def connect_and_read() -> None:
        await connect()
        if (pipe := transport._output) is not None:  # noqa: SLF001 - as above
            asyncio.ensure_future(pipe.wait_closed()).add_done_callback(_read)

    def send_guarded(message: dict[str, object]) -> None:
        if may_act():
            with contextlib.suppress(RuntimeError):
                send(message)

    transport.connect = connect_and_read  # type: ignore[method-assign] # there is no other way in
    transport.send = send_guarded  # type: ignore[method-assign] # as above


def _read(end: "asyncio.Future[None]") -> None:
    _ = end.cancelled() or end.exception()
