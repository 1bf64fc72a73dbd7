"""Finding a browser, starting it once, and knowing whether it still lives."""

import asyncio
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psutil
from playwright.async_api import BrowserContext, Playwright, ProxySettings, async_playwright
from playwright.async_api import Error as PlaywrightError

from shared.calls import Json
from shared.errors import BrowserLaunchFailed

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


@dataclass(frozen=True)
class LaunchOptions:
    """How the shared browser is started."""

    profile_dir: Path
    engine: Literal["chromium", "firefox", "webkit"] = "chromium"
    executable: Path | None = None
    headless: bool = True
    sandbox: Literal["auto", "on", "off"] = "auto"
    proxy: str | None = None
    viewport: tuple[int, int] = (1280, 720)

    @property
    def sandboxed(self) -> bool:
        """Chromium refuses its sandbox to root."""
        if self.sandbox == "auto":
            return not (hasattr(os, "geteuid") and os.geteuid() == 0)
        return self.sandbox == "on"


def installed_browser() -> Path | None:
    """A Chrome, Edge or Chromium of this machine."""
    found = next((path for name in _ON_PATH if (path := shutil.which(name))), None)
    elsewhere = next((path for path in _ELSEWHERE.get(sys.platform, ()) if Path(path).exists()), None)
    path = found or elsewhere
    return Path(path) if path else None


def find_executable(playwright: Playwright, options: LaunchOptions) -> Path | None:
    """Configured; else Playwright's own (None lets Playwright choose); else an installed one."""
    if options.executable is not None:
        if not options.executable.exists():
            raise BrowserLaunchFailed(
                f"BROWSE_EXECUTABLE_PATH names {options.executable}, which does not exist.",
                hint="Correct it, or unset it to have a browser found.",
            )
        return options.executable
    engine = getattr(playwright, options.engine)
    if Path(engine.executable_path).exists():
        return None
    if options.engine == "chromium" and (found := installed_browser()):
        return found
    raise BrowserLaunchFailed(
        f"No {options.engine} was found on this machine.",
        hint=f"Install it with `playwright install {options.engine}`, then repeat the call.",
    )


class Launcher:
    """One driver and one browser for all sessions, started by the first who needs it."""

    def __init__(self, options: LaunchOptions) -> None:
        self.options = options
        self._playwright: Playwright | None = None
        self._context: BrowserContext | None = None
        self._driver: psutil.Process | None = None

    @property
    def alive(self) -> bool:
        """Whether driver and browser run. Playwright's own is_connected() does not notice a dead driver."""
        if self._context is None or self._driver is None:
            return False
        try:
            running = self._driver.is_running() and self._driver.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        browser = self._context.browser
        return running and (browser is None or browser.is_connected())

    async def persistent_context(self) -> BrowserContext:
        """The context of the profile on disk: the shared login."""
        if self._context is not None and self.alive:
            return self._context
        await self.stop()
        self._playwright = await self._start_driver()
        self._context = await self._launch(self._playwright)
        return self._context

    async def stop(self) -> None:
        """Close what runs; a dead driver or browser is no reason to fail."""
        context, playwright = self._context, self._playwright
        self._context = self._playwright = self._driver = None
        if context is not None:
            await _bounded_close(context)
        if playwright is not None:
            await playwright.stop()

    async def _start_driver(self) -> Playwright:
        before = set(psutil.Process().children())
        playwright = await async_playwright().start()
        drivers = [child for child in psutil.Process().children() if child not in before]
        self._driver = next(iter(drivers), None)
        return playwright

    async def _launch(self, playwright: Playwright) -> BrowserContext:
        options = self.options
        executable = find_executable(playwright, options)
        options.profile_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        width, height = options.viewport
        try:
            return await getattr(playwright, options.engine).launch_persistent_context(  # type: ignore[no-any-return] # getattr by engine
                options.profile_dir,
                executable_path=executable,
                headless=options.headless,
                chromium_sandbox=options.sandboxed,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                viewport={"width": width, "height": height},
                proxy=ProxySettings(server=options.proxy) if options.proxy else None,
            )
        except PlaywrightError as error:
            raise _launch_failed(error, options) from error


def _launch_failed(error: PlaywrightError, options: LaunchOptions) -> BrowserLaunchFailed:
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
    if "sandbox" in text.lower():
        return BrowserLaunchFailed(
            "Chromium could not start its sandbox.",
            hint="Allow user namespaces on this machine, or set BROWSE_SANDBOX=off where that is acceptable.",
            details=details,
        )
    if not options.headless and ("XServer" in text or "$DISPLAY" in text or "headed" in text):
        return BrowserLaunchFailed(
            "A window was asked for, but there is no display.", hint="Set HEADLESS=true.", details=details
        )
    return BrowserLaunchFailed(f"The browser did not start: {first[:300]}", details=details)


async def _bounded_close(context: BrowserContext) -> None:
    try:
        async with asyncio.timeout(5):
            await context.close()
    except (PlaywrightError, TimeoutError):
        return
