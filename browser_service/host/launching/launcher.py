"""Starts the one browser of all sessions, or attaches to it, and knows if it still lives.

It is longer than 300 lines because one lock guards the start, the end and the loan of the profile.
"""

import asyncio
import contextlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import psutil
from playwright.async_api import Browser, BrowserContext, Playwright, ProxySettings
from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.close import bounded
from browser_service.host.launching.driver import start_driver
from browser_service.host.launching.errors import ATTEMPTS, REPEAT_HINT, attach_failed, launch_failed
from browser_service.host.launching.executables import find_executable, is_installed, user_agent
from browser_service.host.launching.options import CHROMIUM_ARGS, LaunchOptions
from browser_service.host.launching.ordinary import OrdinaryWindow
from browser_service.host.launching.orphans import Orphans
from browser_service.host.launching.pool import BrowserKind, Pool, new_id
from browser_service.host.launching.processes import WatchedProcess, browsers_of, children_of, end_all
from browser_service.host.launching.profile import Profile
from browser_service.host.launching.profile_repair import may_be_profile, repair, set_profile_aside, starts_on_empty
from shared.errors import BrowserLaunchFailed, HumanInControl, ValidationFailed, of_field
from shared.likeness import nearest
from shared.model import Json
from shared.pages import SessionOptions, SessionSpec

_ATTACHES_WITHIN_MS: Final = 10_000
_LAUNCHES_WITHIN_S: Final = 35
"""Playwright gives a browser 30 s; a driver that hangs would wait for ever."""

_UNTOUCHED: Final = {"handle_sigint": False, "handle_sigterm": False, "handle_sighup": False}
"""A signal to the service must not reach the browser, which is closed in good order."""

Home = BrowserContext | Browser
"""A session's context lives in the profile's own context, or in a browser of another kind."""


