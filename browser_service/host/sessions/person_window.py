"""Opens an ordinary window of the shared browser for a person who signs in, with no sign of automation."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import IO, Final, NamedTuple, Self

import psutil

from browse_together.contract.background import AtMost
from browse_together.contract.errors import BrowserLaunchFailed, TimedOut, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import SessionSpec
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.options import QUIET_ARGS, QUIET_FEATURES, LaunchOptions
from browser_service.host.sessions.processes import interrupt

_OTHER_WAYS: Final = (
    "Bring a login from another browser: browse-together import FILE. Or work in a browser that runs already: "
    "BROWSE_CDP_URL. Or start the service where there is a display."
)
_SWITCHES: Final = (
    "--password-store=basic",
    "--use-mock-keychain",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-crash-restore-bubble",
)
"""The first two name the place where Playwright's browsers keep the key of their cookies: with another place, both
would lose them."""
_SHOWN_OUTPUT: Final = 2_000


class OrdinaryWindow:
    """A browser process, which ends when the person closes its last window."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: IO[bytes]) -> None:
        self._process = process
        self._stderr = stderr
        self.process = psutil.Process(process.pid)

    @classmethod
    async def open(cls, executable: Path, options: LaunchOptions, url: str | None) -> Self:
        """Start the browser on the profile that the options name."""
        switches = [f"--user-data-dir={options.profile_dir}", *_SWITCHES, *QUIET_ARGS, QUIET_FEATURES]
        if not options.sandboxed:
            switches.append("--no-sandbox")
        if options.proxy:
            switches.append(f"--proxy-server={options.proxy}")
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        process = await asyncio.create_subprocess_exec(
            executable,
            *switches,
            *([url] if url else []),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        return cls(process, stderr)

    async def closed(self) -> None:
        """Wait until the person closes the window. Raises BrowserLaunchFailed if it ended badly, as on a broken
        display."""
        code = await self._process.wait()
        if code != 0:
            self._stderr.seek(0)
            output = self._stderr.read()[-_SHOWN_OUTPUT:].decode(errors="replace")
            raise BrowserLaunchFailed(
                f"The window for signing in ended with exit code {code}.",
                hint=_OTHER_WAYS,
                details={"context": {"lastError": output}},
            )

    async def close(self) -> None:
        """Close the window if it is still open, so that it can write its cookies."""
        if self._process.returncode is None:
            await asyncio.to_thread(interrupt, self.process)
        async with AtMost(1):
            await self._process.wait()
        self._stderr.close()


class SignedIn(NamedTuple):
    """The changes that a window for signing in made."""

    sites: list[str]
    has_session_cookies: bool

    @property
    def summary(self) -> str:
        sites = f"cookies are new or changed of: {', '.join(self.sites)}" if self.sites else "no cookie has changed"
        lost = "" if self.has_session_cookies else "; those that sites set for the session alone ended with the window"
        return f"the window was closed; {sites}{lost}"


def check(spec: SessionSpec, launcher: Launcher) -> None:
    """Raise ValidationFailed or BrowserLaunchFailed if no window on the profile can be opened."""
    if not spec.profile:
        raise ValidationFailed(
            f"login works in the shared login only, not in session {spec.session_id!r}, which has no profile.",
            hint="Leave sessionId out.",
            details=field_details("sessionId"),
        )
    if launcher.attaches(spec):
        raise BrowserLaunchFailed(
            "The shared browser is one that runs already (BROWSE_CDP_URL): no window of its profile can be opened.",
            hint="Have the person sign in there, in its own window; then open_page, which has that login.",
        )
    if launcher.options.engine != "chromium":
        raise BrowserLaunchFailed(
            f"An ordinary window on the shared profile works with Chromium only, not with {launcher.options.engine}.",
            hint="Bring the login from another browser: browse-together import FILE.",
        )
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise BrowserLaunchFailed("No window can be opened: the service has no display.", hint=_OTHER_WAYS)


async def wait_until_closed(launcher: Launcher, url: str | None) -> None:
    """Open the window, and wait until its person closes it. Raises TimedOut if they take too long."""
    window = await _open_window(launcher, url)
    seconds = launcher.options.login_within_s
    try:
        async with asyncio.timeout(seconds):
            await window.closed()
    except TimeoutError:
        raise TimedOut(
            f"The window for signing in was still open after {seconds} s, and was closed. What was "
            "signed in until then is kept.",
            hint=f"Look whether the site knows you now, or start anew: {next_call('login')}.",
        ) from None
    finally:
        await window.close()


async def _open_window(launcher: Launcher, url: str | None) -> OrdinaryWindow:
    """Open the window in place of the browser, completely or not at all: a window that nobody knows of would keep the
    profile."""

    async def open_window() -> OrdinaryWindow:
        window = await OrdinaryWindow.open(await launcher.lend_profile(), launcher.options, url)
        launcher.profile.record_window(window.process)
        return window

    opening = asyncio.create_task(open_window())
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        await (await opening).close()
        raise


def changed_sites(before: list[Json], after: list[Json]) -> list[str]:
    old, new = ({(*cookie_key(cookie), cookie.get("value")) for cookie in cookies} for cookies in (before, after))
    return sorted({str(domain).lstrip(".") for _, domain, _, _ in old ^ new})


def cookie_key(cookie: Json) -> tuple[object, ...]:
    return cookie.get("name"), cookie.get("domain"), cookie.get("path")
