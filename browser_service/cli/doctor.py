"""Checks what a service needs from this machine, and says what to do if something is missing."""

import asyncio
import os
import platform
import shutil
import sys
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import psutil

from browse_together.client import config_file, config_place, instance, ports
from browse_together.contract import variables, wire
from browse_together.contract.data_files import JOURNAL_FILE
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.installation import install_command
from browse_together.contract.secret import read_secret
from browse_together.contract.written import fingerprint
from browser_service.cli import config, flags
from browser_service.cli.browser_check import Check, check_browser, sound, wrong
from browser_service.cli.running import places, restart, rules_of, running_settings
from browser_service.cli.starting import service_of
from browser_service.host.sessions.memory import exact_mb
from browser_service.quarantine import files_set_aside
from browser_service.settings import Settings
from browser_service.store.journal_file import NewerJournal, check_version, damage_of

_OTHERS: Final = 0o077
_MB: Final = 1_000_000
_LEAST_FREE_MB: Final = 100


def examine(settings: Settings) -> list[Check]:
    """Run all checks, quick ones first."""
    running = service_of(settings.data_dir)
    return [
        check_versions(),
        *check_config(),
        *check_variables(),
        *check_rules(settings, running),
        check_data_dir(settings.data_dir),
        check_secret(settings.data_dir),
        check_journal(settings.data_dir, running),
        *check_aside(settings.data_dir),
        check_port(settings, running),
        *(
            [check_running(running, settings.data_dir), check_settings(settings), check_memory(running)]
            if running
            else []
        ),
        check_display(settings),
        check_video(),
        *asyncio.run(check_browser(settings)),
    ]


def check_versions() -> Check:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("playwright", "mcp", "pydantic"))
    found = f"{wire.APP_NAME} {wire.VERSION}, Python {platform.python_version()}, {libraries}; {platform.platform()}"
    return sound("versions", found)


def check_config() -> list[Check]:
    """Name the settings file, if there is one, and check that no other account can read a secret in it."""
    file = config_place.path()
    if not file.is_file():
        return []
    names = [*config_file.contents()]
    secrets = [name for name in names if config.is_secret(name)]
    if os.name == "posix" and secrets and file.stat().st_mode & _OTHERS:
        found = f"others may read {', '.join(secrets)} in {file}"
        return [wrong("config", found, f"chmod 600 {file}")]
    return [sound("config", f"{file} sets {', '.join(names) or 'nothing'}")]


def check_variables() -> list[Check]:
    """Name each of our variables that no program reads."""
    return [wrong("variables", line) for line in variables.misspelt(os.environ)]


def check_settings(settings: Settings) -> Check:
    """Compare the running service's settings with those of a start from here. A difference is no fault."""
    account = running_settings(settings)
    if account is None:
        return sound("settings", "the running service does not say them")
    if not account.after_restart:
        return sound("settings", "those of the running service are as here")
    found = f"the running service has others than {places()}: {account.difference}"
    return sound("settings", found, restart(settings.data_dir))


def check_rules(settings: Settings, running: instance.Instance | None) -> list[Check]:
    """Check that the owner's rules for acts can be read, if there are any."""
    rules = rules_of(settings, is_running=running is not None)
    return [Check("rules", rules.ok, rules.found, rules.advice)] if rules else []


