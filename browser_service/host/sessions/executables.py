"""Finds the browser to start on this machine, and the user agent that it shows to sites."""

import asyncio
import contextlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from browse_together.contract.errors import BrowserLaunchFailed
from browse_together.contract.pages import Engine
from browser_service.host.sessions.errors import setup_hint
from browser_service.host.sessions.options import LaunchOptions

if TYPE_CHECKING:
    from playwright.async_api import BrowserType, Playwright

_ON_PATH: Final = (
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "microsoft-edge-stable",
    "microsoft-edge",
    "msedge",
    "chromium",
    "chromium-browser",
)
_ELSEWHERE: Final = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ),
    "win32": (
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ),
}

_PLATFORMS: Final = {
    "linux": "X11; Linux x86_64",
    "darwin": "Macintosh; Intel Mac OS X 10_15_7",
    "win32": "Windows NT 10.0; Win64; x64",
}
_VERSION_WITHIN_S: Final = 5
_asked: Final = dict[Path, "asyncio.Future[str]"]()
"""The questions for versions that browsers have got before their start."""


def browser_type(playwright: "Playwright", engine: str) -> "BrowserType":
    """Return the part of Playwright that starts an engine's browsers."""
    browser: BrowserType = getattr(playwright, engine)
    return browser


def installed_browser() -> Path | None:
    """Find a Chrome, Edge or Chromium on this machine."""
    paths = [*filter(None, map(shutil.which, _ON_PATH)), *_ELSEWHERE.get(sys.platform, ())]
    return next((path for path in map(Path, paths) if path.exists()), None)


def find_executable(playwright: "Playwright", options: LaunchOptions) -> Path:
    """Return the configured browser, else Playwright's own, else an installed one. Raises BrowserLaunchFailed.

    Playwright's own is also returned by path: left to itself, Playwright starts one program for headless and another
    for headed browsers, and the two do not share a profile.
    """
    if options.executable is not None:
        if not options.executable.exists():
            raise BrowserLaunchFailed(
                f"BROWSE_EXECUTABLE_PATH names {options.executable}, which does not exist.",
                hint="Correct it, or unset it to have a browser found.",
            )
        return options.executable
    if is_installed(playwright, options.engine):
        return Path(browser_type(playwright, options.engine).executable_path)
    if options.engine == "chromium" and (installed := installed_browser()):
        return installed
    raise BrowserLaunchFailed(
        f"No {options.engine} was found on this machine.",
        hint=setup_hint(options.engine),
    )


def is_installed(playwright: "Playwright", engine: str) -> bool:
    """Say if Playwright has a browser of this engine."""
    return Path(browser_type(playwright, engine).executable_path).exists()


def engines_here(playwright: "Playwright", executable: Path | None) -> list[Engine]:
    """Return the engines whose browsers can be started on this machine. `executable` is a configured Chromium."""
    other_chromium = bool(executable or installed_browser())
    return [
        each for each in get_args(Engine) if is_installed(playwright, each) or (each == "chromium" and other_chromium)
    ]


def ask_early(playwright: "Playwright", options: LaunchOptions) -> None:
    """Ask the browser that will be started for its version, while we wait for other things."""
    with contextlib.suppress(BrowserLaunchFailed):  # its start will say so
        executable = find_executable(playwright, options)
        _asked[executable] = asyncio.get_running_loop().run_in_executor(None, _version_line, executable)


async def user_agent(executable: Path) -> str | None:
    """Return the user agent that this Chromium has with windows, or None if it is not known.

    Without windows it would say HeadlessChrome, and sites would not recognise the browser that signed in.
    """
    early = _asked.pop(executable, None)
    version = await (early or asyncio.to_thread(_version_line, executable))
    number = re.search(r"(\d+)\.\d+\.\d+\.\d+", version)
    platform = _PLATFORMS.get(sys.platform)
    if number is None or platform is None:
        return None
    plain = f"Mozilla/5.0 ({platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{number[1]}.0.0.0 Safari/537.36"
    return f"{plain} Edg/{number[1]}.0.0.0" if "Edge" in version or executable.stem == "msedge" else plain


def _version_line(executable: Path) -> str:
    """Return the browser's answer about its version. It blocks: call it in a thread."""
    if sys.platform == "win32":  # there it would open a window; the directory beside it has the version as its name
        return next((path.name for path in executable.parent.iterdir() if re.match(r"\d+(\.\d+){3}$", path.name)), "")
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = [str(executable), "--version"]
        output = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_WITHIN_S, check=False
        ).stdout
        return output.decode(errors="replace")
    return ""
