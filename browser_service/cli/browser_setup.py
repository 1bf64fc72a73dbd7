"""Finds a working browser, or installs one: `setup`."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from browse_together.contract.errors import BrowseError, BrowserLaunchFailed
from browse_together.contract.installation import command, typed
from browser_service.cli import output
from browser_service.cli.options import new_app
from browser_service.settings import Settings

_INSTALLED_WITHIN_S: Final = 1_800
_START_HINT: Final = "It did not start in time. Repeat the command."

app = new_app()


@app.command()
def setup(
    *,
    browser_type: Annotated[
        Literal["chromium", "firefox", "webkit"] | None,
        typer.Option("--browser-type", metavar="ENGINE", help="chromium, firefox or webkit (BROWSER_TYPE)."),
    ] = None,
) -> None:
    """Find a browser that starts here, or install Playwright's own; then say how to set up a chat client."""
    settings = Settings() if browser_type is None else Settings(browser_type=browser_type)
    found = _working_browser(settings)
    if isinstance(found, BrowseError):
        if settings.executable_path or _driver_fails():
            raise found  # a named browser is the wanted one
        output.say(f"{found.message} Installing Playwright's {settings.browser_type}.")
        _install(settings.browser_type)
        found = _working_browser(settings)
    if isinstance(found, BrowseError):
        raise _unusable(found, settings.browser_type)
    output.say(f"The browser is {found}.")
    output.say(f"Now set up a chat client: {command('install', 'claude-code')}")


def _working_browser(settings: Settings) -> str | BrowseError:
    """Return the executable of the browser that a service would start, or the error if it does not start."""
    from browser_service.cli.browser_check import try_browser  # noqa: PLC0415 - Playwright, which help does not need
    from browser_service.host.sessions.options import LaunchOptions  # noqa: PLC0415 - as above

    options = LaunchOptions(
        profile_dir=Path(),
        engine=settings.browser_type,
        executable=settings.executable_path,
        sandbox="off",  # `doctor` checks whether that works
    )
    try:
        return asyncio.run(try_browser(options))
    except BrowseError as error:
        return error
    except TimeoutError:
        return BrowserLaunchFailed("The browser did not start in time.", hint=_START_HINT)


def _driver_fails() -> bool:
    """Return whether Playwright's driver cannot start, and so cannot download anything."""
    from browser_service.host.sessions.driver import lacking_library  # noqa: PLC0415 - as above

    return asyncio.run(lacking_library()) is not None


def _install(engine: str) -> None:
    """Let Playwright download its browser, with progress on the terminal. Raises BrowserLaunchFailed."""
    words = [sys.executable, "-m", "playwright", "install", engine]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, timeout=_INSTALLED_WITHIN_S, check=False)
        problem = f"exit code {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        problem = f"it did not end within {_INSTALLED_WITHIN_S} s"
    if problem:
        raise BrowserLaunchFailed(
            f"Playwright's {engine} could not be installed: {typed(*words)} failed, {problem}.",
            hint="Install Chrome, Edge or Chromium by other means, or name one in BROWSE_EXECUTABLE_PATH; then repeat.",
        )


def _unusable(error: BrowseError, engine: str) -> BrowserLaunchFailed:
    """Make the error for an existing browser that does not start: on Linux, usually libraries are missing."""
    hint = error.advice or ""
    if sys.platform.startswith("linux"):
        libraries = typed(sys.executable, "-m", "playwright", "install-deps", engine)
        hint = f"If the system lacks libraries of it, an administrator brings them: {libraries}"
    return BrowserLaunchFailed(error.message, hint=hint)
