"""The entry behind a pageId: the page's record, its tab while it is live, and what calls left on it."""

from collections.abc import Callable
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host.background import Background
from browser_service.host.elements.fields_left import FieldsLeft
from browser_service.host.network.downloads import Downloads
from browser_service.host.page import losses
from browser_service.host.page.life import Life, LifeEvent
from browser_service.host.page.listener import Listener
from browser_service.host.page.observer import Observer
from browser_service.host.page.place import give_back_storage, scroll_back
from browser_service.host.page.record import PageRecord, Place
from browser_service.host.page.recovery import Recovery, Reopened
from browser_service.host.page.settings import PageSettings
from browser_service.host.page.tab import Tab
from browser_service.host.page.titles import Titles
from browser_service.host.reading import snapshot
from browser_service.host.reading.cache import ReadCache
from browser_service.host.recording.console import Console
from browser_service.host.recording.recording import Recording
from browser_service.host.recovery.filled_fields import FilledFields
from browser_service.host.session import SessionEntry
from browser_service.rules.bounded import Bounded
from browser_service.rules.human_requests import HumanRequests
from browser_service.rules.leases import Lease, Ownership
from browser_service.rules.turns import PageQueue
from browser_service.security.urls import UrlPolicy
from shared.errors import BrowserCrashed
from shared.events import HostEvent, PageChanged
from shared.pages import Access, PageState

_SEEN_BY: Final = 50
"""Clients that a page remembers what it showed to; one that is forgotten takes a snapshot again."""
Busy = Callable[[str, str], bool]
"""Says whether a client has a call queued or running on a page."""


