"""All that is known of a page apart from its tab, which may be replaced or gone."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from playwright.async_api import Page

from browse_together.contract.calls import Notice, PageLimit
from browse_together.contract.errors import BrowseError, BrowserCrashed, PageNotFound, SessionNotFound
from browse_together.contract.events import HostEvent, NoticeGiven, PageChanged
from browse_together.contract.frames import Chooser, ShownDialog, ShownList
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import ASK_FOR_TAB, Access, Lent, PageState, Parked
from browse_together.contract.userinfo import without_userinfo
from browser_service.host.events import well_formed
from browser_service.host.record.life import Life, LifeEvent, after
from browser_service.host.tabs.observer import Observer
from browser_service.host.tabs.tab import Tab
from browser_service.rules.human import HumanRequest
from browser_service.rules.leases import Lease, Ownership
from browser_service.rules.window import Clock, PopupLimit
from browser_service.security.act_rules import Act
from browser_service.security.http_logins import Challenge
from browser_service.security.origins import within
from browser_service.security.urls import BLANK, ERROR_PAGE, abridged_in

_LOADING: Final = ("Loading http://", "Loading https://")
"""How Playwright's answer begins for the title of a page that is navigating."""

Emit = Callable[[HostEvent], None]


class DialogPolicy(NamedTuple):
    """How a client wants a page's dialogs answered while it holds the page."""

    client_id: str = ""
    accept: bool | None = None
    """None leaves the dialogs open for an answer."""
    prompt_text: str | None = None


class SavedPlace(NamedTuple):
    """Where a page was when its window was closed, for the next window."""

    parked: Parked | None = None
    storage: Mapping[str, str] = MappingProxyType({})
    """The session storage of its site. It is never written to disk."""
    history: tuple[str, ...] = ()
    """The page's earlier addresses, with its own as the last."""
    restored: bool = False
    """True if storage and history are those of a page that was closed or lost."""


_NO_PLACE: Final = SavedPlace()
_NO_POLICY: Final = DialogPolicy()


