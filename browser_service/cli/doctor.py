"""Checks what a service needs of this machine, and says what to do if something is missing."""

import asyncio
import contextlib
import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import psutil

from browser_service.cli.check import Check
from browser_service.cli.running import service_of
from browser_service.cli.settings_checks import check_config, check_reach, check_settings
from browser_service.host.launching.launcher import Launcher
from browser_service.host.launching.memory import exact_mb
from browser_service.host.launching.options import LaunchOptions
from browser_service.installation import install_command
from browser_service.quarantine import files_set_aside
from browser_service.settings import Settings
from browser_service.store.journal_file import NewerJournal, check_version, damage_of
from client import environment, instance, ports
from shared import wire
from shared.data_files import JOURNAL_FILE
from shared.errors import BrowseError, ServiceUnavailable
from shared.secret import read_secret
from shared.written import fingerprint

_START_WITHIN_S: Final = 60
_OTHERS: Final = 0o077
_MB: Final = 1_000_000
_LEAST_FREE_MB: Final = 100


async def examine(settings: Settings) -> list[Check]:
    """Run all checks, the quick ones first."""
    running = service_of(settings.data_dir)
    return [
        check_versions(),
        *check_config(),
        check_reach(settings),
        check_data_dir(settings.data_dir),
        check_secret(settings.data_dir),
        check_journal(settings.data_dir, running),
        *check_aside(settings.data_dir),
        check_port(settings, running),
        *([check_running(running), check_settings(settings, running), check_memory(running)] if running else []),
        check_gateways(),
        check_display(settings),
        check_video(),
        *await check_browser(settings),
    ]


def check_versions() -> Check:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("playwright", "mcp", "pydantic"))
    found = f"{wire.APP_NAME} {wire.VERSION}, Python {platform.python_version()}, {libraries}; {platform.platform()}"
    return Check("versions", ok=True, found=found)


def check_gateways() -> Check:
    """Say which processes serve this account's chats."""
    mine = psutil.Process().username()
    found = list[str]()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if wire.SHARED_GATEWAY in process.cmdline() and process.username() == mine:
                found.append(f"pid {process.pid}, {process.memory_info().rss // _MB} MB")
    none = "none runs that chats share; the first chat starts it, unless BROWSE_SHARED is false"
    return Check("gateway", ok=True, found="; ".join(found) or none)


