"""Builds the errors for a browser that does not start, or to which we cannot attach."""

import re
from typing import Final
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import BrowserLaunchFailed
from browse_together.contract.installation import command
from browse_together.contract.model import Json
from browser_service.host import errors
from browser_service.host.sessions.options import LaunchOptions

ATTEMPTS: Final = 3
"""How often we start a browser that is killed while it starts."""
UNEXPLAINED: Final = ("The browser ended as it started", "The browser did not start")
REPEAT_HINT: Final = f"Repeat the call: it is started anew. `{command('doctor')}` checks."


def driver_lacks(library: str) -> BrowserLaunchFailed:
    """Build the error for a driver that needs a shared library which this machine lacks. No browser starts without
    it."""
    name, _, number = library.partition(".so.")
    package = name.replace("_", "-") + number.partition(".")[0]  # Debian's packages of libraries have such names
    return BrowserLaunchFailed(
        f"Playwright's driver does not start: this machine lacks {library}.",
        hint=f"Have an administrator install it (on Debian and Ubuntu: apt-get install {package}), then repeat.",
    )


def attach_failed(error: PlaywrightError, url: str) -> BrowserLaunchFailed:
    """Build the error for a browser to which we cannot attach, without the URL's path, which is the key to it."""
    parts = urlsplit(url)
    return BrowserLaunchFailed(
        f"No browser could be attached to at {parts.scheme}://{parts.netloc.rpartition('@')[2]} (BROWSE_CDP_URL).",
        hint="Start it with --remote-debugging-port=9222 and a --user-data-dir of its own, or correct BROWSE_CDP_URL, "
        f"or unset it for a browser of the service's own. `{command('doctor')}` checks.",
        details={"context": {"lastError": str(error).splitlines()[0].replace(parts.path or url, "")[:300]}},
    )


def start_timeout(seconds: int) -> BrowserLaunchFailed:
    """Build the error for a browser that hung as it started."""
    return BrowserLaunchFailed(f"The browser did not start within {seconds} s, and was ended.", hint=REPEAT_HINT)


def install_hint(engine: str) -> str:
    return f"Install it: {command('setup', '--browser-type', engine)} (Or leave browserType out.)"


def setup_hint(engine: str) -> str:
    """Name the command that installs the service's own browser, in a form that works anywhere."""
    other = () if engine == "chromium" else ("--browser-type", engine)
    return f"Install it, then repeat the call: {command('setup', *other)}"


_NO_SANDBOX: Final = ("No usable sandbox", "setuid sandbox is not running", "Running as root without --no-sandbox")


_MOST_LINES: Final = 3
_MOST_LINE: Final = 200
_OUTPUT: Final = re.compile(r"^\W*\[pid=\d+\]\[(?:out|err)\] *(.*\S)", re.MULTILINE)
"""What the browser wrote to stdout or stderr, in Playwright's log of its start."""
_EXIT: Final = re.compile(r"process did exit: exitCode=(\w+), signal=(\w+)")
_COMMAND: Final = re.compile(r"(<launching> (?:(?! --).)*) --.*")
"""The command line, which is thousands of characters long and comes before all that is worth reading."""
_OUTSIDE_SIGNALS: Final = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"})
"""A browser that one of these signals ended may start the next time."""


def launch_failed(error: PlaywrightError, options: LaunchOptions, *, starts: int = ATTEMPTS) -> BrowserLaunchFailed:
    """Build the error for a browser that did not start, in `starts` attempts."""
    text = _COMMAND.sub(r"\1", str(error))
    details: Json = {"context": {"lastError": text[:2_000]}}
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no reason given")
    if "Executable doesn't exist" in text:
        return BrowserLaunchFailed("The browser is not installed.", hint=setup_hint(options.engine), details=details)
    if "ProcessSingleton" in text or "SingletonLock" in text:
        return BrowserLaunchFailed(
            f"Another browser has the profile {options.profile_dir.name} open.",
            hint="Close that browser, or give this service a data directory of its own: BROWSE_DATA_DIR.",
            details=details,
        )
    if any(message in text for message in _NO_SANDBOX):
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
        times = f", {starts} times in a row" if starts > 1 else ""
        return BrowserLaunchFailed(f"{UNEXPLAINED[0]}{times}: {_last_words(text)}", hint=_remedy(text), details=details)
    return BrowserLaunchFailed(f"{UNEXPLAINED[1]}: {first[:300]}", hint=_remedy(text), details=details)


def _last_words(text: str) -> str:
    """Say how a browser ended, and what it wrote before."""
    lines = [line[:_MOST_LINE] for line in dict.fromkeys(_OUTPUT.findall(text))][-_MOST_LINES:]
    code, signal = exit_.groups() if (exit_ := _EXIT.search(text)) else ("null", "null")
    end = f"it was ended by {signal}" if signal != "null" else f"exit code {code}" if code != "null" else ""
    output = f"it said {' / '.join(lines)!r}" if lines else "it said nothing"
    return "; ".join(filter(None, (end, output)))


def _remedy(text: str) -> str:
    """Say what to do. A binary that ended by itself, or that does not run here, would do the same next time."""
    exit_, launched = _EXIT.search(text), re.search(r"<launching> (.+)", text)
    if exit_ is None and "spawn" not in text:
        return REPEAT_HINT
    if exit_ is not None and (exit_[2] in _OUTSIDE_SIGNALS or exit_.groups() == ("null", "null")):
        return REPEAT_HINT
    problem = f"{launched[1].strip()} does not run on this machine" if launched else "This browser does not run"
    return (
        f"{problem}, and will not the next time: install another (`{command('setup')}`), or name one in "
        f"BROWSE_EXECUTABLE_PATH and restart the service. `{command('doctor')}` checks."
    )
