"""Why a browser did not start, or could not be attached to: Playwright's words made ours."""

from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from browser_service.browser import errors
from browser_service.browser.launching.options import LaunchOptions
from shared.calls import Json
from shared.errors import BrowserLaunchFailed

STARTS: Final = 3
"""How often one is started that is killed while it starts."""
UNEXPLAINED: Final = ("The browser ended as it started", "The browser did not start")
AGAIN: Final = "Repeat the call: it is started anew. `browse-together doctor` checks."


def not_attached(error: PlaywrightError, url: str) -> BrowserLaunchFailed:
    """Without the URL's path, which is the key to that browser."""
    parts = urlsplit(url)
    return BrowserLaunchFailed(
        f"No browser could be attached to at {parts.scheme}://{parts.netloc.rpartition('@')[2]} (BROWSE_CDP_URL).",
        hint="Start it with --remote-debugging-port=9222 and a --user-data-dir of its own, or correct BROWSE_CDP_URL, "
        "or unset it for a browser of the service's own. `browse-together doctor` checks.",
        details={"context": {"lastError": str(error).splitlines()[0].replace(parts.path or url, "")[:300]}},
    )


_NO_SANDBOX: Final = ("No usable sandbox", "setuid sandbox is not running", "Running as root without --no-sandbox")


def launch_failed(error: PlaywrightError, options: LaunchOptions) -> BrowserLaunchFailed:
    text = str(error)
    details: Json = {"context": {"lastError": text[:2_000]}}
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
    if "Executable doesn't exist" in text:
        return BrowserLaunchFailed("The browser is not installed.", details=details)
    if "ProcessSingleton" in text or "SingletonLock" in text:
        return BrowserLaunchFailed(
            f"Another browser has the profile {options.profile_dir.name} open.",
            hint="Close that browser, or give this service a data directory of its own: BROWSE_DATA_DIR.",
            details=details,
        )
    if any(said in text for said in _NO_SANDBOX):
        return BrowserLaunchFailed(
            "Chromium could not start its sandbox.",
            hint="Allow user namespaces on this machine, or set BROWSE_SANDBOX=off where that is acceptable.",
            details=details,
        )
    if not options.headless and ("XServer" in text or "$DISPLAY" in text or "headed" in text):
        return BrowserLaunchFailed(
            "A window was asked for, but there is no display.", hint="Set HEADLESS=true.", details=details
        )
    if errors.is_closed(error):
        return BrowserLaunchFailed(
            f"{UNEXPLAINED[0]}, {STARTS} times in a row: {_last_words(text)}",
            hint=AGAIN,
            details=details,
        )
    return BrowserLaunchFailed(f"{UNEXPLAINED[1]}: {first[:300]}", details=details)


def _last_words(text: str) -> str:
    """What a browser said before its end, and how that came, by Playwright's log of it."""
    lines = [line.strip() for line in text.splitlines()]
    ended = next((line for line in lines if "process did exit" in line), "")
    said = next((line for line in reversed(lines) if "[err]" in line), "")
    return "; ".join(line[:200] for line in (said.partition("[err] ")[2], ended.strip("- <>[]")) if line) or "no reason"