class PageEntry:
    """A page under its pageId. Its tab may be replaced; holder, queue and revision stay."""

    def __init__(
        self,
        state: PageState,
        session: SessionEntry,
        policy: UrlPolicy,
        *,
        emit: Callable[[HostEvent], None],
        on_close: Callable[["PageEntry", Tab], None],
        on_lost: Callable[[Tab], None],
        busy: Busy,
        people: HumanRequests,
        downloads: Downloads,
        idle_lease_ms: int,
    ) -> None:
        self.session, self.people = session, people
        self.tab: Tab | None = None
        self.record = record = PageRecord.of(
            state,
            Ownership(state, idle_lease_ms, lambda client: busy(client, state.page_id), self.tell, emit),
            guarded=not (state.of_person and session.attached),
        )
        self.queue = PageQueue(emit)
        self.settings = PageSettings(lambda: record.holder_id, lambda: record.person is not None)
        self.recovery = Recovery(record, self, session, self.settings)
        self.console = Console(lambda: record.holder_id if record.person is None else None)
        self.seen = Bounded[str, snapshot.ClientView](_SEEN_BY)
        self.recall, self.fields, self.fields_left = ReadCache(), FilledFields(), FieldsLeft()
        self.recording: Recording | None = None
        self.shares_window = state.opener_id is not None
        self.titles = Titles(record, lambda: self.tab, lambda: self.life, emit)
        self._listener = Listener(
            *(record, self.queue, self.fields, self.titles),
            policy=policy,
            downloads=downloads,
            emit=emit,
            save_logins=session.logins.save_soon,
        )
        self._emit, self._on_close, self._on_lost = emit, on_close, on_lost
        self._background = Background()

    # --- what it is ----------------------------------------------------------------------------------------------

    @property
    def page_id(self) -> str:
        return self.record.page_id

    @property
    def lease(self) -> Lease | None:
        return self.record.lease

    @property
    def observer(self) -> Observer | None:
        return self.tab.observer if self.tab is not None else None

    @property
    def videos(self) -> set[Recording]:
        """The recordings that run in its session."""
        return self.session.recordings

    @property
    def life(self) -> Life:
        """The state that it is in now. What has become of its tab in the browser is noted first."""
        if self.tab is not None:
            self.record.saw(self.tab.end())
        return self.record.life

    @property
    def live(self) -> bool:
        return self.life.live

    @property
    def gone(self) -> bool:
        """True where it was closed, by a call or in the browser: it was not lost with the browser."""
        return self.life.over or self.life is Life.VANISHED

    @property
    def needed(self) -> bool:
        """True while a person, a hold, a dialog, a call in its queue or a recording needs it."""
        record, lease = self.record, self.record.lease
        return (
            record.of_person
            or record.person is not None
            or (lease is not None and lease.kept_s > 0)
            or record.dialog is not None
            or self.queue.busy
            or (self.recording is not None and self.recording.running)
            or self.session.tracing.running
        )

    @property
    def irreplaceable(self) -> bool:
        """True where another window would not show what this one does, or is not ours to close: its URL may be of the
        answer to a form, or scripts made what it shows."""
        record = self.record
        by_get = record.url.startswith(("http:", "https:")) and self.settings.network.traffic.document_by_get
        return self.session.attached or not (record.untouched or by_get or record.url.startswith("data:"))

    def changed(self) -> None:
        """Tell how it is now."""
        self._emit(PageChanged(page=self.record.state()))

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about it."""
        self._emit(self.record.notice(client_id, text))

    # --- its tab -------------------------------------------------------------------------------------------------

    async def bring_up(self, client_id: str, *, navigates: bool, replaces: bool) -> None:
        """Have it live, for a call at the head of its queue; `client_id` is told what was lost meanwhile."""
        reopened = await self.recovery.ensure_live(navigates=navigates, replaces=replaces)
        if reopened is not None and self.tab is not None:
            await self._give_back(self.tab, client_id, reopened)
        if self.tab is not None and self.lease is not None and self.settings.foreign:
            await self.settings.clear(self.tab)
            self._emit(losses.of_settings(self.record, client_id))

    async def adopt(self, page: Page) -> None:
        """Make a tab of a Playwright page, and have it behind the pageId. Raises BrowserCrashed where it ends
        meanwhile."""
        record, tab = self.record, Tab(page, self.session.owns)
        tab.page.on("crash", lambda _: self.recovery.crashed(tab))
        tab.page.on("close", lambda _: self._on_close(self, tab))
        self._listener.listen(tab, lambda: self.tab)
        try:
            await self._listener.guard(tab)
            record.target_id = tab.target_id
            by_itself = record.opener_id is not None or record.of_person
            await self.settings.attach(tab, came_by_itself=by_itself)
            await self.console.attach(page, came_by_itself=by_itself)
            self._listener.watch_downloads(tab)
        except PlaywrightError as error:
            raise BrowserCrashed(f"Page {self.page_id!r} ended while it was opened.") from error
        if tab.dead or page.is_closed():
            raise BrowserCrashed(f"Page {self.page_id!r} ended while it was opened.")
        self.tab, record.browser_id = tab, self.session.browser_id
        record.move(LifeEvent.OPENED)
        record.used()
        self.seen.clear()
        self._listener.check_place(tab)  # a popup may be there already
        self.look_at_trace()
        await self._give_back_storage(tab)

    async def _give_back_storage(self, tab: Tab) -> None:
        """Give a new tab the session storage of the window that was parked."""
        place = self.record.place
        self.record.place = place._replace(history=())  # which the window has had already
        if place.parked is not None:
            await give_back_storage(tab, self.record.url, place.storage, self._background)

    async def _give_back(self, tab: Tab, client_id: str, reopened: Reopened) -> None:
        """Scroll a page that had been parked to where it was; tell what is lost of one."""
        parked, self.record.place = self.record.place.parked, Place()
        if parked is None and reopened.was_open:
            for notice in losses.of_reopening(self.record, self.settings, self.fields, reopened, client_id):
                self._emit(notice)
        if parked is not None and reopened.revisits:
            await scroll_back(tab.page, parked)
            if parked.loses:
                self._emit(losses.of_parking(self.record, client_id))

    def acted(self, client_id: str) -> None:
        """Note that a client does something to what it shows."""
        self.record.last_act = (client_id, self.record.navigations)
        if self.tab is not None:
            self.tab.acted_on = True

    def doubt(self, *, doubted: bool = True) -> None:
        """Note that a call on it ran out of time, or that it only did because the page goes elsewhere."""
        if self.live and (doubted or self.record.life is Life.SUSPECT):
            self.record.move(LifeEvent.DOUBTED if doubted else LifeEvent.ANSWERED)

    async def responds(self) -> bool:
        """Say whether its scripts have their turn again, within a second."""
        return self.tab is not None and await self.tab.responds()

    async def interrupt(self) -> bool:
        """Stop what loads or runs in it."""
        return self.tab is not None and await self.tab.interrupt()

    async def close(self, *, run_before_unload: bool = False) -> bool:
        """Close it. Returns whether it is gone: it stays where it was let ask, and the answer was to stay."""
        tab = self.tab
        if tab is not None and run_before_unload and self.live:
            self.record.move(LifeEvent.ASKED_TO_LEAVE)
            if not await tab.leaves():
                if self.record.life is Life.LEAVING:
                    self.record.move(LifeEvent.STAYED)
                return False
        self.record.move(LifeEvent.CLOSED)
        if tab is not None and not tab.page.is_closed():
            await tab.page.close()
        return True

    def park(self, place: Place) -> None:
        """Let go of the tab, which is going to be closed, and keep where it was."""
        self.record.move(LifeEvent.PARKED)
        self.tab, self.record.place = None, place
        self.seen.clear()
        self.changed()

    async def leave(self) -> None:
        """Close its window, and keep the page for later."""
        if (tab := self._let_go()) is not None:
            await tab.close()

    def abandon(self) -> None:
        """Leave the window that it had, where that is still there, without waiting for its end."""
        tab, self.record.dialog = self._let_go(), None
        if tab is not None:
            self._on_lost(tab)
            self._background.spawn(tab.close())

    def _let_go(self) -> Tab | None:
        self.record.move(LifeEvent.LEFT)
        tab, self.tab = self.tab, None
        self.fields.offer_all()
        return tab

    # --- who has it ----------------------------------------------------------------------------------------------

    def set_up_as(self, opener: "PageEntry") -> None:
        """Give a popup the network, the device and the way with dialogs of the page that opened it."""
        self.record.family, self.record.dialog_policy = opener.record.family, opener.record.dialog_policy
        self.settings.inherit(opener.settings)

    def popup(self, page_id: str) -> None:
        """Note a window that this page opened: from now on the two share one."""
        self.shares_window = True
        told = self.observer is not None and self.observer.popup(page_id)
        if not told and self.lease is not None:
            self.tell(self.lease.client_id, f"{self.page_id} opened the popup {page_id}.")

    def share(self, access: Access) -> None:
        """Say what others than its holder may do with it."""
        self.record.ownership.share(access)
        self.look_at_trace()

    def look_at_trace(self) -> None:
        """Have the trace of its session, where one runs, heed who may see the page."""
        for client_id, text in self.session.tracing.check_page(self.record):
            self.tell(client_id, text)
