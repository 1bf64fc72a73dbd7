"""Runs the browsers of all sessions: starts one when a session needs it, knows if it still lives, and ends it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import psutil
import structlog
from playwright.async_api import BrowserContext, Playwright
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import BrowserLaunchFailed, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.pages import SessionOptions, SessionSpec
from browse_together.contract.similarity import nearest
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.host import errors
from browser_service.host.background import bounded
from browser_service.host.elements.locators import register_engines
from browser_service.host.network.gate import Gates
from browser_service.host.sessions.attachment import Attachment
from browser_service.host.sessions.attachments import Attachments
from browser_service.host.sessions.driver import Started, start_driver
from browser_service.host.sessions.errors import ATTEMPTS, install_hint, setup_hint, start_timeout
from browser_service.host.sessions.executables import is_installed
from browser_service.host.sessions.options import LaunchOptions
from browser_service.host.sessions.pool import BrowserKind, Pool
from browser_service.host.sessions.processes import Orphans, WatchedProcess, browsers_of, children_of, end_all
from browser_service.host.sessions.profile import Profile
from browser_service.host.sessions.running import RunningBrowser
from browser_service.host.sessions.starter import LAUNCHES_WITHIN_S, BrowserStarter
from browser_service.host.sessions.watchdog import Watchdog

_log = structlog.get_logger(__name__)


class Launcher:
    """The one driver, and the browsers of all sessions; the first session that needs a browser starts it.

    One lock guards all starts and ends, and the loan of the profile to a person.
    """

    def __init__(self, options: LaunchOptions, early: asyncio.Task[Started] | None = None) -> None:
        """`early` is the driver to use first, which may still be starting."""
        self.options = options
        self.attachments = Attachments(options, early if options.cdp_url else None)
        self._early = None if options.cdp_url else early
        self.pool = Pool(options.max_instances)
        self.profile = Profile(options.profile_dir, options.file_damage)
        self.killed_before = False
        """True if the service that had the profile before was killed."""
        self.gates = Gates(options.policy, options.proxy)
        self.starter = BrowserStarter(options, self.profile, self.gates)
        self.watchdog = Watchdog(self)
        self._orphans = Orphans(options.profile_dir)
        self._lock = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._driver: WatchedProcess | None = None
        self._shared: RunningBrowser | None = None
        self._processes: list[WatchedProcess] = []
        self._end_reason = ""
        self._given_up = 0

    # --- what runs ---------------------------------------------------------------------------------------------------

    @property
    def driver(self) -> psutil.Process | None:
        """Return the driver's process: all browsers descend from it."""
        return self._driver.process if self._driver is not None else None

    @property
    def _driver_runs(self) -> bool:
        return self._playwright is not None and (self._driver is None or self._driver.runs)

    @property
    def shared_runs(self) -> bool:
        return self._shared is not None and self._shared.runs

    @property
    def running(self) -> int:
        """Return the number of browsers that run."""
        return len(self.pool.running) + self.shared_runs + self.attachments.running

    @property
    def restarts(self) -> int:
        """Return the number of browsers that ended or hung, and that we gave up."""
        return self._given_up + self.pool.restarts

    def end_reason(self) -> str:
        """Say what ended without our doing, now or last time; "" if we ended it."""
        return self._end_reason

    def _note_shared_end(self) -> None:
        if self._shared is not None:  # else we end it
            self._end_reason = "the browser ended" if self._driver_runs else "Playwright's driver ended"

    # --- what a session needs ----------------------------------------------------------------------------------------

    def attaches(self, spec: SessionSpec) -> bool:
        """Say if a session is in the browser of a person, which goes on when we leave."""
        return spec.attached or (self.options.cdp_url is not None and self.kind(spec) is None)

    def attachment(self, spec: SessionSpec) -> Attachment:
        """Return the connection to the browser of a session that `attaches`."""
        return self.attachments.of(spec.session_id if spec.attached else DEFAULT_SESSION)

    def kind(self, spec: SessionSpec) -> BrowserKind | None:
        """Return the kind of browser that a session needs; None for the shared one, and for a person's."""
        options = spec.options
        engine = options.browser_type or self.options.engine
        headless = self._headless if options.headless is None else options.headless
        if (
            spec.profile
            or spec.attached
            or (engine, headless, options.own_browser) == (self.options.engine, self._headless, False)
        ):
            return None
        return BrowserKind(engine, spec.session_id if options.own_browser else "", headless)

    def is_headless(self, spec: SessionSpec) -> bool:
        """Say if a session's browser has no windows that people see."""
        if spec.attached:
            return False
        kind = self.kind(spec)
        return kind.headless if kind is not None else self._headless

    @property
    def _headless(self) -> bool:
        """True if the shared browser has no windows. An attached one has windows."""
        return self.options.headless and self.options.cdp_url is None

    def user_agent(self, kind: BrowserKind | None) -> str | None:
        """Return the user agent to show in place of the browser's own, if that would reveal that it has no windows,
        else None."""
        engine, headless = (kind.engine, kind.headless) if kind else (self.options.engine, self._headless)
        return self.starter.windows_user_agent if headless and engine == "chromium" else None

    def device(self, name: str) -> Json:
        """Return Playwright's description of a device. Raises ValidationFailed if it knows none of this name."""
        playwright = self._playwright or self.attachments.playwright
        devices = playwright.devices if playwright is not None else {}
        if name not in devices:
            near = nearest(name, devices, most=3, similarity=0.4)
            raise ValidationFailed(
                f"There is no device {name!r}.",
                hint=f"Did you mean {' or '.join(near)}?" if near else 'Such as "Pixel 7" or "iPhone 15".',
                details=field_details("device"),
            )
        return {"name": name, **devices[name]}

    async def check_installed(self, options: SessionOptions) -> None:
        """Raise BrowserLaunchFailed if another engine is missing. The service's own engine reports that itself."""
        engine = options.browser_type or self.options.engine
        if engine in {self.options.engine, "chromium"}:  # Chromium without windows may be another program
            return
        async with self._lock:
            playwright = await self._running_playwright()
        if not is_installed(playwright, engine):
            raise BrowserLaunchFailed(
                f"{engine.capitalize()} is not installed on this machine; no session was made.",
                hint=install_hint(engine),
            )

    # --- starts ------------------------------------------------------------------------------------------------------

    async def browser(self, spec: SessionSpec) -> RunningBrowser:
        """Return the browser of a session: the person's, the shared one, or one of the session's own kind. Start it if
        it does not run."""
        if self.attaches(spec):
            return await self.attachment(spec).browser()
        kind = self.kind(spec)
        if kind is None:
            return await self.shared_browser()
        self.profile.check_free()
        async with self._lock:
            self.profile.check_free()
            playwright = await self._running_playwright()
            return await self.pool.browser(kind, spec.session_id, lambda: self._start_other(playwright, kind))

    async def shared_browser(self) -> RunningBrowser:
        """Return the browser on the profile on disk, which has the shared login; start it if it does not run."""
        self.profile.check_free()
        async with self._lock:
            self.profile.check_free()
            if self._shared is None or not self._shared.runs:
                if self._shared is not None:
                    self._note_end(1)
                context = await self._start_shared()
                self._processes = browsers_of(self._driver, self.options.profile_dir)
                self._shared = RunningBrowser(context.browser, context, self._watched(self._processes))
                self._shared.on_end(self._note_shared_end)
                self._record_processes()
            return self._shared

    def _watched(self, own: Sequence[WatchedProcess] = ()) -> list[WatchedProcess]:
        """Return the processes with which a browser ends: its own, and the driver's."""
        return [*own, *([self._driver] if self._driver is not None else [])]

    async def _start_shared(self) -> BrowserContext:
        """Start the shared browser. If it is killed while it starts, try again, ATTEMPTS times in all."""
        attempt = 0
        while True:
            attempt += 1
            await self._end_shared()
            playwright = await self._running_playwright()
            try:
                return await self.starter.start_shared(playwright)
            except PlaywrightError as error:
                if attempt == ATTEMPTS or not errors.is_closed(error):
                    return await self.starter.retry_shared(error, playwright)
            except TimeoutError:
                raise await self._end_start() from None

    async def _start_other(self, playwright: Playwright, kind: BrowserKind) -> RunningBrowser:
        try:
            browser = await self.starter.start_other(playwright, kind)
        except TimeoutError:
            raise await self._end_start() from None
        self._record_processes()
        return RunningBrowser(browser, None, self._watched())

    async def _end_start(self) -> BrowserLaunchFailed:
        """Kill a browser that hangs as it starts, and return the error for it."""
        await self._end(kill=True)
        return start_timeout(LAUNCHES_WITHIN_S)

    async def _running_playwright(self) -> Playwright:
        """Return Playwright with a running driver. Before a new driver starts, end all that a dead one left."""
        if self._playwright is None or not self._driver_runs:
            await self._end()
            self.options.check_may_act()
            early, self._early = self._early, None
            self._playwright, driver = await (early or start_driver())
            self._driver = WatchedProcess(driver) if driver else None
            await register_engines(self._playwright)
        return self._playwright

    def _record_processes(self) -> None:
        """Record the running processes, so that the next service finds them if this one is killed."""
        if self.driver is not None:
            self._orphans.record([self.driver, *children_of(self.driver)])

    def confirm_profile(self) -> None:
        """Note that the cookies of a person's window, or of a killed service, are known and saved."""
        self.killed_before = False
        self.profile.clear_mark()

    async def lend_profile(self) -> Path:
        """Close all browsers, and return the executable for a window on the profile. Reserve the profile before, and
        free it afterwards."""
        async with self._lock:
            await self._end()
            self._end_reason = "a person signed in"
            if self.starter.executable is None:
                raise BrowserLaunchFailed("There is no browser for a window.", hint=setup_hint(self.options.engine))
            self.profile.lend()
            return self.starter.executable

    # --- ends --------------------------------------------------------------------------------------------------------

    async def clear(self) -> None:
        """End what a killed service left behind: its driver and browser, and a person's window."""
        self.killed_before = await self._orphans.end()
        await self.profile.reclaim()

    async def end_hanging(self) -> None:
        """Kill browsers and a driver that no longer answer; the next session that needs them starts them."""
        async with self._lock:
            self._end_reason = "the browser no longer answered"
            self._note_end(self.running)
            await self._end(kill=True)

    def _note_end(self, browsers: int) -> None:
        """Count browsers that we give up, and log why."""
        self._given_up += browsers
        _log.warning("browsers are started anew", browsers=browsers, reason=self._end_reason)

    async def close_unused(self, kind: BrowserKind | None) -> None:
        """Close a browser that nobody uses now. Its sessions must have let go of it."""
        if self._lock.locked():
            return  # somebody needs one now
        async with self._lock:
            await (self._end_shared() if kind is None else self.pool.close(kind))
            self._end_reason = ""
            if self._shared is None and not self.pool.running:
                await self._end()

    async def stop(self) -> None:
        """Close all browsers and the driver; a dead one is no failure."""
        await self.attachments.stop()
        async with self._lock:
            await self._end()
        await self.gates.stop()

    async def _end(self, *, kill: bool = False) -> None:
        """End all browsers and the driver; with `kill`, ask none of them to close first."""
        playwright, driver = self._playwright, self._driver
        children = [WatchedProcess(each) for each in children_of(driver.process)] if driver and kill else []
        await self.pool.close_all(forget=kill)
        await self._end_shared(kill=kill)
        self._playwright, self._driver = None, None
        if playwright is not None and not kill:
            await bounded(playwright.stop())
        await asyncio.to_thread(end_all, [*([driver] if driver else []), *children])
        self._orphans.forget()

    async def _end_shared(self, *, kill: bool = False) -> None:
        shared, processes = self._shared, self._processes
        self._shared, self._processes = None, []
        if shared is not None:
            shared.end()
            if shared.context is not None and not kill:
                await bounded(shared.context.close())
        await asyncio.to_thread(end_all, processes)  # one that is left keeps the profile locked
        if shared is not None:
            await asyncio.to_thread(self.profile.forget_traces)