def check_data_dir(directory: Path) -> Check:
    """Check that the data directory can be written, without making it."""
    place = next(place for place in (directory, *directory.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        advice = "Make it writable for this account, or choose another: --data-dir or BROWSE_DATA_DIR."
        return Check("data dir", ok=False, found=f"{place} cannot be written: {error.strerror}", advice=advice)
    return Check("data dir", ok=True, found=f"{directory}" + ("" if place == directory else " (made at first start)"))


def check_secret(directory: Path) -> Check:
    """Check that the secret makes tokens, and that no other account of this machine can read it."""
    secret = directory / wire.SECRET_FILE
    try:
        read_secret(directory)
    except FileNotFoundError:
        return Check("secret", ok=True, found="none yet; made at first start, for this account alone")
    except ServiceUnavailable as error:
        return Check("secret", ok=False, found=error.message, advice=error.advice or "")
    if os.name == "posix":
        for path, mode in ((directory, 0o700), (secret, 0o600)):
            actual = path.stat().st_mode & 0o777
            if actual & _OTHERS:
                advice = f"chmod {mode:o} {path}; if others use this machine, then remove {secret} and start anew."
                return Check(
                    "secret", ok=False, found=f"{path} has mode {actual:04o}: others may read it", advice=advice
                )
    return Check("secret", ok=True, found=f"{secret}, for this account alone")


def check_journal(directory: Path, running: instance.Instance | None) -> Check:
    """Check that this version can read the journal, and that the running service can write it."""
    file = directory / JOURNAL_FILE
    if not file.exists():
        return Check("journal", ok=True, found="none yet; made at first start")
    try:
        check_version(file)
    except NewerJournal as error:
        return Check("journal", ok=False, found=str(error))
    if problem := damage_of(file):
        advice = "The next start sets it aside and begins a new one; logins of the shared profile stay."
        return Check("journal", ok=False, found=f"{file} is damaged: {problem}", advice=advice)
    if running and instance.readiness(running.url).get("storage") == "failing":
        advice = f"Free space in {directory}, or make it writable; the service goes on by itself then."
        return Check("journal", ok=False, found="the service cannot write to it now", advice=advice)
    free = shutil.disk_usage(directory).free
    found = f"{file}, sound; {free / _MB:,.0f} MB free"
    if free < _LEAST_FREE_MB * _MB:
        return Check("journal", ok=False, found=found, advice=f"Free space: {_LEAST_FREE_MB} MB should be there.")
    return Check("journal", ok=True, found=found)


def check_aside(directory: Path) -> list[Check]:
    """List the files that were set aside as unusable."""
    advice = "Nothing needs them any more: keep them for whoever can repair them, or remove them."
    names = ", ".join(path.name for path in files_set_aside(directory))
    return [Check("set aside", ok=True, found=names, advice=advice)] if names else []


def check_port(settings: Settings, running: instance.Instance | None) -> Check:
    """Check that the port is free, or used by this service."""
    address = f"{settings.host}:{settings.port}"
    if settings.port == 0:
        return Check("port", ok=True, found="any free one")
    if running and running.url.endswith(f":{settings.port}"):
        return Check("port", ok=True, found=f"{address}, used by this service")
    problem = _bind(settings)
    if problem is None:
        return Check("port", ok=True, found=f"{address} is free")
    other = instance.health(f"http://127.0.0.1:{settings.port}")
    by = f"a service with another data directory (process {other['pid']})" if other else ports.holder(settings.port)
    user = f", by {by}" if by else ""
    return Check(
        "port", ok=False, found=f"{address} cannot be used: {problem}{user}", advice="Choose another: --port or PORT."
    )


def check_running(running: instance.Instance) -> Check:
    """Check that the running service is of the installed version."""
    found = f"process {running.pid} at {running.url}, version {running.version}"
    if running.catalogue == fingerprint():
        return Check("service", ok=True, found=found)
    advice = "Restart it: browse-together down, then browse-together up --detach."
    return Check("service", ok=False, found=f"{found}, is of another version than this command", advice=advice)


def check_memory(running: instance.Instance) -> Check:
    """Measure what the service and its browsers use, in the same way as the service does."""
    try:
        service = psutil.Process(running.pid)
        children = service.children(recursive=True)
    except psutil.Error:
        return Check("memory", ok=False, found="the service has just ended")
    browsers, limit = exact_mb(children), instance.readiness(running.url).get("memoryLimitMb")
    limit_mb = limit if isinstance(limit, int) else 0
    of_limit = f"of {limit_mb:,} MB (BROWSE_MEMORY_MB)" if limit_mb else "without a limit (BROWSE_MEMORY_MB)"
    found = f"the service has {exact_mb([service]):,} MB, its browsers {browsers:,} MB {of_limit}"
    if 0 < limit_mb < browsers:
        advice = "Idle pages are parked, and new ones refused: close pages, or restart it with a higher limit."
        return Check("memory", ok=False, found=found, advice=advice)
    return Check("memory", ok=True, found=found)


def check_display(settings: Settings) -> Check:
    if settings.cdp_url:
        return Check("display", ok=True, found="none needed: the browser runs already")
    if settings.headless:
        return Check("display", ok=True, found="none needed: the browser runs headless")
    if not sys.platform.startswith("linux"):
        return Check("display", ok=True, found="this desktop's")
    if display := os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"):
        return Check("display", ok=True, found=display)
    advice = "Set HEADLESS=true, or give it a display (xvfb-run browse-together up)."
    return Check("display", ok=False, found="HEADLESS=false, and there is none", advice=advice)


def check_video() -> Check:
    """Look for the encoder of videos, which nothing else needs."""
    if find_spec("av"):
        return Check("video", ok=True, found=f"av {version('av')}")
    return Check(
        "video", ok=True, found="none: record_video needs the package av", advice=f"Get it: {install_command('video')}"
    )


async def check_browser(settings: Settings) -> list[Check]:
    """Check that the browser is found and starts, and that its sandbox is on."""
    options = LaunchOptions(
        profile_dir=settings.profile_dir,
        engine=settings.browser_type,
        executable=settings.executable_path,
        sandbox=settings.sandbox,
        cdp_url=settings.cdp_url,
    )
    if settings.cdp_url:
        return [await check_attached(options)]
    started = await _start(options)
    if started.ok:
        return [started, _sandbox(options)]
    if not options.sandboxed or "sandbox" not in started.found:
        return [started]
    return [await _start(replace(options, sandbox="off")), started._replace(name="sandbox")]


async def check_attached(options: LaunchOptions) -> Check:
    """Check that the browser to attach to is there, without opening anything in it."""
    launcher = Launcher(options)
    try:
        async with asyncio.timeout(_START_WITHIN_S):
            context = await launcher.persistent_context()
            version = context.browser.version if context.browser else "of unknown version"
            return Check("browser", ok=True, found=f"attached to {version}, which has {len(context.pages)} tabs open")
    except BrowseError as error:
        return Check("browser", ok=False, found=error.message, advice=error.advice or "")
    except TimeoutError:
        return Check("browser", ok=False, found=f"did not answer within {_START_WITHIN_S} s")
    finally:
        await launcher.stop()


async def try_browser(options: LaunchOptions) -> str:
    """Start the browser with a throw-away profile, take a picture, and return its executable. Raises BrowseError,
    TimeoutError."""
    temporary = tempfile.TemporaryDirectory(prefix="browse-together-", ignore_cleanup_errors=True)
    with temporary as profile, environment.needed_alone():
        launcher = Launcher(replace(options, profile_dir=Path(profile)))
        try:
            async with asyncio.timeout(_START_WITHIN_S):
                context = await launcher.persistent_context()
                page = context.pages[0] if context.pages else await context.new_page()
                await page.screenshot()
                return _executable(profile) or options.engine
        finally:
            await launcher.stop()


async def _start(options: LaunchOptions) -> Check:
    began = time.monotonic()
    try:
        found = await try_browser(options)
    except BrowseError as error:
        return Check("browser", ok=False, found=error.message, advice=error.advice or "")
    except TimeoutError:
        return Check("browser", ok=False, found=f"did not start within {_START_WITHIN_S} s")
    except Exception as error:  # noqa: BLE001 - whatever it was, it is what was found
        return Check("browser", ok=False, found=f"started, but did not work: {error}")
    return Check("browser", ok=True, found=f"{found} starts and takes a picture, in {time.monotonic() - began:.1f} s")


def _executable(profile: str) -> str:
    """Return the executable of the process that has this profile."""
    for process in psutil.Process().children(recursive=True):
        try:
            if any(profile in argument for argument in process.cmdline()):
                return process.exe()
        except psutil.Error:
            continue
    return ""


def _sandbox(options: LaunchOptions) -> Check:
    if options.engine != "chromium":
        return Check("sandbox", ok=True, found=f"{options.engine} has its own")
    if options.sandboxed:
        return Check("sandbox", ok=True, found="on")
    if options.sandbox == "off":
        return Check("sandbox", ok=True, found="off, as BROWSE_SANDBOX says")
    advice = "Run the service as an ordinary user to have it."
    return Check("sandbox", ok=True, found="off: Chromium refuses it to root", advice=advice)


def _bind(settings: Settings) -> str | None:
    """Return why the service cannot listen at its address; None if it can."""
    try:
        ports.bind(settings.host, settings.port).close()
    except OSError as error:
        return error.strerror or str(error)
    return None
