"""Starts Playwright's driver, which starts the browsers."""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Final

import psutil
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright
from playwright.async_api._context_manager import PlaywrightContextManager

from browser_service.host.elements.locators import register_ref_engine
from browser_service.host.launching.errors import REPEAT_HINT
from shared.errors import BrowserLaunchFailed

_STARTS_WITHIN_S: Final = 20
_LEAN: Final = "--max-semi-space-size=1 --v8-pool-size=1"
"""Has Node give back what it no longer needs soon, with one thread for it: 25 of 150 MB, in no more time (measured on
Playwright 1.65)."""


def economize(cache: Path) -> None:
    """Have the drivers that this process starts need less memory, and keep there what they compile. What the user says
    in the environment comes after ours, and holds."""
    os.environ.setdefault("NODE_COMPILE_CACHE", str(cache))
    if "PLAYWRIGHT_NODEJS_PATH" not in os.environ:  # an older Node takes no such options from the environment
        os.environ["NODE_OPTIONS"] = f"{_LEAN} {os.environ.get('NODE_OPTIONS', '')}".rstrip()


async def start_driver() -> tuple[Playwright, psutil.Process | None]:
    """Start the driver, and return it with its process. Raises BrowserLaunchFailed if it ends, or does not answer."""
    before = set(psutil.Process().children())
    manager = async_playwright()
    try:
        async with asyncio.timeout(_STARTS_WITHIN_S):
            playwright = await manager.start()
            await register_ref_engine(playwright)
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
        raise BrowserLaunchFailed(f"Playwright's driver ended as it started: {error}.", hint=REPEAT_HINT) from error
    _tolerate_end(manager)
    return playwright, next(iter(_drivers(before)), None)


def _drivers(before: set[psutil.Process]) -> list[psutil.Process]:
    drivers = []
    for child in set(psutil.Process().children()) - before:
        with contextlib.suppress(psutil.Error):
            if "run-driver" in child.cmdline():
                drivers.append(child)
    return drivers


def _tolerate_end(manager: PlaywrightContextManager) -> None:
    """Let the driver end without noise: whoever waits for it fails with the connection.

    Nobody reads the future that reports the end, and asyncio would log that as our mistake. Writes to a driver that has
    gone raise with uvloop.
    """
    client = manager._client  # noqa: SLF001 - there is no public way
    if client is None:
        return
    transport = client._transport  # noqa: SLF001 - nor here
    transport.on_error_future.add_done_callback(lambda future: future.cancelled() or future.exception())
    send = transport.send

    def send_if_open(message: dict[str, object]) -> None:
        with contextlib.suppress(RuntimeError):
            send(message)

    transport.send = send_if_open  # type: ignore[method-assign] # there is no other way in
