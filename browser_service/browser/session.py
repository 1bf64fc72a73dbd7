"""A session: one browser context with its logins, started by the first call that needs it."""

import asyncio
from typing import Protocol

from playwright.async_api import BrowserContext, Cookie, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from browser_service.browser.launcher import Launcher, bounded
from browser_service.browser.queue import PageQueue
from browser_service.browser.windows import Windows
from browser_service.security.urls import UrlPolicy
from shared.calls import Call, Json, SessionSpec
from shared.errors import BrowserCrashed

_SAVE_AFTER_S = 0.5
_SAVE_WITHIN_S = 5


class BrowserEvents(Protocol):
    """Who is told what the browser does of itself."""

    def foreign_page(self, session: "BrowserSession", page: Page) -> None:
        """A page came that nobody asked for here: a popup, or a person's tab."""

    def popup_coming(self, opener_target: str) -> None:
        """A page is opening another one, which will follow as a foreign page."""

    async def dialog(self, page: Page | None, dialog: Dialog) -> None: ...

    def cookies(self, session_id: str, cookies: list[Json]) -> None:
        """The session's cookies changed."""

    def waits(self, call: Call, position: int, behind: str) -> None:
        """A call waits for its turn."""


class BrowserSession:
    """The live side of a session. Opening, saving and closing are shared work: one caller's cancel stops none of it."""

    def __init__(self, spec: SessionSpec, launcher: Launcher, policy: UrlPolicy, on: "BrowserEvents") -> None:
        self.session_id = spec.session_id
        self._policy = policy
        self._spec = spec
        self._launcher = launcher
        self._on = on
        self._shared: BrowserContext | None = None
        self._context: BrowserContext | None = None
        self._windows: Windows | None = None
        self._opening: asyncio.Task[Windows] | None = None
        self._saving: asyncio.Task[None] | None = None
        self.queue = PageQueue(lambda turn, position, behind: on.waits(turn.call, position, behind))
        self._saved: list[Json] = spec.cookies
        self._unsaved = False

    @property
    def live(self) -> bool:
        return self._context is not None and self._launcher.runs(self._shared)

    def owns(self, page: Page) -> bool:
        """Whether a page is of the browser that runs now. Playwright calls pages of a dead driver open for ever."""
        return page.context is self._context and self.live

    async def open_window(self) -> Page:
        """A blank page of its own window; starts the browser where it does not run."""
        windows = await self._ready()
        try:
            return await windows.open()
        except (PlaywrightError, TimeoutError) as error:
            raise BrowserCrashed("The browser opened no window.") from error

    async def context(self) -> BrowserContext:
        """Playwright's; starts the browser where it does not run."""
        await self._ready()
        if self._context is None:
            raise BrowserCrashed("The browser ended.")
        return self._context

    def save_soon(self) -> None:
        """Have the cookies written down, once for many changes in a row."""
        self._unsaved = True
        if self.live and (self._saving is None or self._saving.done()):
            self._saving = asyncio.create_task(self._save_later())

    async def close(self) -> None:
        """Save, and let go of the context. The browser itself belongs to the launcher."""
        if self._saving is not None:
            self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)
        if self.live:
            await self._save()
        context, self._context, self._windows = self._context, None, None
        if context is not None and not self._spec.persistent:
            await bounded(context.close())

    async def _ready(self) -> Windows:
        if self.live and self._windows is not None:
            return self._windows
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Windows:
        shared = await self._launcher.persistent_context()
        if self._spec.persistent:
            context = shared
        elif shared.browser is None:
            raise BrowserCrashed("This engine has no contexts beside its profile.")
        else:
            context = await shared.browser.new_context()
        await self._bring_back_cookies(context, after_crash=self._context is not None)
        context.on("dialog", self._dialog)
        self._shared, self._context = shared, context
        self._windows = Windows(
            context, self._policy, lambda page: self._on.foreign_page(self, page), self._on.popup_coming
        )
        return self._windows

    async def _bring_back_cookies(self, context: BrowserContext, *, after_crash: bool) -> None:
        """A profile on disk loses its session cookies with the browser's end: add those that it lacks.

        In a crash it loses the others too that came in the last 30 s, because Chromium writes no sooner.
        """
        kept_on_disk = self._spec.persistent and not after_crash
        present = {_key(_json(cookie)) for cookie in await context.cookies()}
        for cookie in self._saved:
            if _key(cookie) in present or (kept_on_disk and cookie.get("expires") != -1):
                continue
            try:
                await context.add_cookies([cookie])  # type: ignore[list-item] # as Playwright gave it
            except PlaywrightError:
                continue  # one that the browser no longer accepts must not cost the others

    async def _dialog(self, dialog: Dialog) -> None:
        await self._on.dialog(dialog.page, dialog)

    async def _save_later(self) -> None:
        while self._unsaved:
            await asyncio.sleep(_SAVE_AFTER_S)
            self._unsaved = False
            await self._save()

    async def _save(self) -> None:
        if self._context is None:
            return
        try:
            async with asyncio.timeout(_SAVE_WITHIN_S):
                cookies = [_json(cookie) for cookie in await self._context.cookies()]
        except (TimeoutError, PlaywrightError):
            return  # the browser ended, or hangs: what was saved before stays
        if cookies != self._saved:
            self._saved = cookies
            self._on.cookies(self.session_id, cookies)


def _json(cookie: Cookie) -> Json:
    return {name: value for name, value in cookie.items() if isinstance(value, str | int | float)}


def _key(cookie: Json) -> tuple[object, ...]:
    return cookie.get("name"), cookie.get("domain"), cookie.get("path")
