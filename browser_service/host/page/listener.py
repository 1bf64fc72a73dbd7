"""The listener to a page's tabs: notes in its record what they do, and tells it."""

from collections.abc import Callable
from typing import Final

from playwright.async_api import Download, Frame, Request, Response

from browser_service.host.background import Background
from browser_service.host.network.downloads import Downloads
from browser_service.host.network.traffic import throttled
from browser_service.host.page.record import BLANK, PageRecord
from browser_service.host.page.tab import Tab
from browser_service.host.page.titles import Titles
from browser_service.host.recovery.filled_fields import FilledFields
from browser_service.rules.turns import PageQueue
from browser_service.security.urls import UrlPolicy
from shared.events import HostEvent, PageChanged

_ERROR_PAGE: Final = "chrome-error:"
_SENDING: Final = frozenset({"document", "xhr", "fetch"})
"""Of what a page sends; the rest are its own measurements (ping) and files."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class Listener:
    """Hears one page's tabs, one after the other."""

    def __init__(
        self,
        record: PageRecord,
        queue: PageQueue,
        fields: FilledFields,
        titles: Titles,
        *,
        policy: UrlPolicy,
        downloads: Downloads,
        emit: Callable[[HostEvent], None],
        save_logins: Callable[[], None],
    ) -> None:
        self._record = record
        self._queue = queue
        self._fields = fields
        self._titles = titles
        self._policy = policy
        self._downloads = downloads
        self._emit = emit
        self._save_logins = save_logins
        self._background = Background()

    def listen(self, tab: Tab, current: Callable[[], Tab | None]) -> None:
        """Hear a tab to its end; where it goes counts while it is the `current` one."""
        page = tab.page
        page.on("framenavigated", lambda frame: self._on_navigated(tab, frame) if tab is current() else None)
        page.on("domcontentloaded", lambda _: self._on_document())
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("download", lambda download: self._on_download(tab, download))

    async def guard(self, tab: Tab) -> None:
        """Have the URL policy asked about each document of a new tab, where it holds."""
        await tab.guard(self._policy if self._record.guarded else None, self.refused)

    def watch_downloads(self, tab: Tab) -> None:
        """Have Chromium tell how downloads of a new tab go on; a person's own are for no agent."""
        if tab.cdp is not None and self._record.guarded:
            self._downloads.watch(tab.cdp)

    def check_place(self, tab: Tab) -> bool:
        """Note where a tab is. Returns False for an address that it may not show, which it is sent away from."""
        url = tab.page.url
        self._record.shows(url)
        if url in {BLANK, ""} or url.startswith((f"{BLANK}#", _ERROR_PAGE)):
            return True
        if self._record.guarded and url.startswith(("http:", "https:")) and not self._policy.permits(url):
            self.refused(url)
            self._background.spawn(tab.page.goto(BLANK))
            return False
        self._fields.set_url(url)
        return True

    def refused(self, url: str) -> None:
        """Tell the page's holder that the URL policy refused an address."""
        if client_id := self._record.holder_id:
            said = f"{self._record.page_id}: {url[:200]} may not be opened and was blocked."
            self._emit(self._record.notice(client_id, said))

    def _on_navigated(self, tab: Tab, frame: Frame) -> None:
        record = self._record
        if frame != tab.page.main_frame or record.life.over:
            return
        record.revision += 1
        record.navigations += 1
        if record.person is not None:
            record.person.note_presence()
        if self.check_place(tab):
            self._emit(PageChanged(page=record.state()))

    def _on_document(self) -> None:
        self._fields.clear()
        self._titles.read_soon()

    def _on_request(self, request: Request) -> None:
        if request.method not in _SAFE and request.resource_type in _SENDING:
            self._fields.clear()

    def _on_response(self, response: Response) -> None:
        self._save_logins()  # it may have set a cookie
        turn, lease = self._queue.current, self._record.lease
        met = throttled(response, fetching=turn is not None and "fetch" in {turn.action, turn.part})
        if met is None:
            return
        if turn is not None:
            turn.throttled.append(met.url)
            met.client_id, met.client_label = turn.call.client_id, turn.call.client_label
        elif lease is not None:
            met.client_id, met.client_label = lease.client_id, lease.label
        self._emit(met)

    def _on_download(self, tab: Tab, download: Download) -> None:
        """A download belongs to who holds the page, else to who acts there. A person's own is for no agent."""
        record, turn = self._record, self._queue.current
        owner = record.holder_id or (turn.call.client_id if turn else "")
        if owner and record.guarded and record.person is None:
            self._downloads.follow(
                *(download, record.page_id, owner, tab.observer),
                tell=lambda text: self._emit(record.notice(owner, text)),
            )
