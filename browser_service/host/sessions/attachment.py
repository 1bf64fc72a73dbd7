"""The one connection to a person's own browser: how it begins, waits for the person, and ends.

It is longer than 300 lines because the whole life of that connection is here.
"""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

import platformdirs
from filelock import FileLock, Timeout
from playwright.async_api import Browser, Playwright
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.attached import AttachmentState, AttachTarget
from browse_together.contract.errors import BrowseError, BrowserLaunchFailed
from browse_together.contract.installation import command
from browse_together.contract.loopback import is_loopback
from browse_together.contract.wire import APP_NAME
from browser_service.host.background import bounded
from browser_service.host.elements.locators import register_engines
from browser_service.host.sessions.driver import Started, start_driver
from browser_service.host.sessions.errors import attach_failed
from browser_service.host.sessions.options import LaunchOptions
from browser_service.host.sessions.processes import WatchedProcess, end_all
from browser_service.host.sessions.profile_names import profile_of
from browser_service.host.sessions.running import RunningBrowser
from browser_service.host.sessions.user_browsers import Listening, asks_person, at_start, find, title_of
from browser_service.rules.bounded import Bounded

_ATTACHES_WITHIN_MS: Final = 10_000
_WAITS_S: Final = 60.0
"""How long a call waits for the person's answer. The question itself stays until it is answered."""
_ASKS_EVERY_S: Final = 60.0
_SAYS_WITHIN_S: Final = 15.0
_REFUSED: Final = "403"
_MOST_INTRODUCED: Final = 500

Tell = Callable[[str], None]
"""The function that hears, in words, whom a call waits for."""


