"""Finding a browser, starting it once, and knowing whether it still lives."""

import asyncio
import contextlib
import os
import select
import shutil
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import psutil
from playwright.async_api import BrowserContext, Playwright, ProxySettings, async_playwright
from playwright.async_api import Error as PlaywrightError
from playwright.async_api._context_manager import PlaywrightContextManager

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

_CLOSES_WITHIN_S: Final = 5

_PLAYWRIGHTS_DISABLED: Final = (
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
    "LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "TcpPortRandomizationWin,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch,"
    "msForceBrowserSignIn,msEdgeUpdateLaunchServicesPreferredVersion"
)
CHROMIUM_ARGS: Final = (f"--disable-features={_PLAYWRIGHTS_DISABLED},WebUIOmniboxPopup,WebUIOmniboxAimPopup",)
"""Without a renderer of its own for the address bar of every window, which costs 0.45 s CPU and 20 MB each (measured on
Chromium 156, whose address bar is a page). Of several `--disable-features` Chromium takes the last alone, so that
Playwright's own are said again; a test compares them with what Playwright passes."""


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
        self._processes: list[_Process] = []
        self._one_at_a_time = asyncio.Lock()

    def runs(self, context: BrowserContext | None) -> bool:
        """Whether the browser of this very context runs, not a later one.

        Playwright's own is_connected() does not notice a dead driver, and notices a dead browser late.
        """
        if context is None or context is not self._context:
            return False
        browser = context.browser
        return all(process.runs for process in self._processes) and (browser is None or browser.is_connected())

    async def persistent_context(self) -> BrowserContext:
        """The context of the profile on disk: the shared login."""
        async with self._one_at_a_time:
            if self._context is None or not self.runs(self._context):
                await self._end()
                self._playwright, driver = await _start_driver()
                context = await self._launch(self._playwright)
                self._processes = _watched(driver, self.options.profile_dir) if driver else []
                self._context = context
            return self._context

    async def stop(self) -> None:
        """Close what runs; a dead driver or browser is no reason to fail."""
        async with self._one_at_a_time:
            await self._end()

    async def _end(self) -> None:
        context, playwright, processes = self._context, self._playwright, self._processes
        self._context, self._playwright, self._processes = None, None, []
        if context is not None:
            await bounded(context.close())
        if playwright is not None:
            await bounded(playwright.stop())
        await asyncio.to_thread(_end_all, processes)  # one that is left keeps the profile locked

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
                args=CHROMIUM_ARGS if options.engine == "chromium" else (),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                viewport={"width": width, "height": height},
                proxy=ProxySettings(server=options.proxy) if options.proxy else None,
            )
        except PlaywrightError as error:
            raise _launch_failed(error, options) from error


_NO_SANDBOX: Final = ("No usable sandbox", "setuid sandbox is not running", "Running as root without --no-sandbox")


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
    return BrowserLaunchFailed(f"The browser did not start: {first[:300]}", details=details)


async def _start_driver() -> tuple[Playwright, psutil.Process | None]:
    before = set(psutil.Process().children())
    manager = async_playwright()
    playwright = await manager.start()
    _read_drivers_end(manager)
    drivers = [child for child in psutil.Process().children() if child not in before]
    return playwright, next(iter(drivers), None)


def _read_drivers_end(manager: PlaywrightContextManager) -> None:
    """Playwright tells a driver's sudden end in a future too that nobody reads: asyncio would log it as our mistake."""
    client = manager._client  # noqa: SLF001 - there is no public way
    ended = client._transport.on_error_future if client else None  # noqa: SLF001 - nor here
    if ended is not None:
        ended.add_done_callback(lambda future: future.cancelled() or future.exception())


class _Process:
    """A process that is asked several times a call whether it runs: 0.4 µs by a pidfd, 60 by psutil."""

    def __init__(self, process: psutil.Process) -> None:
        self.process = process
        self._pidfd: int | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(process.pid)
                self._poll = select.poll()
                self._poll.register(self._pidfd, select.POLLIN)

    @property
    def runs(self) -> bool:
        if self._pidfd is not None:
            return not self._poll.poll(0)
        try:
            return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def end(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self.process.kill()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def _watched(driver: psutil.Process, profile_dir: Path) -> list[_Process]:
    """The driver, and the browser that it started on our profile."""
    browsers = [child for child in driver.children() if str(profile_dir) in " ".join(child.cmdline())]
    return [_Process(process) for process in (driver, *browsers)]


def _end_all(processes: list[_Process]) -> None:
    for process in processes:
        process.end()
    psutil.wait_procs([process.process for process in processes], timeout=3)


async def bounded(closing: Awaitable[None]) -> None:
    """What does not close, or is gone already, is no reason to wait or to fail."""
    try:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            await closing
    except (PlaywrightError, TimeoutError):
        return
