"""Listens to the tabs of a page, notes in its record what they do, and emits events about it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from playwright.async_api import Download, Frame, Request, Response

from browse_together.contract.background import Background
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import address
from browser_service.host.elements.filled_fields import FilledFields
from browser_service.host.network.downloads import Downloads
from browser_service.host.network.tab_events import TabListener
from browser_service.host.pages.tab_life import TabLife
from browser_service.host.record.record import PageRecord
from browser_service.host.sessions.logins import Logins
from browser_service.host.tabs.held_windows import HeldWindows
from browser_service.host.tabs.tab import Tab
from browser_service.host.world.ties import listen
from browser_service.rules.turns import PageQueue
from browser_service.security.http_logins import Challenge
from browser_service.security.urls import BLANK, ERROR_PAGE, UrlPolicy, origin_of

_FORM_TYPES: Final = frozenset({"document", "xhr", "fetch"})
"""Resource types with which a page sends forms. The others are files and the page's own measurements (ping)."""
_TOLD_EVERY_S: Final = 0.1
_WINDOW_COMES_WITHIN_S: Final = 0.5
_FORM_HELD: Final = (
    "a form was not sent, because it opens a window, which would come before what the person looks at. With a click on "
    'its button and modifiers ["Control"] (on a Mac ["Meta"]) it is sent into a tab behind, which is the person\'s to '
    "share"
)
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(eq=False)
class Listener(TabListener):
    record: PageRecord
    tab_life: TabLife
    queue: PageQueue
    fields: FilledFields
    policy: UrlPolicy
    downloads: Downloads
    logins: Logins
    attached: bool
    """True in the profile of an attached browser: what is downloaded there belongs to its owner."""
    open_behind: Callable[[str], None]
    """The function that opens a URL behind the tabs of an attached browser's person."""
    _refusal: tuple[str, str] = "", ""
    """The last refused address, and the reason."""
    _telling: asyncio.TimerHandle | None = None
    _background: Background = field(default_factory=Background)

    def listen(self, tab: Tab) -> None:
        """Listen to a tab until it ends. Its navigations count only while it is the page's current one."""
        page = tab.page
        listen(page, "framenavigated", lambda frame: self._on_navigated(tab, frame))
        listen(page, "domcontentloaded", lambda _: self._on_document())
        tab.events.listeners.append(self)
        listen(page, "download", lambda download: self._on_download(tab, download))

    async def guard(self, tab: Tab) -> None:
        """Make a new tab ask the URL policy about each document, if the page is guarded."""
        tab.sign_in.on_challenge = partial(self._note_challenge, tab)
        tab.passkeys.tell = self._tell_holder
        await tab.guard(self if self.record.guarded else None, in_front=not self.attached)
        if self.attached and tab.cdp is not None:
            tab.presses.on_persons, tab.presses.before_click = partial(self._on_person, tab), tab.behind.check_click
            await tab.presses.note_by(tab.cdp)
            if self.record.guarded:
                await HeldWindows(tab.page, partial(self._on_held, tab)).hold(tab.cdp)

    def _on_held(self, tab: Tab, url: str) -> None:
        """Open a window behind that the page asked for. One into which a form is sent by POST cannot be, but for a
        press with Control."""
        if url:
            self.open_behind(url)
        else:
            tab.observer.add_once(_FORM_HELD)

    def _on_person(self, tab: Tab) -> None:
        tab.behind.person_away = False
        self.record.revision += 1
        self.record.mark_used()

    def _note_challenge(self, tab: Tab, challenge: Challenge | None) -> None:
        self.record.challenge = challenge
        if challenge is not None:
            auth = {"username": "...", "password": "..."}
            tab.observer.add_once(f"{challenge.words}: {next_call('goto', url=challenge.url, auth=auth)}")

    def watch_downloads(self, tab: Tab) -> None:
        """Have Chromium report a new tab's downloads, and the windows that its scripts open unless it is a person's."""
        if tab.cdp is None:
            return
        if self.record.guarded:
            tab.cdp.on("Page.windowOpen", self._on_window_asked)
        self.downloads.watch(tab.cdp, partial(self._tell_elsewhere, tab) if self.attached else None)

    def _tell_elsewhere(self, tab: Tab, line: str) -> None:
        """Report a download that we do not keep: in the reply of the act that began it, or else in a notice, unless a
        person began it in their own tab."""
        if not tab.observer.add_foreign_download(line) and self.record.guarded:
            self._tell_holder(line)

    def _tell_holder(self, line: str) -> None:
        if self.record.holder_id:
            self.record.tell(self.record.holder_id, f"{self.record.page_id}: {line}.")

    def _on_window_asked(self, event: dict[str, str | bool]) -> None:
        """A moment later, check whether a window came that scripts asked for without a click."""
        if not event["userGesture"]:
            before, url = self.record.popups.came, str(event["url"])
            asyncio.get_running_loop().call_later(_WINDOW_COMES_WITHIN_S, self._note_blocked, before, url)

    def _note_blocked(self, before: int, url: str) -> None:
        """Tell the page's holder, once for many, that the browser blocked a popup."""
        popups, holder_id = self.record.popups, self.record.holder_id
        if popups.came == before and holder_id and popups.tells():
            text = (
                f"{self.record.page_id}: the browser blocked a popup that nobody clicked for: {address(url) or BLANK}."
            )
            self.record.tell(holder_id, f"{text} Open it yourself: {next_call('open_page', url='...')}.")

    def check_url(self, tab: Tab) -> bool:
        """Note the URL of a tab. If the page may not show it, send the tab to a blank page and return False."""
        url = tab.page.url
        failed_url, failure = tab.observer.failed_navigation
        self.record.set_url(url, self._refusal[1] if failed_url == self._refusal[0] else failure)
        if url in {BLANK, ""} or url.startswith((f"{BLANK}#", ERROR_PAGE)):
            return True
        if self.record.guarded and url.startswith(("http:", "https:")) and not self.permits(url):
            self.refuse(url)
            self._background.spawn(tab.page.goto(BLANK))
            return False
        self.fields.set_url(url)
        return True

    def permits(self, url: str) -> bool:
        return self.policy.permits(url) and self.record.may_go(url)

    def refuse(self, url: str) -> None:
        """Tell the page's holder that the URL policy, or its own token, refused an address."""
        if client_id := self.record.holder_id:
            place, why = address(url), self.policy.refusal(url)
            if not self.record.may_go(url):  # another client had led the page there, or a site redirected to it
                place, why = origin_of(url) or BLANK, f"your token is for {', '.join(self.record.origins)} (--origin)"
            text = f"{place} may not be opened and was blocked{f': {why}' if why else ''}"
            self._refusal = url, text
            self.record.tell(client_id, f"{self.record.page_id}: {text}.")

    def _on_navigated(self, tab: Tab, frame: Frame) -> None:
        record = self.record
        if tab is not self.record.tab or frame != tab.page.main_frame or record.life.over:
            return
        record.revision += 1
        record.navigations += 1
        record.shown_list = None
        if record.person is not None:
            record.person.note_presence()
        if self.check_url(tab):
            self._tell_changed()

    def _tell_changed(self) -> None:
        """Emit that the page changed: at once, and then at most once per tenth of a second."""
        if self._telling is None:
            self.record.tell_changed()
            self._telling = asyncio.get_running_loop().call_later(_TOLD_EVERY_S, self._told, self.record.revision)

    def _told(self, revision: int) -> None:
        self._telling = None
        if self.record.revision != revision and not self.record.life.over:
            self._tell_changed()

    def _on_document(self) -> None:
        self.fields.clear()
        self.tab_life.read_title_soon()

    def on_request(self, request: Request) -> None:
        if request.method not in _SAFE and request.resource_type in _FORM_TYPES:
            self.fields.clear()

    def on_response(self, _: Response) -> None:
        self.logins.save_soon()  # it may have set a cookie

    def _on_download(self, tab: Tab, download: Download) -> None:
        """Follow a download for the page's holder, or else for the client that acts there. Agents get no downloads of a
        person."""
        record, turn = self.record, self.queue.current
        owner = record.holder_id or (turn.call.client_id if turn else "")
        if owner and record.guarded and record.person is None:
            self.downloads.follow(download, record, owner, tab.observer)