class Attachment:
    """The connection to a person's browser, over a driver of its own: what ends a browser of ours does not end it.

    A browser may ask its person about each connection. So one is kept, and asked for by one caller at a time.
    """

    def __init__(
        self,
        options: LaunchOptions,
        early: asyncio.Task[Started] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`early` is the driver to use first, which may still be starting."""
        self.options, self._early, self._clock = options, early, clock
        self.target: AttachTarget | None = AttachTarget() if options.cdp_url else None
        self.playwright: Playwright | None = None
        self.hosts = frozenset[str]()
        """Where the browser listens. A page that reached it could drive the browser."""
        self._driver: WatchedProcess | None = None
        self._browser: RunningBrowser | None = None
        self._end_reason, self._profile = "", ""
        self._introduced = Bounded[str, None](_MOST_INTRODUCED)
        self._attaching: asyncio.Task[RunningBrowser] | None = None
        self._asked_at: float | None = None
        self._asks, self._refused, self._problem = False, False, ""
        self._told = list[Tell]()
        self._lock: FileLock | None = None

    # --- how it stands -----------------------------------------------------------------------------------------------

    @property
    def runs(self) -> bool:
        """True while the browser is attached to."""
        return self._browser is not None and self._browser.runs

    def end_reason(self) -> str:
        """Say how the connection ended; "" if it has not."""
        return self._end_reason if self._browser is not None else ""

    def _note_end(self) -> None:
        died = self._driver is not None and not self._driver.runs
        self._end_reason = "Playwright's driver ended" if died else f"{at_start(self._title)} ended"

    @property
    def _title(self) -> str:
        return title_of(self.target) if self.target is not None else "the user's browser"

    @property
    def _state(self) -> Literal["off", "asking", "attached", "refused", "gone"]:
        if self.target is None:
            return "off"
        if self.runs:
            return "attached"
        return "asking" if self._asks else "refused" if self._refused else "gone"

    def describe(self) -> AttachmentState:
        """Return the attachment's state, with words for the person."""
        state, title = self._state, self._title
        again = command("attach", *(self.target.arguments if self.target is not None else ("chrome",)))
        ended = self.end_reason()
        gone = self._problem or (f"{ended}." if ended else f"{at_start(title)} is not attached to now.")
        words, next_step = {
            "off": ("No browser of yours is attached to.", again),
            "asking": (f"{at_start(title)} asks you to allow it.", "Press Allow there."),
            "attached": (f"Attached to {self._named}.", ""),
            "refused": (
                f"You did not allow agents into {title}, and are not asked again until you attach anew:",
                again,
            ),
            "gone": (gone, "The next call of an agent there attaches."),
        }[state]
        return AttachmentState(
            state=state,
            browser="" if state == "off" else title,
            profile=self._profile,
            words=words,
            next_step=next_step,
        )

    @property
    def _named(self) -> str:
        return ", ".join(filter(None, [self._title, self._profile]))

    def introduction(self, client_id: str) -> str:
        """Return which browser this is, once for each client; empty if that client was told, or it is nobody's home."""
        if client_id in self._introduced or not (self.target and (self.target.browser or self.target.profile_dir)):
            return ""
        self._introduced[client_id] = None
        return f"This is the user's own browser: {self._named}."

    # --- attaching ---------------------------------------------------------------------------------------------------

    async def browser(self, tell: Tell = lambda _: None) -> RunningBrowser:
        """Return the browser; attach if it is not attached to. `tell` hears if its person has to allow that. Raises
        BrowserLaunchFailed."""
        if self._browser is not None and self._browser.runs:
            return self._browser
        if self.target is None:
            raise BrowserLaunchFailed(
                "No browser of the user's is attached to.", hint=f"The user does that: {command('attach', 'chrome')}"
            )
        if self._refused:
            raise self._refusal()
        attaching = self._attach_once()
        with self._hears(tell):
            await asyncio.wait({attaching}, timeout=_WAITS_S)
        if not attaching.done():
            raise BrowserLaunchFailed(
                f"{at_start(self._title)} asks the user to allow it, and nobody has answered for {_WAITS_S:.0f} s.",
                hint="The user presses Allow in that browser's window; then repeat the call.",
            )
        return _result(attaching)

    async def attach(self, target: AttachTarget) -> None:
        """Attach because a person asks for it. Returns once that is done, or the browser asks its person. Raises why it
        cannot be attached to; what was attached to before is then as it was."""
        before, refused = (self.target, self._refused)
        self.target, self._refused = target, False
        if self.runs:
            return
        asked = asyncio.Event()
        attaching, asking = self._attach_once(), asyncio.create_task(asked.wait())
        with self._hears(lambda _: asked.set()):
            await asyncio.wait({attaching, asking}, timeout=_SAYS_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
        asking.cancel()
        if attaching.done():
            try:
                _result(attaching)
            except Exception:
                if not attaching.cancelled():  # else `detach` has said what is attached to now
                    self.target, self._refused = before, refused or self._refused
                raise

    async def detach(self) -> None:
        """Let the browser go; all of its tabs stay as they are."""
        if self._attaching is not None:
            self._attaching.cancel()
            await asyncio.gather(self._attaching, return_exceptions=True)
        await self._leave()
        self.target = AttachTarget() if self.options.cdp_url else None
        self._refused, self._problem, self._attaching, self._profile = False, "", None, ""
        self._introduced.clear()

    def _attach_once(self) -> asyncio.Task[RunningBrowser]:
        if self._attaching is None or self._attaching.done():
            self._attaching, self._problem = asyncio.create_task(self._attach()), ""
            self._attaching.add_done_callback(self._note)
        return self._attaching

    def _note(self, attaching: asyncio.Task[RunningBrowser]) -> None:
        error = None if attaching.cancelled() else attaching.exception()
        self._problem = error.message if isinstance(error, BrowseError) else ""

    async def _attach(self) -> RunningBrowser:
        await self._leave()
        found = await self.look()
        self._check_pause(found)
        self._take_lock(found)
        try:
            early, self._early = self._early, None
            self.playwright, driver = await (early or start_driver())
            self._driver = WatchedProcess(driver) if driver else None
            self._profile = await asyncio.to_thread(profile_of, found.directory) if found.directory else ""
            browser = await self._connect(self.playwright, found)  # from its end on, it is attached to
        except BaseException:
            await self._leave()
            raise
        context, processes = browser.contexts[0], [self._driver] if self._driver is not None else []
        running = self._browser = RunningBrowser(browser, context, processes)
        running.on_end(self._note_end)
        # else Playwright itself answers what the person's tabs ask, until a session listens
        context.on("dialog", lambda _: None)
        self._asked_at, self._end_reason = None, ""  # who allowed it may be asked again at once
        return running

    async def look(self) -> Listening:
        """Find where the browser listens, without attaching. Raises BrowserLaunchFailed."""
        target, url = self.target or AttachTarget(), self.options.cdp_url
        if target.browser or target.profile_dir or url is None:
            found = await find(target)
        else:
            parts = urlsplit(url)
            at_hand = parts.scheme == "ws" and is_loopback(parts.hostname or "") and parts.port is not None
            asks = at_hand and await asks_person(parts.hostname or "", parts.port or 0, parts.path, self._title)
            found = Listening(self._title, url, asks=asks)
        self.hosts = frozenset([urlsplit(found.url).netloc.rpartition("@")[2]])
        return found

    async def _connect(self, playwright: Playwright, found: Listening) -> Browser:
        """Connect; if the browser asks its person, for as long as they take. Raises BrowserLaunchFailed."""
        if found.asks:
            self._asks, self._asked_at = True, self._clock()
            for tell in [*self._told]:
                tell(self._waits_for)
        try:
            browser = await playwright.chromium.connect_over_cdp(
                found.url,
                headers={**self.options.cdp_headers} or None,
                no_defaults=True,
                timeout=0 if found.asks else _ATTACHES_WITHIN_MS,
            )
            await register_engines(playwright)  # so that the person's context takes part
        except PlaywrightError as error:
            if found.asks and _REFUSED in str(error):
                self._refused = True
                raise self._refusal() from error
            if found.asks:
                raise BrowserLaunchFailed(
                    f"{at_start(found.title)} ended before it was allowed.", hint="Start it, then repeat this."
                ) from error
            raise attach_failed(error, found.url) from error
        finally:
            self._asks = False
        return browser

    def _refusal(self) -> BrowserLaunchFailed:
        arguments = self.target.arguments if self.target is not None else ()
        return BrowserLaunchFailed(
            f"The user did not allow agents into {self._title}, and is not asked again.",
            hint=f"Ask the user. They attach anew: {command('attach', *arguments)}",
        )

    @property
    def _waits_for(self) -> str:
        return f"the user: {self._title} asks you to allow it; press Allow there"

    @contextlib.contextmanager
    def _hears(self, tell: Tell) -> Iterator[None]:
        """Tell a caller that the browser asks its person, now or as soon as it does."""
        self._told.append(tell)
        if self._asks:
            tell(self._waits_for)
        try:
            yield
        finally:
            self._told.remove(tell)

    def _check_pause(self, found: Listening) -> None:
        """Raise BrowserLaunchFailed if the browser would ask its person again too soon."""
        ago = self._clock() - self._asked_at if self._asked_at is not None else _ASKS_EVERY_S
        if found.asks and ago < _ASKS_EVERY_S:
            raise BrowserLaunchFailed(
                f"{at_start(found.title)} asked its user {ago:.0f} s ago, and is made to ask once a minute at most.",
                hint=f"Repeat this in {_ASKS_EVERY_S - ago:.0f} s.",
            )

    def _take_lock(self, found: Listening) -> None:
        """Have a browser that listens here alone among the services of this account. Raises BrowserLaunchFailed."""
        if found.directory is None:
            return  # several may share one that was started to be driven
        folder = platformdirs.user_cache_path(APP_NAME, appauthor=False, ensure_exists=True)
        name = hashlib.sha256(str(found.directory.resolve()).encode()).hexdigest()[:16]
        lock, note = FileLock(folder / f"attached-{name}.lock"), folder / f"attached-{name}.txt"
        try:
            lock.acquire(blocking=False)
        except Timeout:
            other = Path(note.read_text(encoding="utf-8")) if note.exists() else None
            where = f" (data directory {other})" if other else ""
            detach = command("detach", *(("--data-dir", str(other)) if other else ()))
            raise BrowserLaunchFailed(
                f"Another service of this account is attached to {found.title}{where}.",
                hint=f"Work through that one, or detach it: {detach}",
            ) from None
        self._lock = lock
        note.write_text(str(self.options.profile_dir.parent), encoding="utf-8")

    # --- its end -----------------------------------------------------------------------------------------------------

    async def _leave(self) -> None:
        """Disconnect, and end the driver. Idempotent."""
        running, playwright, driver, lock = self._browser, self.playwright, self._driver, self._lock
        self._browser, self.playwright, self._driver, self._lock = None, None, None, None
        try:
            if running is not None and running.browser is not None:
                running.end()
                await bounded(running.browser.close())  # to close its context would close the person's tabs
            if playwright is not None:
                await bounded(playwright.stop())
        finally:  # also if `detach` cancels this
            try:
                await asyncio.to_thread(end_all, [driver] if driver is not None else [])
            finally:
                if lock is not None:
                    lock.release()


def _result(attaching: asyncio.Task[RunningBrowser]) -> RunningBrowser:
    """Return the context, or raise why there is none. A task that `detach` cancelled does not cancel who waits for
    it."""
    if attaching.cancelled():
        raise BrowserLaunchFailed("The user took their browser back.", hint="Ask the user, who attaches it anew.")
    return attaching.result()
