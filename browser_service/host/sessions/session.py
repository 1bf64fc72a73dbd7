"""Runs a session: one browser context with its logins, started by the first call that needs it."""

import asyncio
import time
from collections.abc import Coroutine

from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.calls import Call, CallState, Notice
from browse_together.contract.errors import BrowserCrashed, Forbidden
from browse_together.contract.events import CallMoved, LoginOver, NoticeGiven, StateSaved
from browse_together.contract.model import Json
from browse_together.contract.pages import SessionSpec
from browser_service.host.background import bounded
from browser_service.host.elements.clipboards import Clipboards
from browser_service.host.elements.given_secrets import GivenSecrets
from browser_service.host.network.guard import BrowserGuard
from browser_service.host.network.sign_in import SignIns
from browser_service.host.record.init_scripts import InitScripts
from browser_service.host.record.recording import Recording
from browser_service.host.record.traces import Tracing
from browser_service.host.sessions import person_window
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.login_restore import restore_context, restore_cookies
from browser_service.host.sessions.logins import Logins, cookies_of
from browser_service.host.sessions.options import context_options
from browser_service.host.sessions.permissions import Permissions
from browser_service.host.sessions.person_window import SignedIn
from browser_service.host.sessions.pool import BrowserKind
from browser_service.host.sessions.running import RunningBrowser
from browser_service.host.sessions.session_events import PageEvents, SessionEvents
from browser_service.host.sessions.windows import Windows
from browser_service.rules.login_ends import LoginEnds
from browser_service.rules.turns import PageQueue
from browser_service.security.urls import UrlPolicy

_HANGS_AFTER_S = 5
_LOOKS_EVERY_S = 0.2
_OPENS_WITHIN_S = 10
_LOOKS_WITHIN_S = 2


