"""Starts single browsers: the shared one on its profile, and others beside it."""

import asyncio
import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Browser, BrowserContext, Playwright, ProxySettings
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import BrowserLaunchFailed
from browser_service.host.background import bounded
from browser_service.host.network.gate import Gates, network_switches
from browser_service.host.sessions.errors import UNEXPLAINED, install_hint, launch_failed
from browser_service.host.sessions.executables import browser_type, find_executable, user_agent
from browser_service.host.sessions.options import CHROMIUM_ARGS, HEADLESS_ARGS, UNWANTED_ARGS, LaunchOptions
from browser_service.host.sessions.pool import BrowserKind
from browser_service.host.sessions.profile import Profile

LAUNCHES_WITHIN_S: Final = 35
"""Playwright gives a browser 30 s; a driver that hangs would wait for ever."""

_UNTOUCHED: Final[dict[str, Any]] = {  # Any: what Playwright's launch takes
    "handle_sigint": False,
    "handle_sigterm": False,
    "handle_sighup": False,
}
"""A signal to the service must not reach the browser, which we close in good order."""


class BrowserStarter:
    """The starter of browsers, by the options. It keeps none of them: the launcher does."""

    def __init__(self, options: LaunchOptions, profile: Profile, gates: Gates) -> None:
        self._options = options
        self._gates = gates
        self._profile = profile
        self.executable: Path | None = None
        """The browser that was started last, or is about to be."""
        self.windows_user_agent: str | None = None
        """The user agent that Chromium has with windows, read when one starts without."""

    async def start_shared(self, playwright: Playwright) -> BrowserContext:
        """Start the browser on its profile. Raises PlaywrightError, TimeoutError."""
        async with asyncio.timeout(LAUNCHES_WITHIN_S):
            await self._find(playwright, headless=self._options.headless)
            try:
                await self._profile.prepare(self._options.engine)
            except OSError as error:
                raise BrowserLaunchFailed(
                    f"The browser's profile {self._options.profile_dir} cannot be written: {error.strerror or error}.",
                    hint="Free space on that disk, then repeat the call.",
                ) from error
            return await self._start_on(playwright, self._profile.directory)

    async def retry_shared(self, error: PlaywrightError, playwright: Playwright) -> BrowserContext:
        """Start the browser once more. If it starts only on an empty profile, set its own aside and start on a new one.
        Raises BrowserLaunchFailed."""
        failed = launch_failed(error, self._options)
        if not failed.message.startswith(UNEXPLAINED):
            raise failed from error
        try:
            async with asyncio.timeout(LAUNCHES_WITHIN_S):
                if not await self._starts_on_empty(playwright):
                    raise failed from error
                with contextlib.suppress(PlaywrightError):
                    return await self.start_shared(playwright)
                self._profile.set_aside()
                return await self.start_shared(playwright)
        except (PlaywrightError, TimeoutError):
            raise failed from error

    async def start_other(self, playwright: Playwright, kind: BrowserKind) -> Browser:
        """Start a browser beside the shared one. Raises BrowserLaunchFailed, TimeoutError."""
        is_own_engine = kind.engine == self._options.engine
        if is_own_engine:
            await self._find(playwright, headless=kind.headless)
        proxy = await self._gates.for_browser()
        options = (
            self._launch_options(proxy, headless=kind.headless)
            if is_own_engine
            else self._options_of_others(kind, proxy)
        )
        try:
            async with asyncio.timeout(LAUNCHES_WITHIN_S):
                return await browser_type(playwright, kind.engine).launch(headless=kind.headless, **options)
        except PlaywrightError as error:
            started = replace(self._options, engine=kind.engine, headless=kind.headless)
            failed = launch_failed(error, started, starts=1)
            failed.advice = failed.advice if is_own_engine else install_hint(kind.engine)
            raise failed from error

    async def _starts_on_empty(self, playwright: Playwright) -> bool:
        """Say if a browser that does not start on its profile starts on an empty one; False if its own is empty."""
        if self._profile.is_new:
            return False
        with tempfile.TemporaryDirectory(prefix="browse-together-", ignore_cleanup_errors=True) as empty:
            try:
                await bounded((await self._start_on(playwright, Path(empty))).close())
            except PlaywrightError:
                return False
        return True

    async def _start_on(self, playwright: Playwright, directory: Path) -> BrowserContext:
        options = self._options
        width, height = options.viewport
        return await browser_type(playwright, options.engine).launch_persistent_context(
            directory,
            headless=options.headless,
            viewport={"width": width, "height": height},
            user_agent=self.windows_user_agent if options.headless else None,
            **self._launch_options(await self._gates.for_browser(), headless=options.headless),
        )

    def _launch_options(self, proxy: ProxySettings | None, *, headless: bool) -> dict[str, Any]:  # Any: as launch takes
        """Return the launch options that every browser of the service's own engine shares."""
        options, args = self._options, HEADLESS_ARGS if headless else CHROMIUM_ARGS
        return {
            **_UNTOUCHED,
            "traces_dir": options.traces_dir,
            "executable_path": self.executable,
            "chromium_sandbox": options.sandboxed,
            "args": (*args, *network_switches(options.policy)) if options.engine == "chromium" else (),
            "ignore_default_args": UNWANTED_ARGS if options.engine == "chromium" else None,
            "proxy": proxy,
        }

    def _options_of_others(self, kind: BrowserKind, proxy: ProxySettings | None) -> dict[str, Any]:  # Any: as above
        """Return the launch options of a browser of another engine."""
        policy = self._options.policy
        switches = network_switches(policy) if kind.engine == "chromium" else ()
        traces = {"traces_dir": self._options.traces_dir}
        return {**_UNTOUCHED, **traces, "args": switches, "proxy": proxy if policy.needs_gate else None}

    async def _find(self, playwright: Playwright, *, headless: bool) -> None:
        executable = find_executable(playwright, self._options)
        unknown = executable != self.executable or self.windows_user_agent is None
        if unknown and self._options.engine == "chromium" and headless:
            self.windows_user_agent = await user_agent(executable)
        self.executable = executable
