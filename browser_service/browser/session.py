"""A session: one browser context with its logins, started by the first call that needs it."""

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Protocol, cast

from playwright.async_api import BrowserContext, Cookie, Dialog, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browser_service.browser import errors
from browser_service.browser.closing import bounded
from browser_service.browser.files import ArtifactPort, Files
from browser_service.browser.launching import signing_in
from browser_service.browser.launching.isolation import context_options
from browser_service.browser.launching.launcher import Home, Launcher
from browser_service.browser.launching.pool import Kind
from browser_service.browser.launching.signing_in import SignedIn, cookie_key
from browser_service.browser.queue import PageQueue
from browser_service.browser.recording.recording import Recording
from browser_service.browser.recording.tracing import Tracing
from browser_service.browser.recovery.restoring import restored
from browser_service.browser.windows import Windows
from browser_service.security.urls import UrlPolicy
from shared.calls import Call, Json, SessionSpec
from shared.errors import BrowserCrashed

if TYPE_CHECKING:
    from browser_service.browser.performing import Undoes

_SAVE_AFTER_S = 0.5
_SAVE_WITHIN_S = 5
_STORAGE_WITHIN_S = 10
_STORAGE_SHARE = 0.05
"""Of the time may go into reading storage: Playwright visits each site that a session has been to, 0.1 s each."""
_STORAGE_PAUSE_S = 60
_LOGINS_WITHIN_S = 0.2
_HANGS_AFTER_S = 5
_LOOKS_EVERY_S = 0.2
_OPENS_WITHIN_S = 10


class PageEvents(Protocol):
    """Who is told of the pages that come and ask."""

    def foreign_page(self, session: "SessionEntry", page: Page) -> None:
        """A page came that nobody asked for here: a popup, or a person's tab."""

    def popup_coming(self, opener_target: str) -> None:
        """A page is opening another one, which will follow as a foreign page."""

    async def pages_found(self, session: "SessionEntry", pages: list[Page]) -> None:
        """Pages that were there before us, in a browser that was attached to."""

    def dialog(self, page: Page | None, dialog: Dialog) -> None: ...

    def dialog_closed(self, dialog: Dialog) -> None: ...


class SessionEvents(Protocol):
    """Who is told of the session itself."""

    async def at_rest(self) -> None:
        """Let what runs on pages come to its end, and save all logins: the browser is going to be closed."""

    def say(self, text: str) -> None:
        """Something that all should know."""

    def state(self, session_id: str, state: Json, name: str = "") -> None:
        """The session's logins changed, or were saved under a name."""

    def waits(self, call: Call, position: int, behind: str) -> None:
        """A call waits for its turn."""


