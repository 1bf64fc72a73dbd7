"""Recovery of a page: from one that died, by itself or with its browser, to one that works under the same pageId."""

import asyncio
import contextlib
import json
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host import errors
from browser_service.host.network.emulation import allow_position
from browser_service.security.urls import origin_of
from shared.actions.base import Action, Effect
from shared.errors import BrowseError, BrowserCrashed, TimedOut, UnknownOutcome
from shared.model import Json

if TYPE_CHECKING:
    from browser_service.host.page.entry import PageEntry

BLANK: Final = "about:blank"
_HANGS_AFTER_S: Final = 10
"""Others lose what they typed with the browser: a machine that only stood still for a moment must not cost that."""
_TITLE_WITHIN_S: Final = 0.2
_PROBE_S: Final = 1.0
_REVIVE_MS: Final = 30_000
_ATTEMPTS: Final = 3
"""What brings a page back may be killed in its turn."""
_CRASHES: Final = 3
_WITHIN_S: Final = 60.0
_KNOWN_WITHIN_S: Final = 1.0
_ASKED_EVERY_S: Final = 0.02
"""So many crashes of a renderer within this time, at one URL, and the page is not loaded again by itself."""
_LOST: Final = "what was typed and not sent is lost, and so are scroll position, history and sessionStorage"


