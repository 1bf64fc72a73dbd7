"""Records all that is known of a page without its tab, which may be replaced or gone."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from browser_service.host.events import well_formed
from browser_service.host.tabs.life import Life, LifeEvent, after
from browser_service.rules.human import HumanRequest
from browser_service.rules.leases import Lease, Ownership
from browser_service.rules.popups import PopupLimit
from browser_service.security.act_rules import Act
from browser_service.security.http_logins import Challenge
from browser_service.security.origins import within
from browser_service.security.urls import abridged_in
from shared.calls import Notice, PageLimit
from shared.errors import BrowseError, PageNotFound, SessionNotFound
from shared.events import HostEvent, NoticeGiven, PageChanged
from shared.frames import Chooser, ShownDialog, ShownList
from shared.next_calls import next_call
from shared.pages import Access, PageState, Parked
from shared.userinfo import without_userinfo

BLANK: Final = "about:blank"
ERROR_PAGE: Final = "chrome-error:"
_LOADING: Final = ("Loading http://", "Loading https://")
"""Playwright answers so for the title of a page that goes somewhere."""

Clock = Callable[[], float]
Emit = Callable[[HostEvent], None]


class DialogPolicy(NamedTuple):
    """How a client wants a page's dialogs answered while it holds the page."""

    client_id: str = ""
    accept: bool | None = None
    """None: it is asked."""
    prompt_text: str | None = None


class Place(NamedTuple):
    """Where a page was when its window was closed, for the next window."""

    parked: Parked | None = None
    storage: Mapping[str, str] = MappingProxyType({})
    """The session storage of its site. It is never written to disk."""
    history: tuple[str, ...] = ()
    """The addresses that it was at before, and its own as the last."""


_ENDED: Final = {Life.VANISHED: LifeEvent.TAB_CLOSED, Life.LOST: LifeEvent.BROWSER_ENDED}
"""How the tab of a page in that state had ended when it was looked at last."""
_NO_PLACE: Final = Place()
_NO_POLICY: Final = DialogPolicy()