def check_data_dir(directory: Path) -> Check:
    """Check that the data directory can be written, without creating it."""
    place = next(place for place in (directory, *directory.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        advice = "Make it writable for this account, or choose another: --data-dir or BROWSE_DATA_DIR."
        return wrong("data dir", f"{place} cannot be written: {error.strerror}", advice)
    return sound("data dir", f"{directory}" + ("" if place == directory else " (made at first start)"))


def check_secret(directory: Path) -> Check:
    """Check that the secret can be used, and that no other account of this machine can read it."""
    secret = directory / wire.SECRET_FILE
    try:
        read_secret(directory)
    except FileNotFoundError:
        return sound("secret", "none yet; made at first start, for this account alone")
    except ServiceUnavailable as error:
        return wrong("secret", error.message, error.advice or "")
    if os.name == "posix":
        for path, mode in ((directory, 0o700), (secret, 0o600)):
            actual = path.stat().st_mode & 0o777
            if actual & _OTHERS:
                advice = f"chmod {mode:o} {path}; if others use this machine, then remove {secret} and start anew."
                return wrong("secret", f"{path} has mode {actual:04o}: others may read it", advice)
    return sound("secret", f"{secret}, for this account alone")


def check_journal(directory: Path, running: instance.Instance | None) -> Check:
    """Check that this version can read the journal, and that the running service can write it."""
    file = directory / JOURNAL_FILE
    if not file.exists():
        return sound("journal", "none yet; made at first start")
    try:
        check_version(file)
    except NewerJournal as error:
        return wrong("journal", str(error))
    if problem := damage_of(file):
        advice = "The next start sets it aside and begins a new one; logins of the shared profile stay."
        return wrong("journal", f"{file} is damaged: {problem}", advice)
    if running and instance.readiness(running.url).get("storage") == "failing":
        advice = f"Free space in {directory}, or make it writable; the service goes on by itself then."
        return wrong("journal", "the service cannot write to it now", advice)
    free = shutil.disk_usage(directory).free
    found = f"{file}, sound; {free / _MB:,.0f} MB free"
    if free < _LEAST_FREE_MB * _MB:
        return wrong("journal", found, f"Free space: {_LEAST_FREE_MB} MB should be there.")
    return sound("journal", found)


def check_aside(directory: Path) -> list[Check]:
    """List the files that were set aside as unusable."""
    advice = "Nothing needs them any more: keep them for whoever can repair them, or remove them."
    names = ", ".join(path.name for path in files_set_aside(directory))
    return [sound("set aside", names, advice)] if names else []


def check_port(settings: Settings, running: instance.Instance | None) -> Check:
    """Check that the port is free, or used by this service."""
    address = f"{settings.host}:{settings.port}"
    if settings.port == 0:
        return sound("port", "any free one")
    if running and running.url.endswith(f":{settings.port}"):
        return sound("port", f"{address}, used by this service")
    try:
        ports.bind(settings.host, settings.port).close()
    except OSError as error:
        found = f"{address} cannot be used: {error.strerror or error}"
        other = instance.health(f"http://127.0.0.1:{settings.port}")
        by = f"a service with another data directory (process {other['pid']})" if other else ports.holder(settings.port)
        return wrong("port", f"{found}, by {by}" if by else found, "Choose another: --port or PORT.")
    return sound("port", f"{address} is free")


def check_running(running: instance.Instance, data_dir: Path) -> Check:
    """Check that the running service has the installed version."""
    found = f"process {running.pid} at {running.url}, version {running.version}"
    if running.catalogue == fingerprint():
        return sound("service", found)
    advice = f"Restart it: {flags.restart(data_dir)}."
    return wrong("service", f"{found}, is of another version than this command", advice)


def check_memory(running: instance.Instance) -> Check:
    """Measure the memory of the service and its browsers, in the same way as the service does."""
    try:
        service = psutil.Process(running.pid)
        children = service.children(recursive=True)
    except psutil.Error:
        return wrong("memory", "the service has just ended")
    browsers, limit = exact_mb(children), instance.readiness(running.url).get("memoryLimitMb")
    limit_mb = limit if isinstance(limit, int) else 0
    of_limit = f"of {limit_mb:,} MB (BROWSE_MEMORY_MB)" if limit_mb else "without a limit (BROWSE_MEMORY_MB)"
    found = f"the service has {exact_mb([service]):,} MB, its browsers {browsers:,} MB {of_limit}"
    if 0 < limit_mb < browsers:
        advice = "Idle pages are parked, and new ones refused: close pages, or restart it with a higher limit."
        return wrong("memory", found, advice)
    return sound("memory", found)


def check_display(settings: Settings) -> Check:
    if settings.cdp_url or settings.headless:
        return sound("display", f"none needed: the browser runs {'already' if settings.cdp_url else 'headless'}")
    if not sys.platform.startswith("linux"):
        return sound("display", "this desktop's")
    if display := os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"):
        return sound("display", display)
    advice = "Set HEADLESS=true, or give it a display (xvfb-run browse-together up)."
    return wrong("display", "HEADLESS=false, and there is none", advice)


def check_video() -> Check:
    """Look for the video encoder, which nothing else needs."""
    if find_spec("av"):
        return sound("video", f"av {version('av')}")
    return sound("video", "none: record_video needs the package av", f"Get it: {install_command('video')}")
