"""Parking: the window of a page that nobody uses is closed. Where it was is kept, and the next call brings it back."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from browser_service.host.background import Background
from browser_service.host.close import bounded
from browser_service.host.scripts import applied, script
from shared.model import weight
from shared.pages import PageState, Parked

if TYPE_CHECKING:
    from browser_service.host.call_run import Running
    from browser_service.host.network.downloads import Downloads
    from browser_service.host.page.entry import PageEntry

_BLANK: Final = "about:blank"
_LOOKS_WITHIN_S: Final = 2.0
_SCROLLS_WITHIN_S: Final = 2.0
_MOST_STORAGE: Final = 1_000_000

_PLACE: Final = script("parked_place")
_FIELDS: Final = "input:not([type=hidden]), textarea, select, [contenteditable]"
_UNSENT: Final = script("unsent_fields")
_SCROLL: Final = script("scroll_back")
_FILL: Final = script("session_storage")


History = Callable[[Page], Awaitable[None]]


class Use:
    """When a page was last used, and where it was when its window was closed since."""

    def __init__(self, entry: "PageEntry", state: PageState) -> None:
        self.at = time.monotonic()
        self.acted_here = False
        """Whether anything was done to the document that it shows."""
        self.parked = state.parked
        self._entry = entry
        self.storage: dict[str, str] = {}
        """Of its session: what its site keeps for as long as the window is there. Never on disk."""
        self.former: History | None = None
        """Gives the next window the history of the one before."""
        self._first_revision = state.revision
        self._background = Background()

    def now(self) -> None:
        self.at = time.monotonic()

    def began(self, page: Page) -> None:
        """A Playwright page is behind the pageId."""
        self.now()
        self._new_document()
        page.on("domcontentloaded", lambda _: self._new_document())

    def _new_document(self) -> None:
        self.acted_here = False

    @property
    def idle_ms(self) -> int:
        return round((time.monotonic() - self.at) * 1000)

    @property
    def untouched(self) -> bool:
        """Blank, and nothing was done to it since it was opened."""
        return self._entry.url == _BLANK and self._entry.revision <= self._first_revision + 1

    @property
    def leads_back(self) -> bool:
        """Whether its URL leads to what it shows, or is it (data:): not where that is the answer to a form, or was made
        by scripts."""
        entry = self._entry
        by_get = entry.url.startswith(("http:", "https:")) and entry.network.traffic.document_by_get
        return self.untouched or by_get or entry.url.startswith("data:")

    def park(self, seen: "Seen") -> None:
        """Its window is about to be closed; the next call opens another."""
        self._entry.page = None
        self.parked, self.storage, self.former = seen.parked, seen.storage, seen.history
        self._entry.seen.clear()
        self._entry.changed()

    async def give_back_storage(self, page: Page) -> Parked | None:
        """Have the session storage there before the first script of the next document asks for it, and never again:
        what a site removes later stays removed. Where the page was parked at all."""
        parked, cdp = self.parked, self._entry.cdp
        if parked is None or cdp is None or not self.storage:
            return parked
        origin = "/".join(self._entry.url.split("/")[:3])
        source = applied(_FILL, json.dumps(origin), json.dumps([*self.storage.items()]))
        try:
            await cdp.send("Page.enable")
            added = await cdp.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
        except PlaywrightError:
            return parked

        def given(at: Page) -> None:
            if at.url.startswith("http"):
                page.remove_listener("domcontentloaded", given)
                self._background.spawn(bounded(cdp.send("Page.removeScriptToEvaluateOnNewDocument", added)))

        page.on("domcontentloaded", given)
        return parked

    async def unparked(self, page: Page, client_id: str, *, revisits: bool) -> None:
        """It is open again; `revisits`: where it was."""
        parked, self.parked, self.storage = self.parked, None, {}
        if parked is None or not revisits:
            return
        await scroll_back(page, parked)
        if parked.loses:
            told = f"{self._entry.page_id} had been idle, and was loaded anew at {self._entry.url}"
            self._entry.tell(client_id, f"{told}; what its scripts had in memory is lost.")


class Seen(NamedTuple):
    """What a page was found to have, before it is parked."""

    parked: Parked
    storage: dict[str, str]
    history: History | None
    unsent: bool
    """Something was entered that is not sent."""


class Parking:
    """Which pages may be parked, and their parking. Whoever uses a page later waits for nothing that is done here."""

    def __init__(
        self,
        pages: Mapping[str, "PageEntry"],
        running: Mapping[str, "Running"],
        downloads: "Downloads",
        history_of: "Callable[[PageEntry], Awaitable[History | None]]",
        *,
        headed: bool,
    ) -> None:
        self._pages = pages
        self._running = running
        self._downloads = downloads
        self._history_of = history_of
        self._headed = headed

    def idle(self, for_s: float, pages: "Iterable[PageEntry] | None" = None) -> "list[PageEntry]":
        """Those that nobody used for so long, and nothing keeps; the longest idle first."""
        horizon = time.monotonic() - for_s
        found = [
            entry
            for entry in (self._pages.values() if pages is None else pages)
            if entry.live and all(each.use.at <= horizon and not self.kept(each) for each in self._family(entry))
        ]
        return sorted(found, key=lambda entry: entry.use.at)

    def abandoned(self, pages: "Iterable[PageEntry]") -> "list[PageEntry]":
        """Those that no client has any more, and nothing keeps; the longest idle first."""
        found = [entry for entry in pages if entry.ownership.abandoned and not entry.closed and not self.needed(entry)]
        return sorted(found, key=lambda entry: entry.use.at)

    def kept(self, entry: "PageEntry") -> bool:
        """Whether somebody needs it as it is, in its window."""
        return self.needed(entry) or entry.session.attached or not entry.use.leads_back

    def needed(self, entry: "PageEntry") -> bool:
        """Whether somebody needs it at all."""
        session, lease = entry.session, entry.lease
        return (
            entry.of_person
            or entry.person is not None
            or (lease is not None and lease.hold_left_s > 0)
            or entry.dialog is not None
            or self.called(entry)
            or (entry.recording is not None and entry.recording.running)
            or session.tracing.running
            or self._downloads.running_on(entry.page_id)
        )

    def called(self, entry: "PageEntry") -> bool:
        """Whether a call waits or runs on it."""
        return entry.queue.busy or any(run.call.page_id == entry.page_id for run in [*self._running.values()])

    def to_discard(self, entry: "PageEntry", idle_ms: int) -> bool:
        """Whether it is a blank page that nobody needs."""
        return entry.use.untouched and entry.use.idle_ms >= idle_ms and not self.kept(entry)

    async def park(self, entry: "PageEntry", for_s: float) -> bool:
        """Whether it was parked: it is not where something was entered and not sent, or where it is used by now."""
        page = entry.page
        if page is None:
            return False
        seen = await self._look(entry, page)
        if seen.unsent or entry.page is not page or entry not in self.idle(for_s, [entry]):
            return False
        entry.use.park(seen)
        await bounded(page.close())
        return True

    def _family(self, entry: "PageEntry") -> "list[PageEntry]":
        """Windows that scripts opened from one another know each other: they go together."""
        return [each for each in self._pages.values() if each.family == entry.family and each.live]

    async def _look(self, entry: "PageEntry", page: Page) -> Seen:
        """One that does not answer is taken for what is known of it."""
        judged = entry.filled.waits or self._headed
        try:
            async with asyncio.timeout(_LOOKS_WITHIN_S):
                parked, storage = await place_of(page)
                unsent = judged and await _unsent(page.frames)
                history = await self._history_of(entry)
        except (PlaywrightError, TimeoutError):
            return Seen(Parked(loses=entry.use.acted_here), {}, None, unsent=judged)
        parked.loses |= entry.use.acted_here
        return Seen(parked, storage, history, unsent=unsent)


async def place_of(page: Page) -> tuple[Parked, dict[str, str]]:
    """Where in its document a page is, and its session storage, without which it loses something if that is large."""
    place = await page.evaluate(_PLACE)
    storage = dict(place["storage"])
    too_much = weight(storage) > _MOST_STORAGE
    parked = Parked(x=round(place["x"]), y=round(place["y"]), history=place["history"], loses=too_much)
    return parked, {} if too_much else storage


async def _unsent(frames: list[Frame]) -> bool:
    for frame in frames:
        if await frame.locator(_FIELDS).evaluate_all(_UNSENT):
            return True
    return False


async def scroll_back(page: Page, parked: Parked) -> None:
    if not parked.x and not parked.y:
        return
    try:
        async with asyncio.timeout(_SCROLLS_WITHIN_S):
            await page.evaluate(_SCROLL, [parked.x, parked.y, 1_000])
    except (PlaywrightError, TimeoutError):
        return  # it went on elsewhere, or is busy: it is open all the same