@dataclass(eq=False, repr=False)
class PageRecord:
    """A page under its pageId, for as long as somebody may use it. It needs no browser and no event loop."""

    page_id: str
    session_id: str
    ownership: Ownership
    guarded: bool = True
    """The URL policy holds wherever it goes; else only while an agent uses it."""
    url: str = BLANK
    title: str = ""
    revision: int = 0
    opener_id: str | None = None
    of_person: bool = False
    """A tab that nobody here opened."""
    shares_window: bool = False
    """It is a popup, or has opened one: the two are tabs of one window."""
    target_id: str = ""
    """Chromium's name of its tab."""
    family: str = ""
    """Windows that scripts opened from one another have the same: a dialog of one blocks all."""
    life: Life = Life.NEW
    unopened: bool = False
    """A call made it, and it was not brought up yet: if that fails it is forgotten."""
    place: Place = _NO_PLACE
    challenge: Challenge | None = None
    """What the site asks for by HTTP before it shows the document."""
    error_page: str = ""
    """Why it shows the browser's error page, which is at none of the site's addresses."""
    person: HumanRequest | None = None
    """The request that a person has the page for, while that person has it."""
    dialog: ShownDialog | None = None
    """What it asks and waits to be answered."""
    chooser: Chooser | None = None
    """The files that it asks for, of the person who has it in hand."""
    shown_list: ShownList | None = None
    """The drop-down list that this person has pressed."""
    dialog_policy: DialogPolicy = _NO_POLICY
    stopped: str = ""
    """Why its last tab was given up, if that did harm to others."""
    browser_id: str = ""
    """The browser that it was last live in."""
    origins: tuple[str, ...] = ()
    """Where it may go, if the token of its holder is for some origins."""
    page_limit: PageLimit | None = None
    """How many pages its holder may have, with all that share the token."""
    loading: Act | None = None
    """The agent's navigation in progress; the owner's rules already allowed it."""
    has_leave: bool = False
    """A person acts, or has allowed what is done now: the owner's rules let its requests pass."""
    popups: PopupLimit = field(default_factory=lambda: PopupLimit(0))
    """Of how many windows it may open, with the popups of its popups."""
    navigations: int = 0
    last_act: tuple[str, int] = ("", 0)
    """Who acted last, and how often the page had navigated before."""
    emit: Emit = lambda _: None
    """Takes what happens to it."""
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
        """Make the record of a page from its state, which an earlier host described, or which is new."""
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
            shares_window=state.opener_id is not None,
            target_id=state.target_id,
            life=Life.PARKED if state.parked is not None else Life.NEW,
            place=Place(parked=state.parked),
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
        """Say if the token of its holder lets it load a document from there."""
        return not self.origins or within(self.origins, url)

    def move(self, event: LifeEvent) -> None:
        """Change the state of the page by an event. Raises IllegalMove for one that cannot happen now."""
        self.life = after(self.life, event)

    def note_end(self, end: LifeEvent | None) -> None:
        """Note how its tab was found to have ended: with its window, with its browser, or not at all."""
        known = _ENDED.get(self.life)
        if end is not known and (self.life.live or known is not None):
            self.move(end or LifeEvent.FOUND)

    # --- whose it is ---------------------------------------------------------------------------------------------

    @property
    def lease(self) -> Lease | None:
        return self.ownership.lease

    @property
    def holder_id(self) -> str:
        """Return the id of the client that holds the page; empty for nobody."""
        return self.lease.client_id if self.lease is not None else ""

    @property
    def private(self) -> bool:
        """True where its holder lets nobody else read it."""
        return self.ownership.private

    def private_from(self, client_id: str) -> bool:
        """Say whether the page is another client's alone."""
        return self.ownership.private_from(client_id)

    def named_to(self, client_id: str) -> str:
        """Return its name for a client; of one that is another's alone not even that."""
        return "a private page" if self.private_from(client_id) else self.page_id

    def hidden_from(self, client_id: str) -> bool:
        """Say whether a client may not read the page, because it is another's alone or shows a person's secrets."""
        return self.private_from(client_id) or (self.person is not None and self.person.private)

    def popup_state(self) -> dict[str, object]:
        """Return what a popup has of its opener: its holder, and what others may do with it."""
        access: Access = self.ownership.access
        return {"access": access, **(_lease_state(self.lease) if self.lease else {})}

    def automatic_answer(self) -> DialogPolicy | None:
        """Return the holder's policy for dialogs; None where the holder, or a person who has the page, must answer."""
        policy = self.dialog_policy
        is_holder = self.lease is not None and self.lease.client_id == policy.client_id
        return policy if is_holder and self.person is None and policy.accept is not None else None

    def give_to_person(self, request: HumanRequest) -> None:
        """Note that a person has it from now on, above its lease."""
        self.person = request
        self.ownership.keep(kept=True)

    def return_from_person(self) -> None:
        """Note that the person has left it, and may have changed anything on it."""
        self.person = self.chooser = self.shown_list = None
        self.has_leave = False
        self.revision += 1
        self.mark_used()
        self.ownership.keep(kept=False)

    # --- how it was used -----------------------------------------------------------------------------------------

    def mark_used(self) -> None:
        """Note that it is used now."""
        self.used_at = self.clock()

    @property
    def idle_ms(self) -> int:
        return round((self.clock() - self.used_at) * 1000)

    @property
    def untouched(self) -> bool:
        """True while it is blank, and nothing was done to it since it was opened."""
        return self.url == BLANK and self.revision <= self.first_revision + 1

    def set_url(self, url: str, failure: str) -> None:
        """Note the URL of its tab, unless that is a new window's own, or of an error page, to which a failure led. What
        a site asks for in place of a document is at that document's address."""
        is_error = url.startswith(ERROR_PAGE)
        self.error_page = failure if is_error else ""
        if self.challenge is not None and is_error:
            self.url = self.challenge.url
        elif self.challenge is not None and url.partition("#")[0] != self.challenge.url:
            self.challenge = None
        if not url.startswith((ERROR_PAGE, f"{BLANK}#")):
            self.url = without_userinfo(url)

    def rename(self, title: str) -> bool:
        """Note the title of its tab. Returns whether it differs from the one before."""
        if title == self.title or title.startswith(_LOADING) or self.life.over:
            return False
        self.title = title
        return True

    # --- what is said of it --------------------------------------------------------------------------------------

    def notice(self, client_id: str, text: str) -> NoticeGiven:
        """Make a notice about it for a client."""
        text = str(abridged_in(text, [self.url]))
        page_id = None if self.private_from(client_id) else self.page_id
        return NoticeGiven(client_id=client_id, notice=Notice(text=well_formed(text), page_id=page_id))

    def tell(self, client_id: str, text: str) -> None:
        """Give a client a notice about it."""
        self.emit(self.notice(client_id, text))

    def tell_changed(self) -> None:
        """Tell the front how it is now."""
        self.emit(PageChanged(page=self.state()))

    def closed_error(self, when: str = "") -> BrowseError:
        """Make the error of a call that waited or ran when the page was closed."""
        if self.life is Life.SESSION_CLOSED:
            return SessionNotFound(
                f'Page {self.page_id!r} was closed{when}, with its session "{self.session_id}".',
                hint=f"{next_call('create_session')} makes one anew, which is logged in nowhere.",
            )
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
