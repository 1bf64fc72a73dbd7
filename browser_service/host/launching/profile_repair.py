"""Sets aside what a browser cannot use of its profile, and finds out if the profile is at fault."""

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from browser_service.host.close import bounded
from browser_service.host.launching.errors import UNEXPLAINED
from browser_service.store.journal_file import damage_of
from browser_service.store.quarantine import set_aside
from shared.errors import BrowserLaunchFailed

_COOKIES: Final = (Path("Default", "Cookies"), Path("Default", "Network", "Cookies"))
_BACK: Final = "Cookies come back from what the service has saved; pages' own storage does not."


def repair(profile: Path) -> list[str]:
    """Set aside a damaged file of cookies before the browser silently removes it. Return what was done."""
    if profile.exists() and not profile.is_dir():
        return [f"The profile was no folder: it lies aside as {set_aside(profile).name}. {_BACK}"]
    told = []
    for name in _COOKIES:
        file = profile / name
        if file.is_file() and damage_of(file):
            told.append(f"The profile's cookies were damaged: they lie aside as {set_aside(file, ('-journal',)).name}.")
    return told


def may_be_profile(failed: BrowserLaunchFailed) -> bool:
    """Say if the profile may be the reason: no other one is known."""
    return failed.message.startswith(UNEXPLAINED)


async def starts_on_empty(profile: Path, start: Callable[[Path], Awaitable[BrowserContext]]) -> bool:
    """Say if a browser that does not start on this profile starts on an empty one."""
    if _is_new(profile):
        return False
    with tempfile.TemporaryDirectory(prefix="browse-together-", ignore_cleanup_errors=True) as empty:
        try:
            await bounded((await start(Path(empty))).close())
        except PlaywrightError:
            return False
    return True


def set_profile_aside(profile: Path) -> str:
    """Set the profile aside, and return the notice of it."""
    return f"The browser did not start on its profile: that lies aside as {set_aside(profile).name}. {_BACK}"


def _is_new(profile: Path) -> bool:
    return not profile.is_dir() or not any(profile.iterdir())