class SessionEntry:
    """The live side of a session. Opening, saving and closing are shared work: one caller's cancel stops none of it."""

    def __init__(
        self, spec: SessionSpec, launcher: Launcher, policy: UrlPolicy, *, pages: PageEvents, on: SessionEvents
    ) -> None:
        self.session_id = spec.session_id
        self._policy = policy
        self._spec = spec
        self._launcher = launcher
        self._pages = pages
        self._on = on
        self._home: Home | None = None
        self._context: BrowserContext | None = None
        self._windows: Windows | None = None
        self._opening: asyncio.Task[Windows] | None = None
        self._saving: asyncio.Task[None] | None = None
        self.queue = PageQueue(lambda turn, position, behind: on.waits(turn.call, position, behind))
        self._saved: Json = spec.state
        self._unsaved = False
        self.used_at = time.monotonic()
        self._one_save = asyncio.Lock()
        self._storage_from = 0.0
        """When its storage may be read again."""
        self.recordings: set[Recording] = set()
        self.tracing = Tracing()
        self.headers: dict[str, str] = {**spec.headers}
        """What every request of its pages carries besides."""

    @property
    def profile(self) -> bool:
        """Whether it is the shared login."""
        return self._spec.profile

    @property
    def kind(self) -> Kind | None:
        """Of its browser; None for the shared one."""
        return self._launcher.kind(self._spec)

    @property
    def attached(self) -> bool:
        """Whether it is of a browser that is somebody else's."""
        return self._launcher.attached

    @property
    def live(self) -> bool:
        browser = self._context.browser if self._context is not None else None
        return self._launcher.runs(self._home) and (browser is None or browser.is_connected())

    def ended(self) -> str:
        """How the browser of an earlier context ended, in words."""
        return self._launcher.ended()

    def owns(self, page: Page) -> bool:
        """Whether a page is of the browser that runs now. Playwright calls pages of a dead driver open for ever."""
        return page.context is self._context and self.live

    async def set_headers(self, headers: dict[str, str]) -> None:
        """Kept for the context that may follow this one. A page that shows a dialog makes this hang."""
        context = await self.context()
        self.headers = headers
        await context.set_extra_http_headers(headers)

    def device(self, name: str) -> Json:
        """Playwright's description of a device. Raises ValidationFailed, naming those that are spelled alike."""
        return self._launcher.device(name)

    async def open_window(self) -> Page:
        """A blank page of its own window; starts the browser where it does not run."""
        windows = await self._ready()
        try:
            return await self._while_live(windows.open())
        except TimeoutError:
            await self.end_if_hanging(_HANGS_AFTER_S)
            raise BrowserCrashed("The browser opened no window.") from None
        except PlaywrightError as error:
            raise BrowserCrashed("The browser opened no window.") from error

    async def _while_live(self, opening: Coroutine[object, object, Page]) -> Page:
        """A browser that ends meanwhile tells nobody who waits for a window of it."""
        task = asyncio.create_task(opening)
        try:
            while not task.done() and self.live:
                await asyncio.wait({task}, timeout=_LOOKS_EVERY_S)
            if not task.done():
                raise BrowserCrashed("The browser ended while it opened a window.")
            return task.result()
        finally:
            task.cancel()

    async def end_if_hanging(self, after_s: float) -> None:
        """A browser of ours that answers nothing is as good as dead, and nobody else would end it."""
        if self._context is None or self.attached:
            return
        try:
            async with asyncio.timeout(after_s):
                await self._context.cookies()
        except TimeoutError:
            await self._launcher.end_hanging()
        except PlaywrightError:
            return

    async def context(self) -> BrowserContext:
        """Playwright's; starts the browser where it does not run."""
        await self._ready()
        if self._context is None:
            raise BrowserCrashed("The browser ended.")
        return self._context

    async def sign_in(self, url: str | None) -> SignedIn:
        """Give the profile to a person in an ordinary window, until they close it. Raises TimedOut where they do not.

        Afterwards all is as before, with the logins that the person made; also when this is cancelled.
        """
        signing_in.check(self._spec, self._launcher)
        await self._ready()  # with the cookies that were saved before: what the window has comes from the profile
        self._launcher.reserve()
        try:
            await self._on.at_rest()
            before = _cookies(self._saved)
            self._home = self._context = self._windows = None
            await signing_in.until_closed(self._launcher, url)
        finally:
            self._launcher.free()
        await self._ready()
        return SignedIn(signing_in.sites(before, _cookies(self._saved)), kept_sessions=self._launcher.kept_sessions)

    def permits(self, url: str) -> bool:
        """Whether the URL policy lets a page go there."""
        return self._policy.permits(url)

    def save_soon(self) -> None:
        """Have the cookies written down, once for many changes in a row."""
        self._unsaved = True
        if self.live and not self.attached and (self._saving is None or self._saving.done()):
            self._saving = asyncio.create_task(self._save_later())

    async def save_logins(self) -> None:
        """The cookies, now: an act may have been a login, and the browser may be killed the next moment."""
        if self._context is None or not self.live or self.attached:
            return
        with contextlib.suppress(TimeoutError, PlaywrightError):  # they are saved soon, or are lost with the browser
            await self._save_cookies(self._context, _LOGINS_WITHIN_S)

    async def save_whole(self) -> bool:
        """Save all that its context has: it is going to be closed until the next call. False where that failed."""
        if self._saving is not None:  # which would save less
            self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)
        self._unsaved = False
        if self._context is None or not self.live:
            return True
        try:
            await self._save_cookies(self._context)
            await self._save_storage(self._context, _STORAGE_WITHIN_S)
        except (TimeoutError, PlaywrightError):
            return False
        return True

    @property
    def unsaved(self) -> bool:
        """Whether anything may have changed since."""
        return self._unsaved

    def let_go(self) -> BrowserContext | None:
        """From this moment on the next call opens another context. The one that is to be closed, if it is not the
        browser's own."""
        context, self._home, self._context, self._windows = self._context, None, None, None
        return None if self._spec.profile else context

    async def spec(self, *, whole: bool) -> SessionSpec:
        """What it takes to have it again, but for its pages. What a browser that is gone had stays as it was saved."""
        if self._context is not None and self.live and not self.attached:
            with contextlib.suppress(TimeoutError, PlaywrightError):
                await self._save_cookies(self._context)
                if whole:
                    await self._save_storage(self._context)
        return self._spec.model_copy(update={"state": self._saved, "headers": self.headers})

    async def close(self) -> None:
        """Save, and let go of the context. The browser itself belongs to the launcher."""
        if self._opening is not None:
            await asyncio.wait({self._opening}, timeout=_OPENS_WITHIN_S)
        if self._saving is not None:
            self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)
        await self.save(whole=True)
        context, self._context, self._windows = self._context, None, None
        if context is not None and not self._spec.profile:
            await bounded(context.close())

    async def _ready(self) -> Windows:
        if self.live and self._windows is not None:
            return self._windows
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Windows:
        try:
            return await self._opened()
        except PlaywrightError as error:
            raise BrowserCrashed("The browser ended while its session was opened.") from error

    async def _opened(self) -> Windows:
        home = await self._launcher.home(self._spec)
        context = home if isinstance(home, BrowserContext) and self._spec.profile else await self._isolated(home)
        if self._spec.profile and not self.attached:
            crashed = self._context is not None or self._launcher.ended_badly
            await self._bring_back_cookies(context, after_crash=crashed)
        context.on("dialog", lambda dialog: self._pages.dialog(dialog.page, dialog))
        context.on("dialogclosed", self._pages.dialog_closed)
        if self.headers:
            await bounded(context.set_extra_http_headers(self.headers))
        self._home, self._context = home, context
        self._windows = Windows(
            context,
            self._policy,
            lambda page: self._pages.foreign_page(self, page),
            self._pages.popup_coming,
            ours=not self.attached,
            lasting=self._spec.profile,
        )
        if self.attached:
            await self._pages.pages_found(self, context.pages)
        elif self._spec.profile:
            await self.save()
            self._launcher.took_back()
        return self._windows

    async def _isolated(self, home: Home) -> BrowserContext:
        """A context of its own, as it was asked for, with the logins that it had."""
        browser = home.browser if isinstance(home, BrowserContext) else home
        if browser is None:
            raise BrowserCrashed("This engine has no contexts beside its profile.")
        options = context_options(self._spec.options, self._launcher.user_agent)
        states = [state for state in (self._saved, *self._spec.earlier) if state]
        context, taken, refused = await restored(browser, options, states, f"Session {self.session_id!r}")
        if refused:
            self._on.say(refused)
            self._saved = taken
        return context

    async def _bring_back_cookies(self, context: BrowserContext, *, after_crash: bool) -> None:
        """A profile on disk loses its session cookies with the browser's end: add those that it lacks.

        In a crash it loses the others too that came in the last 30 s, because Chromium writes no sooner.
        """
        mended, self._launcher.mended = self._launcher.mended, []
        if self._launcher.kept_sessions and not after_crash and not mended:
            return  # what the profile lacks now, a person has logged out of
        present = {cookie_key(_json(cookie)) for cookie in await context.cookies()}
        if not mended and not after_crash and self._lost_all(present):
            mended = ["The profile had lost its cookies: they come back from what the service has saved."]
        for text in mended:
            self._on.say(text)
        after_crash = after_crash or bool(mended)
        lacking = [
            cookie
            for cookie in _cookies(self._saved)
            if cookie_key(cookie) not in present and (after_crash or cookie.get("expires") == -1)
        ]
        if lacking and not await _added(context, lacking):
            for cookie in lacking:  # one that the browser no longer accepts must not cost the others
                await _added(context, [cookie])

    def _lost_all(self, present: set[tuple[object, ...]]) -> bool:
        """Whether of the cookies that last none is there: a browser whose cookies are damaged begins anew, silently."""
        lasting = {cookie_key(each) for each in _cookies(self._saved) if _lasts(each)}
        return bool(lasting) and lasting.isdisjoint(present)

    async def _save_later(self) -> None:
        while self._unsaved:
            await asyncio.sleep(_SAVE_AFTER_S)
            self._unsaved = False
            await self.save()

    async def save(self, *, whole: bool = False) -> None:
        """Have the logins written down now, with the storage where that has its turn, or must be. A browser that is
        somebody else's keeps its own."""
        async with self._one_save:
            if self._context is None or not self.live or self.attached:
                return
            with contextlib.suppress(TimeoutError, PlaywrightError):  # it ended, or hangs: what was saved before stays
                await self._save_cookies(self._context)
                if whole:
                    await self._save_storage(self._context)
                elif time.monotonic() >= self._storage_from:
                    await self._save_storage(self._context, _STORAGE_WITHIN_S)

    async def _save_cookies(self, context: BrowserContext, within_s: float = _SAVE_WITHIN_S) -> None:
        async with asyncio.timeout(within_s):
            cookies: list[JsonValue] = [_json(cookie) for cookie in await context.cookies()]
        self._note({**self._saved, "cookies": cookies})

    async def _save_storage(self, context: BrowserContext, within_s: float = _SAVE_WITHIN_S) -> None:
        """The profile keeps its own, on disk."""
        if self._spec.profile:
            return
        began = time.monotonic()
        try:
            async with asyncio.timeout(within_s):
                self._note(await _storage(context))
        finally:
            ended = time.monotonic()
            self._storage_from = ended + min((ended - began) / _STORAGE_SHARE, _STORAGE_PAUSE_S)

    def _note(self, state: Json) -> None:
        if state != self._saved:
            self._saved = state
            if self._spec.profile or self._spec.persistent:
                self._on.state(self.session_id, state)

    async def storage(self) -> Json:
        """Cookies, local storage and IndexedDB, as Playwright writes them.

        It takes 0.1 s for each site that the session has been to; a page that spins keeps it from its end.
        """
        return await _storage(await self.context())

    async def keep(self, name: str) -> Json:
        """Save the whole under a name."""
        state = await self.storage()
        self._on.state(self.session_id, state, name)
        return state

    async def restore(self, state: Json) -> None:
        """Put back what was saved; what has come since is gone."""
        await (await self.context()).set_storage_state(state)  # type: ignore[arg-type] # as Playwright gave it
        self.save_soon()


class BrowserSession:
    """A session as one call sees it: what handlers are given."""

    def __init__(self, entry: SessionEntry, call: Call, artifacts: ArtifactPort, undoable: "Undoes") -> None:
        self.entry = entry
        self.call = call
        self.undoable = undoable
        """Notes what it takes to take the act back."""
        self.files = Files(artifacts, call.client_id, inline_text=call.inline_text)

    async def context(self) -> BrowserContext:
        """Playwright's."""
        return await self.entry.context()


async def _added(context: BrowserContext, cookies: list[Json]) -> bool:
    """All of them, or none. Raises PlaywrightError where the browser ended."""
    try:
        await context.add_cookies(cookies)  # type: ignore[arg-type] # as Playwright gave it
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return False
    return True


async def _storage(context: BrowserContext) -> Json:
    return cast("Json", await context.storage_state(indexed_db=True))


def _cookies(state: Json) -> list[Json]:
    return cast("list[Json]", state.get("cookies") or [])


def _lasts(cookie: Json) -> bool:
    expires = cookie.get("expires")
    return isinstance(expires, int | float) and expires > time.time()


def _json(cookie: Cookie) -> Json:
    return {name: value for name, value in cookie.items() if isinstance(value, str | int | float)}
