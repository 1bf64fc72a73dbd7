"""The durable entry behind a pageId: the Playwright page in it may be replaced; holder, queue and revision stay."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from playwright.async_api import CDPSession, Download, Frame, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from browser_service.host.close import bounded
from browser_service.host.elements.fields_left import FieldsLeft
from browser_service.host.events import queued, well_formed
from browser_service.host.init_scripts import InitScripts
from browser_service.host.network.downloads import Downloads
from browser_service.host.network.emulation import Emulation
from browser_service.host.network.guard import guard
from browser_service.host.network.routes import PageNetwork
from browser_service.host.network.traffic import Traffic, throttled
from browser_service.host.page.observer import Observer
from browser_service.host.page.parking import Use
from browser_service.host.page.recovery import BLANK, Recovery
from browser_service.host.reading import snapshot
from browser_service.host.reading.cache import Recall
from browser_service.host.recording.console import Console
from browser_service.host.recording.recording import Recording
from browser_service.host.recovery.filled_fields import Filled
from browser_service.rules.bounded import Latest
from browser_service.rules.human import HumanRequest, HumanRequests
from browser_service.rules.leases import Lease, Ownership
from browser_service.rules.turns import PageQueue
from browser_service.security.urls import UrlPolicy, abridged_in
from shared.calls import Call, Notice
from shared.errors import BrowseError, BrowserCrashed, PageNotFound, SessionNotFound
from shared.events import HostEvent, NoticeGiven, PageChanged
from shared.pages import Access, PageState

if TYPE_CHECKING:
    from browser_service.host.session import SessionEntry

_ERROR_PAGE = "chrome-error:"
_LOADING = ("Loading http://", "Loading https://")
"""What Playwright answers for the title of a page that goes somewhere."""
_SENDING = frozenset({"document", "xhr", "fetch"})
"""Of what a page sends; the rest are its own measurements (ping) and files."""
_TITLE_AFTER_S = 0.1
_TITLE_WITHIN_S = 0.2
_PROBE_S = 1.0
_SEEN_BY = 50
"""Clients that a page remembers what it showed to; one that is forgotten takes a snapshot again."""

Emit = Callable[[HostEvent], None]
OnClose = Callable[["PageEntry", Page], None]
Busy = Callable[[str, str], bool]
"""Whether a client has a call queued or running on a page."""


class DialogPolicy(NamedTuple):
    """How a client wants the dialogs of a page answered while it holds the page."""

    client_id: str = ""
    accept: bool | None = None
    """None: it is asked."""
    prompt_text: str | None = None


class PageEntry:
    """A page under its pageId. The Playwright page in it may be replaced; holder, queue and revision stay."""

    browser_id = ""
    """Of the browser that it was last live in."""
    suspect = False
    crashed = False
    closed = False

    def __init__(
        self,
        state: PageState,
        session: "SessionEntry",
        policy: UrlPolicy,
        *,
        emit: Emit,
        on_close: OnClose,
        on_lost: Callable[["PageEntry"], None],
        busy: Busy,
        people: HumanRequests,
        downloads: Downloads,
        idle_lease_ms: int,
    ) -> None:
        self.page_id = state.page_id
        self.session = session
        self.url = state.url
        self.title = state.title
        self.revision = state.revision
        self.opener_id = state.opener_id
        self.of_person = state.of_person
        self.ownership = Ownership(
            state, idle_lease_ms, lambda client: busy(client, state.page_id), self.tell, self._waits
        )
        self.people = people
        self._downloads = downloads
        self.person: HumanRequest | None = None
        """Whose a person's request is, while that person has the page."""
        self.queue = PageQueue(lambda turn, position, behind: self._waits(turn.call, position, behind))
        self.seen = Latest[snapshot.Seen](_SEEN_BY)
        self.console = Console(lambda: self._holder() if self.person is None else None)
        self.navigations = 0
        self.last_act = ("", 0)
        """Who acted last, and how often the page had navigated before."""
        self.network = PageNetwork(Traffic(self._whose_traffic), self._holder)
        self.emulation = Emulation(self._holder)
        self.init_scripts = InitScripts(self._holder)
        self.recall = Recall()
        self.recovery = Recovery(self)
        self.filled = Filled()
        self.fields_left = FieldsLeft()
        self.page: Page | None = None
        self.observer: Observer | None = None
        self.recording: Recording | None = None
        self.target_id = state.target_id
        self.family = state.page_id
        """Windows that scripts opened from one another have the same: a dialog of one blocks all."""
        self.dialog: str | None = None
        self.dialog_policy = DialogPolicy()
        self._leaving: asyncio.Future[bool] | None = None
        self._cdp: CDPSession | None = None
        self.use = Use(self, state)
        self.shares_window = state.opener_id is not None
        self._policy = policy
        self._emit = emit
        self._on_close = on_close
        self._on_lost = on_lost
        self._asking: asyncio.TimerHandle | None = None
        self._background = Background()

    @property
    def lease(self) -> Lease | None:
        return self.ownership.lease

    @property
    def cdp(self) -> CDPSession | None:
        """Chromium's session for the page, which lasts as long as the page; none with other engines."""
        return self._cdp

    @property
    def session_id(self) -> str:
        return self.session.session_id

    @property
    def private(self) -> bool:
        """Say whether its holder lets nobody else read it."""
        return self.ownership.access == "private"

    @property
    def live(self) -> bool:
        page = self.page
        return page is not None and not self.crashed and not page.is_closed() and self.session.owns(page)

    @property
    def gone(self) -> bool:
        """Closed, by a call or in the browser: not lost with the browser."""
        page = self.page
        return self.closed or (page is not None and not self.crashed and page.is_closed() and self.session.owns(page))

    def closed_error(self, when: str = "") -> BrowseError:
        """What a call is told that waited or ran when the page was closed."""
        if self.session.closed:
            return SessionNotFound(
                f'Page {self.page_id!r} was closed{when}, with its session "{self.session.session_id}".',
                hint="create_session {} makes one anew, which is logged in nowhere.",
            )
        hint = self.opener_hint or "Open a page of your own: open_page {}."
        return PageNotFound(f"Page {self.page_id!r} was closed{when}.", hint=hint)

    @property
    def opener_hint(self) -> str:
        """Where to go on once a popup is closed, while the page that opened it is open."""
        return f'Its opener is open: snapshot {{"pageId": "{self.opener_id}"}}.' if self.opener_id else ""

    def state(self) -> PageState:
        """What is known without asking the page, so that it can never hang."""
        page = self.page
        shows = page is not None and not self.crashed and not page.is_closed()
        known = PageState(
            page_id=self.page_id,
            session_id=self.session.session_id,
            url=self.url,
            title=self.title,
            revision=self.revision,
            opener_id=self.opener_id,
            left_by=self.ownership.left_by,
            left_by_id=self.ownership.left_by_id,
            of_person=self.of_person,
            access=self.ownership.access,
            target_id=self.target_id,
            idle_ms=self.use.idle_ms,
            untouched=self.use.untouched,
            parked=self.use.parked,
            dialog=self.dialog if shows else None,
            person=self.person.shown() if self.person else None,
            asker_id=self.person.asker_id if self.person else None,
        )
        return known if self.lease is None else known.model_copy(update=_lease_state(self.lease))

    @property
    def videos(self) -> set[Recording]:
        """The recordings that run in its session."""
        return self.session.recordings

    def own_answer(self) -> DialogPolicy | None:
        """Its holder's policy, where that answers. A person who has the page is asked."""
        policy, lease = self.dialog_policy, self.lease
        holds = lease is not None and lease.client_id == policy.client_id
        return policy if holds and self.person is None and policy.accept is not None else None

    def inherited(self) -> dict[str, object]:
        """What a popup has of its opener: its holder, and what others may do with it."""
        return {"access": self.ownership.access, **(_lease_state(self.lease) if self.lease else {})}

    @property
    def guarded(self) -> bool:
        """Whether the URL policy holds wherever it goes; else when an agent uses it."""
        return not (self.of_person and self.session.attached)

    def changed(self) -> None:
        """Tell how it is now."""
        self._emit(PageChanged(page=self.state()))

    async def adopt(self, page: Page) -> None:
        """Make `page` the one behind this pageId."""
        observer = Observer(page)
        page.on("crash", self.recovery.crashed)
        page.on("close", lambda closed: self._on_close(self, closed))
        page.on("framenavigated", self._on_navigated)
        page.on("domcontentloaded", self._on_document)
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("download", lambda download: self._on_download(observer, download))
        try:
            policy = self._policy if self.guarded else None
            self._cdp, self.target_id = await guard(page, policy, self._on_refused)
            by_itself = self.opener_id is not None or self.of_person
            await self.init_scripts.attach(page)
            await self.emulation.attach(page, self._cdp)
            self.network.offline = self.emulation.offline
            await self.network.attach(page, came_by_itself=by_itself)
            await self.console.attach(page, came_by_itself=by_itself)
            if self._cdp is not None and policy is not None:
                self._downloads.watch(self._cdp)
        except PlaywrightError as error:
            raise BrowserCrashed(f"Page {self.page_id!r} ended while it was opened.") from error
        self.recovery.check(page)
        self.page, self.observer, self.browser_id = page, observer, self.session.browser_id
        self.crashed = self.suspect = False
        self.use.began(page)
        self.seen.clear()
        self._check_place(page)  # a popup may be there already
        self.session.tracing.look(self)

    def _holder(self) -> str:
        return self.lease.client_id if self.lease is not None else ""

    def _whose_traffic(self) -> str:
        """Nobody's while a person has the page, or what another client set is sent along: neither is for an agent."""
        return self._holder() if self.person is None and not self.network.foreign else ""

    def set_up_as(self, opener: "PageEntry") -> None:
        """A popup has the network, the device and the way with dialogs of its opener."""
        self.dialog_policy = opener.dialog_policy
        self.network.inherit(opener.network)
        self.emulation.inherit(opener.emulation)
        self.init_scripts.inherit(opener.init_scripts)

    async def let_go_of_settings(self, client_id: str) -> None:
        """What another client had set ends once the page has a new holder."""
        foreign = self.network.foreign or self.emulation.foreign or self.init_scripts.foreign
        if self.page is None or self.lease is None or not foreign:
            return
        await self.init_scripts.remove(None)
        await self.network.clear(self.page)
        await self.emulation.clear(self.page, self._cdp)
        await self.network.set_offline(self.page, offline=False)
        told = f"{self.page_id}: routes, headers, init scripts and emulation that another client had set are removed."
        self.tell(client_id, told)

    def popup(self, page_id: str) -> None:
        """A window that this page opened: from now on the two share one."""
        self.shares_window = True
        told = self.observer is not None and self.observer.popup(page_id)
        if not told and self.lease is not None:
            self.tell(self.lease.client_id, f"{self.page_id} opened the popup {page_id}.")

    async def read_title(self) -> None:
        """Bring the cached title up to date, in 200 ms at most."""
        if self.page is None or self.dialog or not self.live or self.page.url.startswith(_ERROR_PAGE):
            return
        try:
            async with asyncio.timeout(_TITLE_WITHIN_S):
                title = well_formed(await self.page.title())
        except (TimeoutError, PlaywrightError):
            return
        self.set_title(title)

    def set_title(self, title: str) -> None:
        """Keep the title that a look at the page has found."""
        if title != self.title and not title.startswith(_LOADING) and not self.closed:
            self.title = title
            self._emit(PageChanged(page=self.state()))

    def refresh_title(self) -> None:
        """Behind the replies, once for many acts in a row: asking costs as much as an act."""
        if self._asking is not None:
            self._asking.cancel()
        self._asking = asyncio.get_running_loop().call_later(
            _TITLE_AFTER_S, lambda: self._background.spawn(self.read_title())
        )

    def taken(self, request: HumanRequest) -> None:
        """A person has the page from now on, above its lease."""
        self.person = request
        self.ownership.keep(kept=True)
        self.session.tracing.look(self)
        self._emit(PageChanged(page=self.state()))

    def share(self, access: Access) -> None:
        self.ownership.share(access)
        self.session.tracing.look(self)

    def hidden_from(self, client_id: str) -> bool:
        """Whether a client may not read it: it is another's alone, or a person's secrets are on it."""
        private = self.ownership.access == "private" and self.lease is not None and self.lease.client_id != client_id
        return private or (self.person is not None and self.person.private)

    def given_back(self) -> None:
        """The person has left it, and may have changed anything on it."""
        self.person = None
        self.revision += 1
        self.use.now()
        self.ownership.keep(kept=False)
        self._emit(PageChanged(page=self.state()))

    async def close(self, *, run_before_unload: bool = False) -> bool:
        """Says whether it is gone: it stays where it was let ask, and the answer was to stay."""
        page = self.page
        if page is not None and run_before_unload and not page.is_closed():
            self._leaving = asyncio.get_running_loop().create_future()
            page.once("close", lambda _: self.left(left=True))
            await page.close(run_before_unload=True)
            if not await self._leaving:
                return False
        self.closed = True
        if page is not None and not page.is_closed():
            await page.close()
        return True

    def left(self, *, left: bool) -> None:
        """The page was asked whether to leave: it did, or stays."""
        if self._leaving is not None and not self._leaving.done():
            self._leaving.set_result(left)

    async def responds(self) -> bool:
        """Whether its scripts have their turn again, within a second."""
        if self.page is None:
            return False
        try:
            async with asyncio.timeout(_PROBE_S):
                await self.page.evaluate("1")
        except TimeoutError:
            return False
        except PlaywrightError as error:
            return "Execution context was destroyed" in str(error)
        return True

    async def interrupt(self) -> bool:
        """As a browser's stop button, for scripts too: while a page loads or spins, all calls on it wait.

        Over the session that was opened with the page: a spinning one lets no new session be used.
        """
        if self._cdp is None:
            return False
        try:
            async with asyncio.timeout(_PROBE_S):
                await self._cdp.send("Runtime.terminateExecution")
                await self._cdp.send("Page.stopLoading")
        except (TimeoutError, PlaywrightError):
            return False
        return True

    async def leave(self) -> None:
        """Close its window, and keep it for later."""
        page, self.page = self.page, None
        self.filled.lost()
        if page is not None and not page.is_closed() and self.session.owns(page):
            await bounded(page.close())

    def abandon(self) -> None:
        """Leave the window that this pageId had, where it is still there, without waiting for its end."""
        page, self.page, self.dialog = self.page, None, None
        self.filled.lost()
        self._on_lost(self)
        if page is not None and not page.is_closed() and self.session.owns(page):
            self._background.spawn(bounded(page.close()))

    def _on_response(self, response: Response) -> None:
        self.session.logins.save_soon()  # it may have set a cookie
        turn = self.queue.current
        met = throttled(response, fetching=turn is not None and "fetch" in {turn.action, turn.part})
        if met is None:
            return
        if turn is not None:
            turn.throttled.append(met.url)
            met.client_id, met.client_label = turn.call.client_id, turn.call.client_label
        elif self.lease is not None:
            met.client_id, met.client_label = self.lease.client_id, self.lease.label
        self._emit(met)

    def _on_download(self, observer: Observer, download: Download) -> None:
        """A download belongs to who holds the page, else to who acts there. A person's own is for no agent."""
        turn, owner = self.queue.current, self._holder()
        owner = owner or (turn.call.client_id if turn else "")
        if owner and self.guarded and self.person is None:
            self._downloads.began(download, self.page_id, owner, observer, lambda text: self.tell(owner, text))

    def _on_document(self, _: Page) -> None:
        self.filled.sent()
        self.refresh_title()

    def _on_request(self, request: Request) -> None:
        if request.method not in {"GET", "HEAD", "OPTIONS"} and request.resource_type in _SENDING:
            self.filled.sent()

    def _on_navigated(self, frame: Frame) -> None:
        if self.page is None or frame != self.page.main_frame or self.closed:
            return
        self.revision += 1
        self.navigations += 1
        if self.person is not None:
            self.person.seen()
        if self._check_place(self.page):
            self._emit(PageChanged(page=self.state()))

    def _check_place(self, page: Page) -> bool:
        """Note where the page is. Committed in spite of all, no page stays at an address that it may not show."""
        url = page.url
        if not url.startswith((_ERROR_PAGE, f"{BLANK}#")):
            self.url = url
        if url in {BLANK, ""} or url.startswith((f"{BLANK}#", _ERROR_PAGE)):
            return True
        if self.guarded and url.startswith(("http:", "https:")) and not self._policy.permits(url):
            self._on_refused(url)
            self._background.spawn(page.goto(BLANK))
            return False
        self.filled.moved(url)
        return True

    def _on_refused(self, url: str) -> None:
        if self.lease is not None:
            self.tell(self.lease.client_id, f"{self.page_id}: {url[:200]} may not be opened and was blocked.")

    def _waits(self, call: Call, position: int, behind: str) -> None:
        self._emit(queued(call, position, behind))

    def tell(self, client_id: str, text: str) -> None:
        text = str(abridged_in(text, [self.url]))
        self._emit(NoticeGiven(client_id=client_id, notice=Notice(text=well_formed(text), page_id=self.page_id)))


def _lease_state(lease: Lease) -> dict[str, object]:
    return {
        "holder_id": lease.client_id,
        "holder_label": lease.label,
        "holder_agent": lease.agent,
        "acted_ago_ms": lease.idle_ms,
        "hold_reason": lease.reason if lease.hold_left_s else "",
        "hold_left_ms": round(lease.hold_left_s * 1000) or None,
    }


async def target_of(page: Page) -> str:
    """Chromium's name of a page, which lasts as long as the page does; none for a page that is just gone."""
    try:
        cdp = await page.context.new_cdp_session(page)
        info = await cdp.send("Target.getTargetInfo")
        await cdp.detach()
    except PlaywrightError:
        return ""
    return str(info["targetInfo"]["targetId"])