class Recovery:
    """Of one page: the one way to a live one, and what is known of how the last one ended."""

    def __init__(self, entry: "PageEntry") -> None:
        self._entry = entry
        self._dead: Page | None = None
        self._crashes: deque[tuple[str, float]] = deque(maxlen=_CRASHES)
        self._quarantined = False
        self._met = False
        """Whether it was ever live here: else it is from before the service started."""

    def crashed(self, page: Page) -> None:
        """A renderer is gone, of the page that is or is about to be the one behind this pageId."""
        if self._dead is page:
            return
        self._dead = page
        self._entry.crashed = self._entry.crashed or page is self._entry.page
        where = page.url if page.url not in {"", BLANK} else self._entry.url
        self._crashes.append((where, time.monotonic()))
        (first, began), (_, now) = self._crashes[0], self._crashes[-1]
        alike = all(url == first for url, _ in self._crashes)
        self._quarantined = len(self._crashes) == _CRASHES and alike and now - began <= _WITHIN_S

    def check(self, page: Page) -> None:
        """Raises BrowserCrashed for a page that ended while it was opened."""
        if self._dead is page or page.is_closed():
            raise BrowserCrashed(f"Page {self._entry.page_id!r} ended while it was opened.")
        self._met = True

    # --- to a live page ------------------------------------------------------------------------------------------

    async def ensure_live(self, client_id: str, *, navigates: bool, replaces: bool) -> None:
        """The one way to a live page: opens, revives or replaces it. Run at the head of the queue.

        `navigates`: the action goes to a URL of its own, so that the old one need not be loaded first.
        `replaces`: the action may be given a new Playwright page where the old one does not respond.
        """
        entry = self._entry
        await self._closed_or_lost()
        if entry.closed:
            raise entry.closed_error()
        if entry.live:
            if not entry.suspect or await entry.responds() or (replaces and await self._responds_once_stopped()):
                entry.suspect = False
                return
            if not replaces:
                raise await self._unresponsive()
        if navigates or replaces:
            self._free(once=not navigates)
        known = self._met
        was_open, why = entry.page is not None or entry.revision > 0, self.cause()
        revisits = entry.url != BLANK and not navigates
        parked = entry.use.parked
        if not await self._reopen(revisits=revisits) or entry.page is None:
            return
        await entry.use.unparked(entry.page, client_id, revisits=revisits)
        if was_open and parked is None:
            self._tell(client_id, why, revisits=revisits, known=known)

    async def _closed_or_lost(self) -> None:
        """Wait, for a page that has just gone, until it is known whether it closed, or went with its browser."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_KNOWN_WITHIN_S):
                while self._entry.gone and not self._entry.closed:  # noqa: ASYNC110 - several events end it
                    await asyncio.sleep(_ASKED_EVERY_S)

    def _free(self, *, once: bool) -> None:
        """Somebody wants to see it loaded. `once`: where it crashed before, and one more time is too often."""
        if self._quarantined and once:
            now = time.monotonic()
            self._crashes.extend([(url, now) for url, _ in self._crashes][1:])
            self._crashes.popleft()
        self._quarantined = False

    async def _reopen(self, *, revisits: bool) -> bool:
        """Says whether it is another page than before. What it stands on may be killed meanwhile: bounded."""
        problem, known = "", self._entry.page
        for left in reversed(range(_ATTEMPTS)):
            if self._quarantined:
                raise self._refused()
            try:
                problem = await self._open(revisits=revisits)
                break
            except BrowserCrashed:
                if not left:
                    raise
        if problem:
            raise BrowserCrashed(
                f"Page {self._entry.page_id!r} is not open any more, and {self._entry.url} does not open again: "
                f"{problem}",
                hint=f'Go on elsewhere: goto {{"pageId": "{self._entry.page_id}", "url": "..."}}.',
            )
        return self._entry.page is not known

    async def _open(self, *, revisits: bool) -> str:
        """Why its URL could not be loaded, if so. Raises BrowserCrashed where what it stands on died."""
        entry = self._entry
        if entry.live and entry.suspect:  # for want of its own scripts, or because nothing answers any more
            await entry.session.end_if_hanging(_HANGS_AFTER_S)
        await entry.session.context()
        if entry.live and not entry.suspect:  # found again in a browser that runs on without us
            return ""
        entry.abandon()
        page = await entry.session.open_window()
        entry.family = entry.page_id
        if entry.use.former is not None:
            await entry.use.former(page)
        await entry.adopt(page)
        entry.use.former = None
        await entry.use.give_back_storage(page)
        if not revisits:
            return ""
        with contextlib.suppress(PlaywrightError):  # the page works without it
            await self._allow_position()
        return await self._revisit(page)

    async def _revisit(self, page: Page) -> str:
        """Go where the page was. Where that fails it is lost again, and never takes a blank for what it was."""
        try:
            await page.goto(self._entry.url, timeout=_REVIVE_MS, wait_until="domcontentloaded")
        except asyncio.CancelledError:
            self._entry.abandon()
            raise
        except PlaywrightError as error:
            dead = await self.ended(error)
            self._entry.abandon()
            if dead:
                raise BrowserCrashed(f"Page {self._entry.page_id!r} ended while it was loaded again.") from error
            return str(error).splitlines()[0]
        return ""

    async def _allow_position(self) -> None:
        """A site was allowed to ask where the page is, by a browser that is gone."""
        origin, cdp = origin_of(self._entry.url), self._entry.cdp
        if self._entry.emulation.settings.get("geolocation") and origin and cdp is not None:
            await allow_position(cdp, origin)

    async def _responds_once_stopped(self) -> bool:
        return await self._entry.interrupt() and await self._entry.responds()

    async def _unresponsive(self) -> TimedOut:
        """While it loads, Playwright answers for a page's title; it does not while a script runs."""
        entry = self._entry
        reload = f'reload_page {{"pageId": "{entry.page_id}"}}.'
        why, hint = "a script keeps it busy, or its browser hangs", f"Replace it, its login stays: {reload}"
        if entry.page is not None:
            with contextlib.suppress(TimeoutError, PlaywrightError):
                async with asyncio.timeout(_TITLE_WITHIN_S):
                    await entry.page.title()
                why = "it goes to a URL whose server has not answered yet"
                hint = f"Give it time, or stop that: {reload}"
        return TimedOut(f"Page {entry.page_id!r} does not respond: {why}.", hint=hint, details={"url": entry.url})

    # --- what is said of an end ----------------------------------------------------------------------------------

    def cause(self) -> str:
        """How the page ended, in words; nothing where it was left, or is of another time."""
        entry = self._entry
        if entry.crashed:
            return "the page's renderer crashed"
        if entry.page is None or (entry.page.is_closed() and entry.session.owns(entry.page)):
            return ""
        return entry.session.ended()

    async def ended(self, error: PlaywrightError) -> bool:
        """Whether an error is of a page that died, which Playwright may tell as a navigation that was given up."""
        page = self._entry.page
        if "ERR_ABORTED" in str(error) and page is not None:
            try:
                async with asyncio.timeout(_PROBE_S):
                    await page.evaluate("1")
            except TimeoutError:
                return False
            except PlaywrightError as second:
                error = second
        if errors.is_crash(error) and page is not None:
            self.crashed(page)  # before its own event
        return errors.is_closed(error) or (page is not None and not self._entry.live and not self._entry.gone)

    def unfinished(self, action: Action) -> UnknownOutcome:
        """An act was done, and what came of it not seen: the page died first."""
        url, page_id = self._entry.url, self._entry.page_id
        return UnknownOutcome(
            f"{action.name()} was done, and then {self.cause() or 'the page ended'}: what came of it was not seen.",
            hint=f'Look first (snapshot {{"pageId": "{page_id}"}} reopens the page at {url}), then decide whether to '
            "repeat it.",
            details={"url": url, "context": {"lastUrl": url}},
        )

    def interrupted(self, action: Action, error: PlaywrightError) -> BrowseError:
        """What a call is told that ran when the page died."""
        url, what, name = self._entry.url, self.cause() or "the page ended", action.name()
        reason = str(error).splitlines()[0]
        details: Json = {"url": url, "context": {"lastUrl": url, "crashReason": reason}}
        page = f'{{"pageId": "{self._entry.page_id}"}}'
        if action.effect is Effect.READS or errors.not_begun(error):
            hint = f"{what[:1].upper()}{what[1:]}; {name} did nothing. Repeat the call: the page is reopened at {url}."
            return BrowserCrashed("Browser instance crashed unexpectedly", hint=hint, details=details)
        return UnknownOutcome(
            f"{name} was under way when {what}.",
            hint=f"It may or may not have happened: look first (snapshot {page} reopens the page at {url}), then "
            "decide whether to repeat it.",
            details=details,
        )

    def _refused(self) -> BrowserCrashed:
        page_id, url = self._entry.page_id, self._entry.url
        return BrowserCrashed(
            f"Page {page_id!r} crashed {_CRASHES} times within a minute at {url}; it is not loaded again by itself.",
            hint=f'Go elsewhere: goto {{"pageId": "{page_id}", "url": "..."}}. Try it once more: '
            f'reload_page {{"pageId": "{page_id}"}}.',
            details={"url": url, "context": {"crashes": _CRASHES}},
        )

    def _tell(self, client_id: str, why: str, *, revisits: bool, known: bool) -> None:
        """What was lost, in one line: to the holder, and to who met it."""
        entry = self._entry
        where = f" at {entry.url}" if revisits else ""
        lines = [f"{entry.page_id} was reopened{where}{f', because {why}' if why else ''}; {_LOST}"]
        if not known:
            lines.append("routes, headers, init scripts and emulation that were set ended with the service")
        if again := self._set_again():
            lines.append(f"set again: {', '.join(again)}")
        holder = {entry.lease.client_id} if entry.lease is not None else set()
        for each in {client_id} | holder:
            offer = entry.filled.offer(each, entry.page_id) if revisits else ""
            entry.tell(each, f"{'; '.join(filter(None, [*lines, offer]))}.")

    def _set_again(self) -> list[str]:
        entry = self._entry
        routes = len(entry.network.rules)
        return [
            *([f"{routes} route{'s' * (routes > 1)}"] if routes else []),
            *([f"headers {', '.join(entry.network.headers)}"] if entry.network.headers else []),
            *([f"init scripts {', '.join(entry.init_scripts.texts)}"] if entry.init_scripts.texts else []),
            *([f"emulation {json.dumps(entry.emulation.shown())[:200]}"] if entry.emulation.settings else []),
        ]