@dataclass(eq=False, repr=False)
class PageRecord:
    """A page under its pageId, for as long as somebody may use it. It needs no browser and no event loop."""

    page_id: str
    session_id: str
    ownership: Ownership
    guarded: bool = True
    """True if the URL policy always applies; False if only while an agent uses the page."""
    url: str = BLANK
    title: str = ""
    revision: int = 0
    opener_id: str | None = None
    of_person: bool = False
    """True for a person's own tab, and for its popups."""
    lent: Lent | None = None
    """What agents may do with a tab that its person shares; None for all others."""
    lent_to: str | None = None
    """The client that the tab is for, if not all."""
    taken_back: bool = False
    """True once the person took the tab back."""
    shares_window: bool = False
    """True for a popup and for its opener: the two are tabs of one window."""
    target_id: str = ""
    family: str = ""
    """The same for windows that scripts opened from one another: a dialog of one blocks all."""
    life: Life = Life.NEW
    tab: Tab | None = None
    """The tab that is behind the pageId now. It may crash, vanish, be parked or be replaced."""
    unobserved: Observer = field(default_factory=Observer)
    awaits_tab: bool = False
    """True while it only stands for a tab that an agent asked a person for."""
    unopened: bool = False
    """True if a call made the page and has not brought it up yet. If that fails, the page is forgotten."""
    place: SavedPlace = _NO_PLACE
    challenge: Challenge | None = None
    """The sign-in that the site asks for by HTTP before it shows the document."""
    error_page: str = ""
    """Why it shows the browser's error page, which has no address of the site; "" if it does not."""
    person: HumanRequest | None = None
    """The request for which a person has the page now."""
    dialog: ShownDialog | None = None
    chooser: Chooser | None = None
    """Whether its open file chooser takes one file or several."""
    shown_list: ShownList | None = None
    """The drop-down list that the person has pressed."""
    dialog_policy: DialogPolicy = _NO_POLICY
    stopped: str = ""
    """Why its last tab was killed for harming others; "" if it was not."""
    browser_id: str = ""
    """The id of the browser in which it was last live."""
    origins: tuple[str, ...] = ()
    """Origins it may use, by its holder's token. Empty means any."""
    page_limit: PageLimit | None = None
    """The limit of pages for all clients with its holder's token."""
    loading: Act | None = None
    """The agent's navigation in progress; the owner's rules already allowed it."""
    has_leave: bool = False
    """True while a person acts, or has allowed the current act: the owner's rules let its requests pass."""
    popups: PopupLimit = field(default_factory=lambda: PopupLimit(0))
    """The limit of windows that it may open, together with its popups."""
    navigations: int = 0
    last_act: tuple[str, int] = ("", 0)
    """The client that acted last, and the number of navigations before."""
    requests_before_act: int = 0
    """The number of the last request before that act."""
    emit: Emit = lambda _: None
    clock: Clock = time.monotonic
    used_at: float = field(init=False)
    first_revision: int = field(init=False)

    def __post_init__(self) -> None:
        self.family = self.family or self.page_id
        self.used_at, self.first_revision = self.clock(), self.revision

    @classmethod
    def from_state(
        cls, state: PageState, ownership: Ownership, *, guarded: bool, emit: Emit = lambda _: None
    ) -> "PageRecord":
        """Make the record of a page from its state, be it new or described by an earlier host."""
        return cls(
            state.page_id,
            state.session_id,
            ownership,
            guarded=guarded,
            emit=emit,
            url=state.url,
            title=state.title,
            revision=state.revision,
            opener_id=state.opener_id,
            of_person=state.of_person,
            awaits_tab=state.person is not None and state.person.kind == "tab",
            lent=state.lent,
            lent_to=state.lent_to,
            shares_window=state.opener_id is not None,
            target_id=state.target_id,
            life=Life.PARKED if state.parked is not None else Life.NEW,
            place=SavedPlace(parked=state.parked),
        )

    def state(self) -> PageState:
        """Describe the page as it is known now."""
        return PageState(
            page_id=self.page_id,
            session_id=self.session_id,
            url=self.url,
            title="" if self.error_page else self.title,
            error_page=self.error_page,
            revision=self.revision,
            opener_id=self.opener_id,
            left_by=self.ownership.left_by,
            left_by_id=self.ownership.left_by_id,
            of_person=self.of_person,
            lent=self.lent,
            lent_to=self.lent_to,
            access=self.ownership.access,
            target_id=self.target_id,
            idle_ms=self.idle_ms,
            untouched=self.untouched,
            parked=self.place.parked,
            dialog=self.dialog.named if self.dialog and (self.life.live or self.life is Life.LOST) else None,
            person=self.person.to_state() if self.person else None,
            asker_id=self.person.asker_id if self.person else None,
            **({} if self.lease is None else _lease_state(self.lease)),
        )

    def may_go(self, url: str) -> bool:
        """Say if its holder's token lets the page load a document from `url`."""
        return not self.origins or within(self.origins, url)

    def move(self, event: LifeEvent) -> None:
        """Change the state of the page by an event. Raises IllegalMove for one that cannot happen now."""
        self.life = after(self.life, event)

    # --- its tab -------------------------------------------------------------------------------------------------

    @property
    def live(self) -> bool:
        """True while it has a tab that can be used."""
        return self.life.live

    @property
    def open_tab(self) -> Tab:
        """Return the tab. Raises BrowserCrashed if there is none."""
        if self.tab is None:
            raise BrowserCrashed(f"Page {self.page_id!r} is not open.")
        return self.tab

    def shows(self, page: Page | None) -> bool:
        """Say if a Playwright page is its tab's."""
        return self.tab is not None and self.tab.page is page

    @property
    def observer(self) -> Observer:
        """Return the observer of its tab; without a tab, one that sees nothing."""
        return self.tab.observer if self.tab is not None else self.unobserved

    # --- whose it is ---------------------------------------------------------------------------------------------

    @property
    def lease(self) -> Lease | None:
        return self.ownership.lease

    @property
    def holder_id(self) -> str:
        """Return the id of the client that holds the page; "" for nobody."""
        return self.lease.client_id if self.lease is not None else ""

    @property
    def private(self) -> bool:
        """True if its holder lets nobody else read it."""
        return self.ownership.private

    def private_from(self, client_id: str) -> bool:
        """Say whether the page is private to another client."""
        return self.ownership.private_from(client_id)

    def named_to(self, client_id: str) -> str:
        """Return the page's name for a client; if it is private to another client, without its id."""
        return "a private page" if self.private_from(client_id) else self.page_id

    def hidden_from(self, client_id: str) -> bool:
        """Say whether a client may not read the page, because it is private to another or shows a person's secrets."""
        return self.private_from(client_id) or (self.person is not None and self.person.private)

    def popup_state(self) -> dict[str, object]:
        """Return what a popup takes over from its opener: the holder, and what it and others may do with it."""
        access: Access = self.ownership.access
        lent = {"lent": self.lent, "lent_to": self.lent_to}
        return {"access": access, **lent, **(_lease_state(self.lease) if self.lease else {})}

    def automatic_answer(self) -> DialogPolicy | None:
        """Return the holder's policy for dialogs; None if the holder, or a person who has the page, must answer."""
        policy = self.dialog_policy
        is_holder = self.lease is not None and self.lease.client_id == policy.client_id
        return policy if is_holder and self.person is None and policy.accept is not None else None

    def give_to_person(self, request: HumanRequest) -> None:
        """Note that a person has the page from now on; the holder's lease does not run out meanwhile."""
        self.person = request
        self.ownership.keep(kept=True)

    def return_from_person(self) -> None:
        """Note that the person gave the page back, and may have changed anything on it."""
        self.person = self.chooser = self.shown_list = None
        self.has_leave = False
        self.revision += 1
        self.mark_used()
        self.ownership.keep(kept=False)

    # --- how it was used -----------------------------------------------------------------------------------------

    def mark_used(self) -> None:
        """Note that somebody uses the page now."""
        self.used_at = self.clock()

    @property
    def idle_ms(self) -> int:
        return round((self.clock() - self.used_at) * 1000)

    @property
    def untouched(self) -> bool:
        """True while the page is blank, and nothing has happened to it since it was opened."""
        return self.url == BLANK and self.revision <= self.first_revision + 1

    def set_url(self, url: str, failure: str) -> None:
        """Note the tab's URL, unless it is a new window's own or an error page's; `failure` says what led to the error
        page. While a site asks for a sign-in, the page has the address of the document behind that."""
        is_error = url.startswith(ERROR_PAGE)
        self.error_page = failure if is_error else ""
        if self.challenge is not None and is_error:
            self.url = self.challenge.url
        elif self.challenge is not None and url.partition("#")[0] != self.challenge.url:
            self.challenge = None
        if not url.startswith((ERROR_PAGE, f"{BLANK}#")):
            self.url = without_userinfo(url)

    def note_title(self, title: str) -> None:
        """Note the title of its tab."""
        if title != self.title and not title.startswith(_LOADING) and not self.life.over:
            self.title = title
            self.tell_changed()

    # --- what is said of it --------------------------------------------------------------------------------------

    def notice(self, client_id: str, text: str) -> NoticeGiven:
        text = str(abridged_in(text, [self.url]))
        page_id = None if self.private_from(client_id) else self.page_id
        return NoticeGiven(client_id=client_id, notice=Notice(text=well_formed(text), page_id=page_id))

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about the page."""
        self.emit(self.notice(client_id, text))

    def tell_changed(self) -> None:
        """Send the front the page's present state."""
        self.emit(PageChanged(page=self.state()))

    def closed_error(self, when: str = "") -> BrowseError:
        """Make the error for a call that waited or ran when the page was closed."""
        if self.life is Life.SESSION_CLOSED:
            return SessionNotFound(
                f'Page {self.page_id!r} was closed{when}, with its session "{self.session_id}".',
                hint=f"{next_call('create_session')} makes one anew, which is logged in nowhere.",
            )
        if self.taken_back:
            return PageNotFound(f"The person took {self.page_id!r} back{when}.", hint=ASK_FOR_TAB)
        hint = self.opener_hint or f"Open a page of your own: {next_call('open_page')}."
        return PageNotFound(f"Page {self.page_id!r} was closed{when}.", hint=hint)

    @property
    def opener_hint(self) -> str:
        """Say where to go on once a popup is closed, while the page that opened it is open."""
        return f"Its opener is open: {next_call('snapshot', page_id=self.opener_id)}." if self.opener_id else ""


def _lease_state(lease: Lease) -> dict[str, object]:
    return {
        "holder_id": lease.client_id,
        "holder_label": lease.label,
        "holder_agent": lease.agent,
        "acted_ago_ms": lease.idle_ms,
        "hold_reason": lease.reason if lease.kept_s else "",
        "hold_left_ms": round(lease.kept_s * 1000) or None,
    }
