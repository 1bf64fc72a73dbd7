"""Saves the logins of a session while its context lives, so that they outlast it."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, cast

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError
from pydantic import JsonValue

from browse_together.contract.model import Json
from browser_service.host.network.bound_logins import BoundLogins
from browser_service.security.http_logins import HttpLogins, of_playwright

_AFTER_S: Final = 0.5
_WITHIN_S: Final = 5
_AT_ONCE_WITHIN_S: Final = 0.2
_STORAGE_WITHIN_S: Final = 10
_STORAGE_SHARE: Final = 0.2
"""The largest share of the time that reading storage may take: Playwright visits each site of the session, for 0.1 s
each."""
_STORAGE_PAUSE_S: Final = 30


TakesLogins = Callable[[Json], None]
"""The function that notes logins which the act takes from the session, or reads to copy them. No reply shows them."""


class LoginSession(Protocol):
    """The session whose logins they are."""

    def own_context(self) -> BrowserContext | None:
        """Return a live context to save from; None if there is none."""

    def keep_logins(self, state: Json) -> None: ...


@dataclass(eq=False)
class Logins:
    """A session's cookies and storage as they were last saved, for when its browser ends or hangs."""

    saved: Json
    storage: bool
    """True if storage is saved too; a profile keeps its own."""
    session: LoginSession
    http: HttpLogins = field(init=False)
    """The logins given to sites by HTTP, which no context reports."""
    bound: BoundLogins = field(init=False)
    """The hosts that bind their logins to this browser."""
    unsaved: bool = False
    """True if something may have changed since the last save."""
    _storage_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Guards storage, because a database cannot be replaced while it is read."""
    _saving: asyncio.Task[None] | None = None
    _storage_due_at: float = 0.0
    """When storage may be read again (monotonic clock)."""

    def __post_init__(self) -> None:
        self.http = HttpLogins(self._save_ours)
        self.bound = BoundLogins(self.saved, self._save_ours)
        self.http.restore(self.saved)

    @property
    def cookies(self) -> list[Json]:
        return cookies_of(self.saved)

    def save_soon(self) -> None:
        """Save within half a second, once for many changes in a row."""
        self.unsaved = True
        if self.session.own_context() is not None and (self._saving is None or self._saving.done()):
            self._saving = asyncio.create_task(self._save_later())

    async def save_cookies(self, within_s: float = _AT_ONCE_WITHIN_S) -> None:
        """Save the cookies now: an act may have been a login, and the browser may be killed the next moment."""
        if (context := self.session.own_context()) is not None:
            with contextlib.suppress(TimeoutError, PlaywrightError):  # saved soon, or lost with the browser
                await self._save_cookies(context, within_s)

    async def save(self, *, with_storage: bool = False) -> None:
        """Save now; with `with_storage`, or if storage is due, save that too."""
        async with self._storage_lock:
            if (context := self.session.own_context()) is None:
                return
            with contextlib.suppress(TimeoutError, PlaywrightError):
                await self._save_cookies(context)
                if with_storage:
                    await self._save_storage(context)
                elif time.monotonic() >= self._storage_due_at:
                    await self._save_storage(context, _STORAGE_WITHIN_S)
                else:
                    self.unsaved = True  # until the storage has its turn

    async def save_before_close(self) -> bool:
        """Save all before the context is closed until the next call. Returns False if that failed."""
        await self.cancel_save()  # which would save less
        self.unsaved = False
        async with self._storage_lock:
            if (context := self.session.own_context()) is None:
                return True
            try:
                await self._save_cookies(context)
                await self._save_storage(context, _STORAGE_WITHIN_S)
            except (TimeoutError, PlaywrightError):
                return False
            return True

    async def read(self, context: BrowserContext) -> Json:
        async with self._storage_lock:
            return await storage_state(context)

    async def replace(self, context: BrowserContext, state: Json) -> None:
        """Put back a saved state; what has come since is gone."""
        async with self._storage_lock:
            await context.set_storage_state(state)  # type: ignore[arg-type] # as Playwright gave it
        self.save_soon()

    async def cancel_save(self) -> None:
        """Cancel the save that is due soon."""
        if self._saving is not None:
            self._saving.cancel()
            await asyncio.gather(self._saving, return_exceptions=True)

    async def _save_later(self) -> None:
        while self.unsaved:
            await asyncio.sleep(_AFTER_S)  # several changes in a row are saved once
            self.unsaved = False
            await self.save()

    async def _save_cookies(self, context: BrowserContext, within_s: float = _WITHIN_S) -> None:
        async with asyncio.timeout(within_s):
            cookies: list[JsonValue] = [*await cookies_in(context)]
        self._update({**of_playwright(self.saved), "cookies": cookies})

    async def _save_storage(self, context: BrowserContext, within_s: float = _WITHIN_S) -> None:
        if not self.storage:
            return
        began = time.monotonic()
        try:
            async with asyncio.timeout(within_s):
                self._update(await storage_state(context))
        finally:
            ended = time.monotonic()
            self._storage_due_at = ended + min((ended - began) / _STORAGE_SHARE, _STORAGE_PAUSE_S)

    def _save_ours(self) -> None:
        if self.session.own_context() is not None:
            self._update(of_playwright(self.saved))

    def _update(self, state: Json) -> None:
        state = {**state, **self.http.state(), **self.bound.state()}
        if state != self.saved:
            self.saved = state
            self.session.keep_logins(state)


async def storage_state(context: BrowserContext) -> Json:
    """Return cookies, local storage and IndexedDB, as Playwright writes them.

    This takes 0.1 s for each site of the session, and does not end while a page spins.
    """
    return cast("Json", await context.storage_state(indexed_db=True))  # what is stored is JSON


async def cookies_in(context: BrowserContext, urls: list[str] | None = None) -> list[Json]:
    """Return the cookies of a context, or those that would be sent to some URLs."""
    return [
        {name: value for name, value in cookie.items() if isinstance(value, str | int | float)}
        for cookie in await context.cookies(urls)
    ]


def cookies_of(state: Json) -> list[Json]:
    return cast("list[Json]", state.get("cookies") or [])  # Playwright writes it so
