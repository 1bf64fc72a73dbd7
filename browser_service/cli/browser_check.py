"""Checks that a service's browser starts: for `doctor` and `setup`."""

import asyncio
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from browse_together.client import environment
from browse_together.contract.attached import AttachTarget
from browse_together.contract.errors import BrowseError
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.host.sessions.attachment import Attachment
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.options import LaunchOptions
from browser_service.host.sessions.user_browsers import Listening, at_start
from browser_service.settings import Settings


class Check(NamedTuple):
    """A finding, and what to do about it."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def sound(name: str, found: str, advice: str = "") -> Check:
    return Check(name, ok=True, found=found, advice=advice)


def wrong(name: str, found: str, advice: str = "") -> Check:
    return Check(name, ok=False, found=found, advice=advice)


_START_WITHIN_S: Final = 60


async def check_browser(settings: Settings) -> list[Check]:
    """Check that the browser is found and starts, and that its sandbox is on."""
    options = LaunchOptions(
        profile_dir=settings.profile_dir,
        engine=settings.browser_type,
        executable=settings.executable_path,
        sandbox=settings.sandbox,
        cdp_url=settings.cdp_url,
        cdp_headers=settings.header_values,
    )
    started = await _start(options)
    if settings.cdp_url:
        return [started]
    own = [await _look(options, settings.attach_target)] if settings.attach_target else []
    return [*own, *await _with_sandbox(options, started)]


async def _look(options: LaunchOptions, target: AttachTarget) -> Check:
    """Check that the person's own browser can be attached to, without asking them."""
    attachment = Attachment(options)
    attachment.target = target
    try:
        return sound("your own", _found(await attachment.look()))
    except BrowseError as error:
        return wrong("your own", error.message, error.advice or "")


def _found(browser: Listening) -> str:
    who = "asks its person who may" if browser.asks else "lets everybody"
    return f"{at_start(browser.title)} runs, and {who} attach to it"


async def _with_sandbox(options: LaunchOptions, started: Check) -> list[Check]:
    if started.ok:
        return [started, _sandbox(options)]
    if not options.sandboxed or "sandbox" not in started.found:
        return [started]
    return [await _start(replace(options, sandbox="off")), started._replace(name="sandbox")]


async def try_browser(options: LaunchOptions) -> str:
    """Start the browser with a temporary profile, take a picture, and return its executable. Raises BrowseError,
    TimeoutError."""
    temporary = tempfile.TemporaryDirectory(prefix="browse-together-", ignore_cleanup_errors=True)
    with temporary as profile, environment.needed_alone():
        launcher = Launcher(replace(options, profile_dir=Path(profile)))
        try:
            async with asyncio.timeout(_START_WITHIN_S):
                context = (await launcher.shared_browser()).profile
                page = context.pages[0] if context.pages else await context.new_page()
                await page.screenshot()
                return _executable(profile) or options.engine
        finally:
            await launcher.stop()


async def _start(options: LaunchOptions) -> Check:
    began = time.monotonic()
    try:
        if options.cdp_url:
            return sound("browser", await _attach(options))
        found = await try_browser(options)
    except BrowseError as error:
        return wrong("browser", error.message, error.advice or "")
    except TimeoutError:
        return wrong("browser", f"did not {'answer' if options.cdp_url else 'start'} within {_START_WITHIN_S} s")
    except Exception as error:  # noqa: BLE001 - whatever it was, it is what was found
        return wrong("browser", f"started, but did not work: {error}")
    return sound("browser", f"{found} starts and takes a picture, in {time.monotonic() - began:.1f} s")


async def _attach(options: LaunchOptions) -> str:
    """Attach to the browser without opening anything in it, and describe it. Raises BrowseError, TimeoutError."""
    launcher = Launcher(options)
    try:
        async with asyncio.timeout(_START_WITHIN_S):
            attachment = launcher.attachments.of(DEFAULT_SESSION)
            if (found := await attachment.look()).asks:
                return _found(found)
            context = (await attachment.browser()).profile
            version = context.browser.version if context.browser else "of unknown version"
            return f"attached to {version}, which has {len(context.pages)} tabs open"
    finally:
        await launcher.stop()


def _executable(profile: str) -> str:
    for process in psutil.Process().children(recursive=True):
        try:
            if any(profile in argument for argument in process.cmdline()):
                return process.exe()
        except psutil.Error:
            continue
    return ""


def _sandbox(options: LaunchOptions) -> Check:
    if options.engine != "chromium":
        return sound("sandbox", f"{options.engine} has its own")
    if options.sandboxed:
        return sound("sandbox", "on")
    if options.sandbox == "off":
        return sound("sandbox", "off, as BROWSE_SANDBOX says")
    return sound("sandbox", "off: Chromium refuses it to root", "Run the service as an ordinary user to have it.")
