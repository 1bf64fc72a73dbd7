"""Opens a person's window for signing in, waits for its end, and reports what changed."""

import asyncio
from typing import NamedTuple

from browser_service.host.launching.launcher import Launcher
from browser_service.host.launching.ordinary_window import OrdinaryWindow, check_display
from shared.errors import BrowserLaunchFailed, TimedOut, ValidationFailed, field_details
from shared.model import Json
from shared.next_calls import next_call
from shared.pages import SessionSpec


class SignedIn(NamedTuple):
    """Reports what a window for signing in changed."""

    sites: list[str]
    has_session_cookies: bool

    @property
    def summary(self) -> str:
        sites = f"cookies are new or changed of: {', '.join(self.sites)}" if self.sites else "no cookie has changed"
        lost = "" if self.has_session_cookies else "; those that sites set for the session alone ended with the window"
        return f"the window was closed; {sites}{lost}"


def check(spec: SessionSpec, launcher: Launcher) -> None:
    """Raise if no window on the profile can be opened."""
    if not spec.profile:
        raise ValidationFailed(
            f"login works in the shared login only, not in session {spec.session_id!r}, which has no profile.",
            hint="Leave sessionId out.",
            details=field_details("sessionId"),
        )
    if launcher.attached:
        raise BrowserLaunchFailed(
            "The shared browser is one that runs already (BROWSE_CDP_URL): no window of its profile can be opened.",
            hint="Have the person sign in there, in its own window; then open_page, which has that login.",
        )
    if launcher.options.engine != "chromium":
        raise BrowserLaunchFailed(
            f"An ordinary window on the shared profile works with Chromium only, not with {launcher.options.engine}.",
            hint="Bring the login from another browser: browse-together import FILE.",
        )
    check_display()


async def wait_until_closed(launcher: Launcher, url: str | None) -> None:
    """Open the window, and wait until its person closes it. Raises TimedOut."""
    window = await _open_window(launcher, url)
    seconds = launcher.options.login_within_s
    try:
        async with asyncio.timeout(seconds):
            await window.closed()
    except TimeoutError:
        raise TimedOut(
            f"The window for signing in was still open after {seconds} s, and was closed. What was "
            "signed in until then is kept.",
            hint=f"Look whether the site knows you now, or start anew: {next_call('login')}. "
            "BROWSE_LOGIN_WITHIN_S sets it.",
        ) from None
    finally:
        await window.close()


async def _open_window(launcher: Launcher, url: str | None) -> OrdinaryWindow:
    """Open the window completely or not at all: one that nobody knows of would keep the profile."""
    opening = asyncio.create_task(launcher.open_person_window(url))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        await (await opening).close()
        raise


def changed_sites(before: list[Json], after: list[Json]) -> list[str]:
    """List the sites whose cookies changed."""
    old, new = ({(*cookie_key(cookie), cookie.get("value")) for cookie in cookies} for cookies in (before, after))
    return sorted({str(domain).lstrip(".") for _, domain, _, _ in old ^ new})


def cookie_key(cookie: Json) -> tuple[object, ...]:
    return cookie.get("name"), cookie.get("domain"), cookie.get("path")
