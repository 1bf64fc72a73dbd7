"""Registers the pages of a host by their ids, and follows popups, people's tabs, dialogs and closed pages."""

import asyncio
import contextlib
from collections import Counter
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import Effect
from browse_together.contract.background import Background
from browse_together.contract.calls import ClientRef
from browse_together.contract.errors import BrowseError, BrowserCrashed
from browse_together.contract.events import PageClosed, PageOpened
from browse_together.contract.model import Json
from browse_together.contract.pages import PageState
from browser_service.host.background import bounded
from browser_service.host.pages.entry import Common, PageEntry, pages_of
from browser_service.host.pages.room import Room
from browser_service.host.record import saved_place
from browser_service.host.record.life import Life, LifeEvent
from browser_service.host.record.record import PageRecord
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.tabs.tab import Tab, target_of

if TYPE_CHECKING:
    from playwright.async_api import Dialog, Page

_BROWSER_ENDS_WITHIN_S = 0.3


class PageRegistry:
    """The entries behind the pageIds of a host."""

    def __init__(self, pages: dict[str, PageEntry], common: Common, room: Room) -> None:
        self.people = common.people
        self._pages, self._common, self._room = pages, common, room
        self._behind = Counter[str]()
        """How many windows we are opening behind for each family of pages."""
        self._background = Background()

    def add(self, state: PageState, session: SessionEntry, former: Json | None = None) -> PageEntry:
        """Make an entry for a page, open or not. `former` restores what a closed page had."""
        if (known := saved_place.read_former(state.page_id, former)) is not None:
            state = saved_place.renewed_state(state, known)

        entry = self._pages[state.page_id] = PageEntry(state, session, self._common, self._on_close)
        if state.person is not None and (state.person.is_hold or state.asker_id is not None):
            self.people.restore(entry.record, state.person, state.asker_id)
        if known is not None:
            saved_place.restore(entry.record, entry.settings, known)
        return entry

    def _on_close(self, entry: PageEntry, tab: Tab) -> None:
        entry.tab_life.note_closed(tab)
        opener = self._pages.get(entry.record.opener_id or "")
        if opener is not None and not entry.record.life.over:
            opener.record.observer.add_lines(f"popup {entry.page_id} closed")
        self._background.spawn(self._closed(entry, tab))

    def browser_ended(self, session: SessionEntry) -> None:
        for entry in pages_of(session, self._pages):
            entry.tab_life.note_end(LifeEvent.BROWSER_ENDED)

    def browser_found(self, session: SessionEntry) -> None:
        for entry in pages_of(session, self._pages):
            entry.tab_life.note_found()

    def find(self, page_id: str) -> PageEntry | None:
        return self._pages.get(page_id)

    def forget(self, page: PageRecord, event: LifeEvent = LifeEvent.CLOSED) -> None:
        """Remove a page, and tell all who wait for it. `event` says how it ended."""
        page.move(event)
        page.ownership.close()
        self.people.page_closed(page)
        entry = self._pages.get(page.page_id)
        if entry is not None and entry.record is page:  # and not a later page of that name
            del self._pages[page.page_id]
            for popup in (each.record for each in self._pages.values()):
                popup.opener_id = None if popup.opener_id == page.page_id else popup.opener_id
            self._common.log.emit(PageClosed(page_id=page.page_id, session_id=page.session_id))

    def foreign_page(self, session: SessionEntry, page: "Page") -> None:
        self._background.spawn(self._register(session, page))

    def popup_coming(self, opener_target: str, linked: int) -> None:
        opener = self._of_target(opener_target) if opener_target else self._asking()
        if opener is not None:
            opener.record.popups.came += 1
            opener.record.observer.expect_popup(linked)

    def window_asked(self, session: SessionEntry, opener_target: str, url: str) -> None:
        if (opener := self._of_target(opener_target)) is None:
            return
        self.popup_coming(opener_target, 0)
        if why := self._reached_by_popups(opener):  # asked before there is a window, which its person would see
            opener.note_refused_popup(why)
        else:
            self._behind[opener.record.family] += 1
            self._background.spawn(self._open_behind(session, opener, url))

    async def _open_behind(self, session: SessionEntry, opener: PageEntry, url: str) -> None:
        """Open a URL for a page whose windows are held back, as its popup."""
        with contextlib.suppress(BrowseError, PlaywrightError):  # the browser or the tab has ended
            try:
                page = await session.open_window()
                await self._register(session, page, opener)
            finally:
                self._behind[opener.record.family] -= 1
            await page.goto(url, wait_until="commit")

    def _of_target(self, target: str) -> PageEntry | None:
        return next((entry for entry in self._pages.values() if entry.record.target_id == target), None)

    def _reached_by_popups(self, opener: PageEntry) -> str:
        """Name the limit that one more popup would exceed, of the opener or of the client that holds it; "" for
        none."""
        if not opener.record.guarded:
            return ""
        family, holder_id, limits = opener.record.family, opener.record.holder_id, self._common.limits
        held = sum(each.record.holder_id == holder_id for each in self._pages.values()) if holder_id else 0
        held += self._behind[family]
        if limits.client_pages and held >= limits.client_pages:
            return f"you have {held} pages open, which is the limit"
        if (limit := opener.record.page_limit) is not None:
            limited = [each.record for each in self._pages.values() if each.record.page_limit == limit]
            if sum(record.holder_id is not None for record in limited) >= limit.most:
                return f"your token allows {limit.most} pages (--pages)"
        open_ones = sum(each.record.family == family and each is not opener for each in self._pages.values())
        open_ones += self._behind[family]
        if not opener.record.popups.permits(open_ones):
            return f"a page may have {opener.record.popups.most}"
        return ""

    async def _may_come(
        self, session: SessionEntry, page: "Page", opener: PageEntry | None, *, permitted: bool
    ) -> bool:
        """Say if a new page gets an entry; with `permitted`, its opener may have it. Close a page over a limit, unless
        it is a person's own in an attached browser. While its session closes, a page gets none: it closes too, and
        nobody would remove the entry."""
        if opener is not None and not permitted and (why := self._reached_by_popups(opener)):
            opener.note_refused_popup(why)
            await bounded(page.close())
            return False
        await self._room.make(session.session_id, _holder(opener))
        if most := self._room.reached_limit(session.session_id):
            if not session.attached or (opener is not None and not opener.record.of_person):
                await self._too_many(page, opener, most)
            return False
        return not session.closing

    async def _register(self, session: SessionEntry, page: "Page", permitted_by: PageEntry | None = None) -> None:
        """Make an entry for a new page; `permitted_by` is the opener of one that we opened for it. A popup belongs to
        its opener's holder, a tab without an opener to a person: no entry, if they keep it to themselves."""
        opener = permitted_by or self._showing(await page.opener()) or self._asking(session.session_id)
        if opener is None and session.keeps_tabs_private:
            return
        if not await self._may_come(session, page, opener, permitted=permitted_by is not None):
            return
        root = opener.page_id.split("~")[0] if opener else session.session_id
        state = PageState(
            page_id=self.free_id(root),
            session_id=session.session_id,
            opener_id=opener.page_id if opener else None,
            of_person=opener is None or opener.record.of_person,
        )
        if opener is not None:
            state = state.model_copy(update=opener.record.popup_state())
        entry = self.add(state, session)
        if opener is not None:
            entry.inherit(opener)
            entry.record.origins, entry.record.page_limit = opener.record.origins, opener.record.page_limit
        try:
            await entry.adopt(page)
        except BrowserCrashed:  # it closed as soon as it opened
            self._pages.pop(state.page_id, None)
            if opener is not None:
                opener.record.observer.note_refused_popup("a popup opened, and closed at once")
            return
        if await self._let_go_if_over(entry, page, opener):
            return
        if opener is not None:
            opener.add_popup(entry)
            if opener.record.person is not None:
                self.people.cover(opener.record.person, entry.record)
        self._common.log.emit(PageOpened(page=entry.record.state()))
        self._adopted(entry)

    def free_id(self, root: str) -> str:
        """Return a pageId for one more popup of a page, or tab of a person in a session."""
        return next(page_id for n in range(1, 1_000_000) if (page_id := f"{root}~{n}") not in self._pages)

    async def _let_go_if_over(self, entry: PageEntry, page: "Page", opener: PageEntry | None) -> bool:
        """Give back a popup of a tab that was taken back while the popup was taken on. Returns whether the page is
        over."""
        if opener is not None and opener.record.taken_back:
            self.forget(entry.record)
            await entry.give_back(page)
        return entry.record.life.over

    async def pages_found(self, session: SessionEntry, pages: "list[Page]") -> None:
        """Take on the pages of a browser that was already running. Ours, and those that were shared, keep their
        pageIds; all others are people's, and get new ones unless they are private."""
        entries = [entry for entry in pages_of(session, self._pages) if entry.record.target_id]
        by_target = {entry.record.target_id: entry for entry in entries}
        if session.keeps_tabs_private and session.windows is not None:
            pages = [page for known in by_target if (page := await session.windows.find(known)) is not None]
        for page in pages:
            entry = by_target.get(await target_of(page))
            if entry is None:
                await self._register(session, page)
            else:
                await entry.adopt(page)
                if entry.record.taken_back:
                    await entry.give_back(page)
        for entry in entries:
            if entry.record.of_person and not entry.record.live:
                self.forget(entry.record)

    async def _closed(self, entry: PageEntry, tab: Tab) -> None:
        """Forget a page that its own script or a person closed, unless its whole browser is ending."""
        await asyncio.sleep(_BROWSER_ENDS_WITHIN_S)  # Playwright reports the browser's end some 30 ms after its pages'
        if entry.record.tab is tab and entry.record.life is Life.VANISHED:
            if entry.lease is not None:
                entry.tell(entry.lease.client_id, f"{entry.page_id} was closed in the browser.")
            self.forget(entry.record)

    def _adopted(self, entry: PageEntry) -> None:
        if entry.record.tab is not None:
            self._common.dialogs.note_adopted(entry.record, entry.record.tab)

    def dialog(self, session: SessionEntry, page: "Page | None", dialog: "Dialog") -> None:
        entry = self._showing(page)
        if entry is None and page is not None and session.keeps_tabs_private:
            self._background.spawn(self._popup_dialog(page, dialog))
        else:
            persons = entry is not None and not entry.record.guarded and not self._acted_on(entry)
            self._common.dialogs.note_opened(page, dialog, persons=persons)

    def _acted_on(self, entry: PageEntry) -> bool:
        """Say if an act of an agent runs on a page, which may have caused what happens there."""
        runs = self._common.running.on_page(entry.page_id)
        return any(run.admitted and run.action.effect is not Effect.READS for run in runs)

    async def _popup_dialog(self, page: "Page", dialog: "Dialog") -> None:
        """Note the dialog of a popup that has no entry yet. One in a tab that is not shared is the person's alone."""
        if self._showing(await page.opener()) is not None:
            self._common.dialogs.note_opened(page, dialog)

    def dialog_closed(self, dialog: "Dialog") -> None:
        self._common.dialogs.note_closed(dialog)

    def _showing(self, page: "Page | None") -> PageEntry | None:
        return next((entry for entry in self._pages.values() if entry.record.shows(page)), None)

    def _asking(self, session_id: str = "") -> PageEntry | None:
        """Return the page, of a session or of any, whose running act asked for a new one by a click with a modifier
        key. In a person's own browser the new one may be the person's."""
        entries = [each for each in self._pages.values() if session_id in {"", each.record.session_id}]
        asking = (each for each in entries if each.record.observer.asks_window)
        return next((each for each in asking if not each.session.attached), None)

    async def _too_many(self, page: "Page", opener: PageEntry | None, most: int) -> None:
        if opener is not None and opener.lease is not None:
            text = f"{opener.page_id} opened a popup over the limit of {most} pages; it was closed."
            opener.tell(opener.lease.client_id, text)
        await bounded(page.close())


def _holder(entry: PageEntry | None) -> ClientRef | None:
    lease = entry.lease if entry is not None else None
    return lease.client if lease is not None else None