class Launcher:
    """Runs one driver and one browser for all sessions; the first who needs them starts them."""

    def __init__(self, options: LaunchOptions) -> None:
        self.options = options
        self.pool = Pool(options.max_instances)
        self._playwright: Playwright | None = None
        self._driver: WatchedProcess | None = None
        self._context: BrowserContext | None = None
        self._browser_id = ""
        self._processes: list[WatchedProcess] = []
        self._orphans = Orphans(options.profile_dir)
        self.killed_before = False
        """True if the service that had the profile before was killed."""
        self._end_of_last = ""
        self._one_at_a_time = asyncio.Lock()
        self._profile = Profile(options.profile_dir)
        self.executable: Path | None = None
        self._person_since: datetime | None = None
        self._windows_user_agent: str | None = None
        self.repairs: list[str] = []
        """Says what was set aside of the profile, until a notice has told it."""
        self.has_session_cookies = False
        """True if the profile brought the session cookies of a person's window with it."""

    @property
    def attached(self) -> bool:
        """Say if the browser is somebody else's, and goes on when we leave."""
        return self.options.cdp_url is not None

    def runs(self, home: Home | None) -> bool:
        """Say if this very browser runs, and not a later one.

        Playwright's own is_connected() does not notice a dead driver, and notices a dead browser late.
        """
        if home is None or not self._driver_runs:
            return False
        if home is self._context:
            return all(process.runs for process in self._processes) and _connected(home)
        return self.pool.has(home) and _connected(home)

    def browser_id(self, home: Home) -> str:
        """Return the id of this start of the browser."""
        return self._browser_id if home is self._context else self.pool.id_of(home)

    def device(self, name: str) -> Json:
        """Return Playwright's description of a device. Raises ValidationFailed if it knows none of this name."""
        known = self._playwright.devices if self._playwright is not None else {}
        if name not in known:
            near = nearest(name, known, most=3, alike=0.4)
            raise ValidationFailed(
                f"There is no device {name!r}.",
                hint=f"Did you mean {' or '.join(near)}?" if near else 'Such as "Pixel 7" or "iPhone 15".',
                details=of_field("device"),
            )
        return {"name": name, **known[name]}

    @property
    def _driver_runs(self) -> bool:
        return self._playwright is not None and (self._driver is None or self._driver.runs)

    @property
    def shared_runs(self) -> bool:
        return self.runs(self._context)

    @property
    def running(self) -> int:
        """Count the browsers that run."""
        return len(self.pool.running) + self.shared_runs

    @property
    def reserved(self) -> bool:
        """Say if a person has the profile."""
        return self._person_since is not None

    @property
    def driver(self) -> psutil.Process | None:
        """Return the driver's process: all browsers descend from it."""
        return self._driver.process if self._driver is not None else None

    async def home(self, spec: SessionSpec) -> Home:
        """Return the shared browser's context, or the session's own kind of browser; start it if it does not run."""
        kind = self.kind(spec)
        if kind is None:
            return await self.persistent_context()
        self.check_free()
        async with self._one_at_a_time:
            self.check_free()
            playwright = await self._running_playwright()
            return await self.pool.browser(kind, spec.session_id, lambda: self._launch_other(playwright, kind))

    async def check_installed(self, options: SessionOptions) -> None:
        """Raise BrowserLaunchFailed if another engine is missing. The service's own engine reports that itself."""
        engine = options.browser_type or self.options.engine
        if engine in {self.options.engine, "chromium"}:  # Chromium without windows may be another program
            return
        async with self._one_at_a_time:
            playwright = await self._running_playwright()
        if not is_installed(playwright, engine):
            raise BrowserLaunchFailed(
                f"{engine.capitalize()} is not installed on this machine; no session was made.", hint=_install(engine)
            )

    def kind(self, spec: SessionSpec) -> BrowserKind | None:
        """Return the kind of browser that a session needs; None for the shared one."""
        options = spec.options
        engine = options.browser_type or self.options.engine
        headless = self._headless if options.headless is None else options.headless
        if spec.profile or (engine, headless, options.own_browser) == (self.options.engine, self._headless, False):
            return None
        return BrowserKind(engine, spec.session_id if options.own_browser else "", headless)

    @property
    def _headless(self) -> bool:
        """Say if the shared browser has no windows. One that we attached to has windows."""
        return self.options.headless and not self.attached

    def user_agent(self, kind: BrowserKind | None) -> str | None:
        """Return the user agent to show if the browser's own would say that it has no windows, else None."""
        engine, headless = (kind.engine, kind.headless) if kind else (self.options.engine, self._headless)
        return self._windows_user_agent if headless and engine == "chromium" else None

    async def persistent_context(self) -> BrowserContext:
        """Return the context of the profile on disk, which has the shared login; start it if it does not run."""
        self.check_free()
        async with self._one_at_a_time:
            self.check_free()
            if self._context is None or not self.runs(self._context):
                self._context = await self._launch_shared()
            return self._context

    def end_reason(self) -> str:
        """Say what ended without our doing, now or the last time; return "" if we ended it."""
        if self._context is not None and not self.runs(self._context):
            self._end_of_last = "the browser ended" if self._driver_runs else "Playwright's driver ended"
        return self._end_of_last

    async def _launch_shared(self) -> BrowserContext:
        """Start the shared browser. If it is killed while it starts, try again, STARTS times in all."""
        self.end_reason()
        for left in reversed(range(ATTEMPTS)):
            await self._end_shared()
            playwright = await self._running_playwright()
            try:
                async with asyncio.timeout(_LAUNCHES_WITHIN_S):
                    context = await (self._attach if self.attached else self._launch)(playwright)
                break
            except PlaywrightError as error:
                if not left or not errors.is_closed(error):
                    context = await self._launch_anew(playwright, error)
                    break
            except TimeoutError:
                raise await self._kill_hanging() from None
        self._processes, self._browser_id = browsers_of(self._driver, self.options.profile_dir), new_id()
        self._record_processes()
        return context

    async def _launch_anew(self, playwright: Playwright, error: PlaywrightError) -> BrowserContext:
        """Try once more, then on a new profile if the browser starts on an empty one. Raises BrowserLaunchFailed."""
        failed, profile = launch_failed(error, self.options), self.options.profile_dir
        try:
            async with asyncio.timeout(_LAUNCHES_WITHIN_S):
                if self.attached or not may_be_profile(failed):
                    raise failed from error
                if not await starts_on_empty(profile, lambda empty: self._start_on(playwright, empty)):
                    raise failed from error
                with contextlib.suppress(PlaywrightError):
                    return await self._launch(playwright)
                self.repairs.append(set_profile_aside(profile))
                return await self._launch(playwright)
        except (PlaywrightError, TimeoutError):
            raise failed from error

    async def _kill_hanging(self) -> BrowserLaunchFailed:
        await self._end(kills=True)
        said = f"The browser did not start within {_LAUNCHES_WITHIN_S} s, and was ended."
        return BrowserLaunchFailed(said, hint=REPEAT_HINT)

    def _record_processes(self) -> None:
        """Record these processes, so that the next service finds them if this one is killed."""
        if self.driver is not None:
            self._orphans.record([self.driver, *children_of(self.driver)])

    async def end_hanging(self) -> None:
        """Kill a browser and a driver that no longer answer; the next who needs them starts them."""
        async with self._one_at_a_time:
            await self._end(kills=True)

    async def close_unused(self, kind: BrowserKind | None) -> None:
        """Close a browser until somebody needs it. Its sessions must have let go of it."""
        if self._one_at_a_time.locked():
            return  # somebody needs one now
        async with self._one_at_a_time:
            await (self._end_shared() if kind is None else self.pool.close(kind))
            self._end_of_last = ""
            if self._context is None and not self.pool.running:
                await self._end()

    async def _running_playwright(self) -> Playwright:
        """Return Playwright with a driver that runs. Before a new driver starts, all that a dead one left is ended."""
        if self._playwright is None or not self._driver_runs:
            await self._end()
            self._playwright, driver = await start_driver()
            self._driver = WatchedProcess(driver) if driver else None
        return self._playwright

    async def _launch_other(self, playwright: Playwright, kind: BrowserKind) -> Browser:
        options = self.options
        ours = kind.engine == options.engine
        if ours:
            await self._find(playwright, headless=kind.headless)
        try:
            async with asyncio.timeout(_LAUNCHES_WITHIN_S):
                browser: Browser = await getattr(playwright, kind.engine).launch(
                    headless=kind.headless, **_UNTOUCHED, **(self._launch_options() if ours else {})
                )
        except PlaywrightError as error:
            failed = launch_failed(error, replace(options, engine=kind.engine, headless=kind.headless), starts=1)
            failed.advice = failed.advice if ours else _install(kind.engine)
            raise failed from error
        except TimeoutError:
            raise await self._kill_hanging() from None
        self._record_processes()
        return browser

    async def stop(self) -> None:
        """Close what runs; a dead driver or browser is no failure."""
        async with self._one_at_a_time:
            await self._end()

    # --- the profile in a person's hands --------------------------------------------------------------------------

    async def clear(self) -> None:
        """End what a killed service left behind: its driver and browser, and a person's window."""
        self.killed_before = await self._orphans.end()
        if not self.attached:
            await self._profile.reclaim()

    def check_free(self) -> None:
        """Raise HumanInControl while a person has the profile."""
        if self._person_since is not None:
            raise HumanInControl(
                "A person is signing in at this machine, in an ordinary window that has the profile "
                f"(since {self._person_since:%H:%M:%S}). Nothing was done.",
                hint="Repeat the call when they have closed it; every page comes back under its pageId.",
            )

    def reserve(self) -> None:
        """Let nobody start the browser until `free`. Raises HumanInControl."""
        self.check_free()
        self._person_since = datetime.now().astimezone()

    def free(self) -> None:
        self._person_since = None

    async def open_person_window(self, url: str | None) -> OrdinaryWindow:
        """Close the browser and open an ordinary window instead. Call `reserve` before, and `free` afterwards."""
        async with self._one_at_a_time:
            await self._end()
            self._end_of_last = "a person signed in"
            if self.executable is None:
                raise BrowserLaunchFailed("There is no browser to open a window of.")
            self._profile.lend()
            options = self.options
            window = await OrdinaryWindow.open(
                self.executable, options.profile_dir, url, sandboxed=options.sandboxed, proxy=options.proxy
            )
            self._profile.record_window(window.process)
            return window

    async def _end(self, *, kills: bool = False) -> None:
        """End all browsers and the driver; with `kills`, ask none of them to close first."""
        playwright, driver = self._playwright, self._driver
        family = [WatchedProcess(each) for each in children_of(driver.process)] if driver and kills else []
        await self.pool.close_all(forget=kills)
        await self._end_shared(kills=kills)
        self._playwright, self._driver = None, None
        if playwright is not None and not kills:
            await bounded(playwright.stop())
        await asyncio.to_thread(end_all, [*([driver] if driver else []), *family])
        self._orphans.forget()

    async def _end_shared(self, *, kills: bool = False) -> None:
        context, processes = self._context, self._processes
        self._context, self._processes = None, []
        if not kills:
            await self._close(context)
        await asyncio.to_thread(end_all, processes)  # one that is left keeps the profile locked

    async def _close(self, context: BrowserContext | None) -> None:
        if context is not None and (not self.attached or context.browser is None):
            await bounded(context.close())
        elif context is not None and context.browser is not None:
            await bounded(context.browser.close())  # which lets go of a browser that was attached to

    async def _launch(self, playwright: Playwright) -> BrowserContext:
        await self._prepare(playwright)
        return await self._start_on(playwright, self.options.profile_dir)

    async def _start_on(self, playwright: Playwright, profile: Path) -> BrowserContext:
        options = self.options
        width, height = options.viewport
        return await getattr(playwright, options.engine).launch_persistent_context(  # type: ignore[no-any-return] # getattr by engine
            profile,
            headless=options.headless,
            viewport={"width": width, "height": height},
            user_agent=self.user_agent(None),
            **_UNTOUCHED,
            **self._launch_options(),
        )

    def _launch_options(self) -> dict[str, Any]:  # Any: what Playwright's launch takes
        """Return the launch options that every browser of the service's own engine shares."""
        options = self.options
        return {
            "executable_path": self.executable,
            "chromium_sandbox": options.sandboxed,
            "args": CHROMIUM_ARGS if options.engine == "chromium" else (),
            "proxy": ProxySettings(server=options.proxy) if options.proxy else None,
        }

    async def _prepare(self, playwright: Playwright) -> None:
        """Find the executable, repair the profile, and take it back from a person's window."""
        options = self.options
        await self._find(playwright, headless=options.headless)
        self.repairs += await asyncio.to_thread(repair, options.profile_dir)
        options.profile_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if options.engine == "chromium":
            self.has_session_cookies = await self._profile.reclaim()
            if not self._profile.is_lent:
                self._profile.forget_setting()

    async def _find(self, playwright: Playwright, *, headless: bool) -> None:
        executable = find_executable(playwright, self.options)
        unknown = executable != self.executable or self._windows_user_agent is None
        if unknown and self.options.engine == "chromium" and headless:
            self._windows_user_agent = await user_agent(executable)
        self.executable = executable

    def confirm_profile(self) -> None:
        """Note that the cookies of a person's window, or of a killed service, are known and saved."""
        self.killed_before = False
        self._profile.clear_mark()

    async def _attach(self, playwright: Playwright) -> BrowserContext:
        url = self.options.cdp_url or ""
        try:
            browser = await playwright.chromium.connect_over_cdp(url, no_defaults=True, timeout=_ATTACHES_WITHIN_MS)
        except PlaywrightError as error:
            raise attach_failed(error, url) from error
        return browser.contexts[0]


def _connected(home: Home) -> bool:
    browser = home.browser if isinstance(home, BrowserContext) else home
    return browser is None or browser.is_connected()


def _install(engine: str) -> str:
    return f"Install it: playwright install {engine}. Or leave browserType out."