class SessionEntry:
    """The live side of a session. All callers share its opening, saving and closing: no caller's cancellation stops
    them."""

    def __init__(
        self,
        spec: SessionSpec,
        launcher: Launcher,
        policy: UrlPolicy,
        guard: BrowserGuard,
        *,
        pages: "PageEvents[SessionEntry]",
        on: SessionEvents,
    ) -> None:
        self.session_id = spec.session_id
        self.policy = policy
        self._guard = guard
        self._spec = spec
        self.launcher = launcher
        self._pages = pages
        self._on = on
        self._browser: RunningBrowser | None = None
        self.opened: BrowserContext | None = None
        """Playwright's context, while there is one."""
        self.browser_id = ""
        """The id of the browser in which it was last opened."""
        self.windows: Windows | None = None
        self.closing = False
        """True once it ends for good: a window that comes now closes with its context."""
        self._opening: asyncio.Task[Windows] | None = None
        self.queue = PageQueue(on.emit)
        self.logins = Logins(spec.state, storage=not self.profile, session=self)
        self.sign_ins, self.bound_logins = SignIns(self.logins.http), self.logins.bound
        self.login_ends = LoginEnds()
        self.used_at = time.monotonic()
        self.recordings: set[Recording] = set()
        self.tracing = Tracing()
        self.headers: dict[str, str] = {**spec.headers}
        self.init_scripts = InitScripts(texts={**spec.init_scripts})
        self.permissions = Permissions({**spec.permissions})
        self.clipboards = Clipboards()
        self.given_secrets = GivenSecrets()

    @property
    def profile(self) -> bool:
        """True if its context is the browser's own, with the logins that its person has: that of the shared login, or
        of an attached browser."""
        return self._spec.profile or self._spec.attached

    @property
    def kind(self) -> BrowserKind | None:
        """Return the kind of the session's browser; None for the shared one."""
        return self.launcher.kind(self._spec)

    @property
    def headless(self) -> bool:
        """True if nobody sees the session's windows."""
        return self.launcher.is_headless(self._spec)

    @property
    def attached(self) -> bool:
        """True if it is the session of a person's own tabs and logins."""
        return self._spec.attached

    @property
    def in_persons_browser(self) -> bool:
        """True if its browser is somebody else's, and goes on when we leave."""
        return self.launcher.attaches(self._spec)

    @property
    def keeps_tabs_private(self) -> bool:
        """True if agents see only those tabs of its browser that its person shares."""
        return self.attached and self.launcher.options.private_tabs

    @property
    def has_own_proxy(self) -> bool:
        """True if its pages come through a proxy that an agent chose."""
        return self._spec.options.proxy is not None

    @property
    def live(self) -> bool:
        return self._browser is not None and self._browser.runs

    def owns(self, context: BrowserContext) -> bool:
        """Say if a context's pages belong to the browser that runs now."""
        return context is self.opened and self.live

    async def set_headers(self, headers: dict[str, str]) -> None:
        """Send `headers` with every request from now on, and also in a later context. A page that shows a dialog makes
        this hang."""
        context = await self.context()
        self.headers = headers
        await context.set_extra_http_headers(headers)

    async def grant(self, origin: str, names: list[str], client_id: str = "") -> list[str]:
        """Grant permissions to a site. Returns those that it had before."""
        windows = await self._open_once()
        return await self.permissions.grant(await self.context(), windows, origin, names, client_id)

    async def open_window(self) -> Page:
        """Open a blank page in a window of its own; start the browser if it does not run."""
        windows = await self._open_once()
        try:
            await self.check_profile()
            return await self._wait_while_live(windows.open())
        except TimeoutError:
            await self.end_if_hanging(_HANGS_AFTER_S)
            raise BrowserCrashed("The browser opened no window.") from None
        except PlaywrightError as error:
            raise BrowserCrashed("The browser opened no window.") from error

    async def check_profile(self) -> None:
        """Raise Forbidden while a person uses another profile of their browser than the session's, because Chromium
        takes what is about the whole browser for that."""
        windows = self.windows if self.keeps_tabs_private else None
        if windows is not None and not await windows.is_of_profile():
            raise Forbidden(
                f"The user is in another profile of their browser than session {self.session_id!r} has.",
                hint="Their pages there go on. Ask the user to select a window of that profile; then repeat this.",
            )

    def open_behind(self, opener_target: str, url: str) -> None:
        """Open a URL that a page asked a window for behind the person's tabs."""
        self._pages.window_asked(self, opener_target, url)

    async def _wait_while_live(self, opening: Coroutine[object, object, Page]) -> Page:
        """Wait for a window while the browser lives: a browser that ends does not tell those who wait for its
        windows."""
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
        """End a browser of ours that does not answer: it is as good as dead, and nobody else would end it."""
        if self.opened is None or self.in_persons_browser:
            return
        try:
            async with asyncio.timeout(after_s):
                await self.opened.cookies()
        except TimeoutError:
            await self.launcher.end_hanging()
        except PlaywrightError:
            return

    async def reach(self, call: Call) -> None:
        """Attach to the browser if it is a person's, and tell the call's client if that person has to allow it, and
        once which browser it is."""
        if not self.in_persons_browser:
            return
        attachment = self.launcher.attachment(self._spec)

        def tell(waits_for: str) -> None:
            moved = CallMoved(call_id=call.call_id, client_id=call.client_id, state=CallState.QUEUED)
            self._on.emit(moved.model_copy(update={"waits_for": waits_for}))

        if not self.live:
            await attachment.browser(tell)
        if said := attachment.introduction(call.client_id):
            self._say(f"Session {self.session_id!r}: {said}", call.client_id)

    def end_reason(self) -> str:
        """Say what ended the browser without our doing, now or last time; "" if nothing did."""
        attached = self.launcher.attachment(self._spec) if self.in_persons_browser else None
        return (attached or self.launcher).end_reason()

    async def context(self) -> BrowserContext:
        """Return Playwright's context; start the browser if it does not run."""
        await self._open_once()
        if self.opened is None:
            raise BrowserCrashed("The browser ended.")
        return self.opened

    async def sign_in(self, url: str | None) -> SignedIn:
        """Give the profile to a person in an ordinary window, until they close it. Raises TimedOut if they do not.

        Afterwards, even if this is cancelled, the profile is free again, with the logins that the person made.
        """
        person_window.check(self._spec, self.launcher)
        await self._open_once()  # with the cookies that were saved before: what the window has comes from the profile
        self.launcher.profile.reserve()
        try:
            await self._on.at_rest()
            before = self.logins.cookies
            self._let_go()
            await person_window.wait_until_closed(self.launcher, url)
        finally:
            self.launcher.profile.free()
        await self._open_once()
        sites = person_window.changed_sites(before, self.logins.cookies)
        return SignedIn(sites, has_session_cookies=self.launcher.profile.has_session_cookies)

    def let_go(self) -> BrowserContext | None:
        """Detach from the context, so that the next call opens a new one. Returns the old one if the caller must close
        it; the browser's own context ends with the browser."""
        context = self._let_go()
        return None if self.profile else context

    def _let_go(self) -> BrowserContext | None:
        context, self.opened, self.windows = self.opened, None, None
        self._forget_browser()
        self._pages.browser_ended(self)
        return context

    def _forget_browser(self) -> None:
        if self._browser is not None:
            self._browser.forget(self._note_end)
        self._browser = None

    def look(self) -> None:
        """Look whether the browser has ended by now."""
        if self._browser is not None:
            self._browser.look()

    @property
    def spec(self) -> SessionSpec:
        """Return the spec that opens the session again as it was saved, but without its pages."""
        scripts, permissions = self.init_scripts.texts, self.permissions.by_origin
        own = {"headers": self.headers, "init_scripts": scripts, "permissions": permissions}
        return self._spec.model_copy(update={"state": self.logins.saved, **own})

    async def close(self, *, whole: bool = True) -> None:
        """Save the logins, and let go of the context; the browser itself belongs to the launcher. With `whole`, save
        the storage too, which a page that shows a dialog or spins holds back."""
        if self._opening is not None:
            await asyncio.wait({self._opening}, timeout=_OPENS_WITHIN_S)
        await self.logins.cancel_save()
        await (self.logins.save(with_storage=True) if whole else self.logins.save_cookies(_HANGS_AFTER_S))
        context, self.opened, self.windows = self.opened, None, None
        self._forget_browser()
        if context is not None and not self.profile:
            await bounded(context.close())
        await self.launcher.gates.close(self.session_id)

    async def current_windows(self) -> Windows | None:
        """Return the windows without opening the session; None if it is not open, nor about to be."""
        if self._opening is not None:
            await asyncio.wait({self._opening}, timeout=_LOOKS_WITHIN_S)
        return self.windows if self.live else None

    async def _open_once(self) -> Windows:
        if self.live and self.windows is not None:
            return self.windows
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Windows:
        try:
            return await self._open_context()
        except PlaywrightError as error:
            raise BrowserCrashed("The browser ended while its session was opened.") from error

    async def _open_context(self) -> Windows:
        running = await self.launcher.browser(self._spec)
        own = running.context if self.profile else None
        context = own if own is not None else await self._isolated(running.browser)
        if self._spec.profile and not self.attached:
            crashed = self.opened is not None or self.launcher.killed_before
            await self._restore_logins(context, after_crash=crashed)
        context.on("dialog", lambda dialog: self._pages.dialog(self, dialog.page, dialog))
        context.on("dialogclosed", self._pages.dialog_closed)
        if not self.keeps_tabs_private:
            await self._attach_settings(context)
        self._forget_browser()
        self._browser, self.opened, self.browser_id = running, context, running.id
        running.on_end(self._note_end)
        self._pages.browser_found(self)
        self.windows = Windows(
            context,
            self._guard,
            lambda page: self._pages.foreign_page(self, page),
            self._pages.popup_coming,
            ours=not self.in_persons_browser,
            lasting=self.profile,
        )
        if self.permissions.by_origin and not self.keeps_tabs_private:
            await bounded(self.permissions.attach(context, self.windows))
        if self.attached:
            await self._pages.pages_found(self, context.pages)
        elif self._spec.profile:
            await self.logins.save()
            self.launcher.confirm_profile()
        self._on.opened()
        return self.windows

    async def _attach_settings(self, context: BrowserContext) -> None:
        """Give a context what its documents and requests carry, whoever's they are."""
        if self.headers:
            await bounded(context.set_extra_http_headers(self.headers))
        await bounded(self.init_scripts.attach(context))

    def _note_end(self) -> None:
        self._pages.browser_ended(self)

    async def _isolated(self, browser: Browser | None) -> BrowserContext:
        """Open a context of the session's own, with its options and its earlier logins."""
        if browser is None:
            raise BrowserCrashed("This engine has no contexts beside its profile.")
        proxy = self._spec.options.proxy
        through = await self.launcher.gates.for_session(self.session_id, proxy) if proxy else None
        options = context_options(self._spec.options, self.launcher.user_agent(self.kind), through)
        states = [state for state in (self.logins.saved, *self._spec.earlier) if state]
        context, taken, refused = await restore_context(browser, options, states, f"Session {self.session_id!r}")
        if refused:
            self._say(refused)
            self.logins.saved = taken
        if self._on.elsewhere and (words := self.bound_logins.words(cookies_of(taken))):
            self._say(f"Session {self.session_id!r} has logins {words}.")
        return context

    async def _restore_logins(self, context: BrowserContext, *, after_crash: bool) -> None:
        """Bring back the logins that the profile on disk lacks."""
        profile = self.launcher.profile
        repairs, profile.repairs = profile.repairs, []
        if profile.has_session_cookies and not after_crash and not repairs:
            return  # what the profile lacks now, a person has logged out of
        reports = await restore_cookies(context, self.logins.cookies, after_crash=after_crash or bool(repairs))
        for text in [*repairs, *reports]:
            self._say(text)

    def own_context(self) -> BrowserContext | None:
        """Return the session's context while it lives; None in an attached browser, which keeps its logins itself."""
        return self.opened if self.live and not self.attached else None

    def _say(self, text: str, client_id: str = "") -> None:
        self._on.emit(NoticeGiven(client_id=client_id, notice=Notice(text=text)))

    def keep_logins(self, state: Json) -> None:
        if self._spec.profile or self._spec.persistent or self._on.elsewhere:
            self._on.emit(StateSaved(session_id=self.session_id, state=state))

    def tell_login_over(self, site: str) -> None:
        """Tell the front that a page led to where one signs in at a site, though the session had a login there."""
        self._on.emit(LoginOver(session_id=self.session_id, site=site))

    async def storage(self) -> Json:
        """Read all logins of the session's context."""
        return await self.logins.read(await self.context())

    async def keep(self, name: str, client_id: str) -> Json:
        """Save all logins for a client, under a name."""
        state = await self.storage()
        self._on.emit(StateSaved(session_id=self.session_id, state=state, name=name, client_id=client_id))
        return state

    async def restore(self, state: Json) -> None:
        """Put back a saved state; what has come since is gone."""
        await self.logins.replace(await self.context(), state)
