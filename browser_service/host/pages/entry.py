"""Assembles the parts of a page under its pageId, and gives each call those that it may use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browse_together.contract.background import Background
from browse_together.contract.errors import BrowserCrashed
from browse_together.contract.pages import PageState
from browse_together.contract.quoting import address
from browser_service.host.background import bounded, within
from browser_service.host.calls import RunningCalls
from browser_service.host.elements.filled_fields import FilledFields
from browser_service.host.events import EventLog
from browser_service.host.network.downloads import Downloads
from browser_service.host.pages.dialogs import Dialogs
from browser_service.host.pages.listener import Listener
from browser_service.host.pages.recovery import Recovery, ways_on
from browser_service.host.pages.tab_life import TabLife
from browser_service.host.record.console import Console
from browser_service.host.record.record import PageRecord
from browser_service.host.record.recording import Recorder
from browser_service.host.record.saved_place import restore_storage
from browser_service.host.record.settings import PageSettings
from browser_service.host.seam import ArtifactPort, HostLimits
from browser_service.host.sessions.session import SessionEntry
from browser_service.host.tabs.tab import Tab
from browser_service.host.watching.hands import Hand
from browser_service.host.watching.phone import Fit
from browser_service.host.watching.screencast import Screencast
from browser_service.host.watching.thumbnails import Thumbnails
from browser_service.host.world.ties import cut, listen
from browser_service.rules.human_requests import HumanRequests
from browser_service.rules.leases import Lease, Ownership
from browser_service.rules.turns import PageQueue
from browser_service.rules.window import PopupLimit
from browser_service.security.urls import UrlPolicy

_GIVEN_BACK_WITHIN_S: Final = 3.0


@dataclass(frozen=True)
class Common:
    """The services and limits that all pages of a host share."""

    log: EventLog
    policy: UrlPolicy
    limits: HostLimits
    artifacts: ArtifactPort
    running: RunningCalls
    dialogs: Dialogs
    downloads: Downloads
    people: HumanRequests


class PageEntry:
    """A page under its pageId. Its tab may be replaced; holder, queue and revision stay."""

    def __init__(
        self, state: PageState, session: SessionEntry, common: Common, on_close: Callable[["PageEntry", Tab], None]
    ) -> None:
        # Longer than 40 lines, because the parts are made here in the order in which they need each other.
        limits, emit = common.limits, common.log.emit
        self.session, self.common, self._on_close = session, common, on_close
        self.record = record = PageRecord.from_state(
            state,
            Ownership(state, limits.idle_lease_ms, self._busy, self.tell, emit),
            guarded=not (state.of_person and session.attached),
            emit=emit,
        )
        record.popups = PopupLimit(limits.page_popups)
        self.queue = PageQueue(emit)
        self.settings = PageSettings(record)
        self.console = Console(record)
        self.recorder = Recorder(record, session.recordings)
        self.filled_fields = FilledFields()
        self.tab_life = TabLife(record, session, self.filled_fields, common.dialogs)
        self.screencast = Screencast(record, self.queue)
        self.thumbnails = Thumbnails(
            *(record, self.screencast, self.recorder, session.tracing),
            timeline=limits.timeline,
            artifacts=common.artifacts,
        )
        self.recovery = Recovery(record, self.tab_life, session, self.settings, self.filled_fields, self.adopt)
        self.hand = Hand(record, Fit(self.settings.emulation), self._open_window, session)
        self._listener = Listener(
            *(record, self.tab_life, self.queue, self.filled_fields, common.policy, common.downloads),
            logins=session.logins,
            attached=session.attached and session.profile,
            open_behind=lambda url: session.open_behind(record.target_id, url),
        )
        self._background = Background()

    @property
    def page_id(self) -> str:
        return self.record.page_id

    @property
    def lease(self) -> Lease | None:
        return self.record.lease

    def _busy(self, client_id: str) -> bool:
        """Say if a client has a queued or running call on the page."""
        return self.common.running.busy(client_id, self.page_id)

    @property
    def needed(self) -> bool:
        """True while a person, a hold, a dialog, a call in its queue or a recording needs the page."""
        record, lease = self.record, self.record.lease
        return (
            record.of_person
            or record.person is not None
            or (lease is not None and lease.kept_s > 0)
            or record.dialog is not None
            or self.queue.busy
            or self.recorded
        )

    @property
    def recorded(self) -> bool:
        """True while a recording of the page or of its session runs."""
        return self.recorder.running or self.session.tracing.running

    @property
    def irreplaceable(self) -> bool:
        """True if a new window could not show the same, because the page answers a form or scripts made it, or if the
        window is not ours to close."""
        record = self.record
        by_get = record.url.startswith(("http:", "https:")) and self.settings.network.traffic.document_by_get
        return self.session.attached or not (record.untouched or by_get or record.url.startswith("data:"))

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about the page."""
        self.record.tell(client_id, text)

    async def _open_window(self) -> None:
        await self.recovery.bring_up(self.record.holder_id, navigates=False, replaces=False)

    async def adopt(self, page: Page) -> None:
        """Make a Playwright page the tab behind the pageId. Raises BrowserCrashed if the page ends meanwhile."""
        record, tab = self.record, Tab(page, self.session)
        listen(page, "crash", lambda _: self._on_crash(tab))
        listen(page, "close", lambda _: self._on_close(self, tab))
        listen(page, "framenavigated", self.session.given_secrets.on_navigated)
        self._listener.listen(tab)
        try:
            await self._listener.guard(tab)
            record.target_id = tab.target_id
            if self.session.attached:
                self._background.spawn(bounded(self._stay_behind(tab)))
            came_by_itself = record.opener_id is not None or record.of_person
            backfills = record.opener_id is not None or (record.of_person and not record.lent)  # it shares no past
            await self.settings.attach(tab, came_by_itself=backfills)
            await self.console.attach(page, tab.events, came_by_itself=backfills)
            self._listener.watch_downloads(tab)
            tab.file_choosers.hand = self.hand
            if self.session.headless:
                tab.file_choosers.listen()
        except PlaywrightError as error:
            raise BrowserCrashed(f"Page {self.page_id!r} ended while it was opened.") from error
        if tab.crashed or page.is_closed():
            raise BrowserCrashed(f"Page {self.page_id!r} ended while it was opened.")
        self.tab_life.replace(tab)
        self._listener.check_url(tab)  # a popup may be there already
        if came_by_itself:
            self.tab_life.read_title_soon()  # its document may have come before
        self.check_trace()
        place = record.place
        record.place = place._replace(history=())  # the window has it by now
        if place.parked is not None or place.restored:
            await restore_storage(tab, record.url, place.storage, self._background)

    async def _stay_behind(self, tab: Tab) -> None:
        """Let a tab in a person's browser work where it is. A page of the person's learns nothing before an act."""
        await tab.behind.draw()
        if self.record.guarded:
            await tab.behind.seem_in_front()

    async def give_back(self, page: Page | None = None) -> None:
        """Take all that is ours from a person's tab, and leave the tab as it is. `page` is one that was not adopted to
        its end."""
        await self._background.stop()  # else it ties itself to the tab afterwards
        tab = self.record.tab
        if tab is not None:
            self.common.dialogs.forget_tab(tab)
            self.screencast.end()
            if tab.usable:
                cleared = (self.settings.clear(tab), tab.behind.rest())
                await within(_GIVEN_BACK_WITHIN_S, self.recorder.end("the person took the tab back"), *cleared)
            tab.events.end()
            page = tab.page if tab.owned else None  # a dead driver has no ties
        if page is not None:
            await cut(page)

    def _on_crash(self, tab: Tab) -> None:
        if not tab.crashed and self.session.launcher.watchdog.ended_one:
            self._stop(tab, "it kept the browser from answering anybody else")
        self.tab_life.note_crash(tab)

    def _stop(self, tab: Tab, why: str) -> None:
        """Kill a tab that harms everybody, and tell the page's holder. Leave alone a person's own tab in an attached
        browser."""
        record = self.record
        if record.life.over or not record.guarded:
            return
        if record.holder_id:
            where = f"{self.page_id} was stopped at {address(record.url)}, and its window closed"
            self.tell(record.holder_id, f"{where}: {why}. {ways_on(self.page_id)}")
        self.tab_life.stop(tab, why)
        record.tell_changed()

    def note_held(self) -> None:
        """Note that a person took the page, or gave it back."""
        self.check_trace()
        self.hand.check_held()
        self.record.tell_changed()

    def check_trace(self) -> None:
        """Tell the session's trace, if one runs, who may see the page now."""
        for notice in self.session.tracing.check_page(self.record):
            self.record.emit(notice)

    def inherit(self, opener: "PageEntry") -> None:
        """Give a popup the network, device, dialog policy and popup limit of the page that opened it."""
        self.record.family, self.record.dialog_policy = opener.record.family, opener.record.dialog_policy
        self.settings.inherit(opener.settings)
        self.record.popups = opener.record.popups

    def add_popup(self, popup: "PageEntry") -> None:
        """Note a popup that this page opened. From now on the two share a window."""
        self.record.shares_window = True
        reported = self.record.observer.add_popup(popup.page_id, popup.record.observer)
        if not reported and self.lease is not None:
            self.tell(self.lease.client_id, f"{self.page_id} opened the popup {popup.page_id}.")

    def note_refused_popup(self, why: str) -> None:
        """Report once that further popups are closed as they open: in the reply of the act that opened them, or else in
        a notice."""
        told = self.record.observer.note_refused_popup(f"further popups were closed as they came: {why}")
        if self.record.popups.tells() and not told and self.lease is not None:
            self.tell(self.lease.client_id, f"{self.page_id} opens popups that are closed as they come: {why}.")


def pages_of(session: SessionEntry, pages: Mapping[str, PageEntry]) -> list[PageEntry]:
    """Return those of the pages that are in a session."""
    return [entry for entry in pages.values() if entry.session is session]
