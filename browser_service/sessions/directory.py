"""Decides which names are pages: open ones that hosts report, new ones that calls reserve, and closed ones."""

import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from browse_together.contract.pages import PageState
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock
from browser_service.sessions.records import Sessions
from browser_service.store.journal import MOST_CLOSED_PAGES, ClosedPage

_KEPT_S: Final = 7 * 86_400.0


class ClosedPages:
    """The latest closed pages, kept for a week."""

    def __init__(self) -> None:
        self._pages = Bounded[str, ClosedPage](MOST_CLOSED_PAGES)

    def add(self, closed: ClosedPage) -> None:
        if closed.session_id != DEFAULT_SESSION:
            self._pages[closed.page_id] = closed

    def reopened(self, page_id: str) -> None:
        """Forget a closed page, because an open page has its name now."""
        self._pages.pop(page_id, None)

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, page_id: str) -> ClosedPage | None:
        """Return the closed page of that name, up to a week after it closed."""
        closed = self._pages.get(page_id)
        if closed is not None and time.time() - closed.closed_at > _KEPT_S:
            self.reopened(page_id)
            return None
        return closed

    def known_to(self, page_id: str, is_same: Callable[[str], bool]) -> ClosedPage | None:
        """Return the closed page if the client may know of it. `is_same` tells whether an id or label is the client's,
        or that of an earlier chat that called itself the same."""
        closed = self.get(page_id)
        if closed is None or (closed.known_to and not any(map(is_same, closed.known_to))):
            return None
        return closed


LAUNCHED = "browser"
"""Name of the pages that browser_launch opens, with a hyphen and four characters if it is taken."""
_REVISION_STEP = 64
_STEM_CHARACTERS = 43
"""Longest beginning of a name that leaves room for a suffix."""
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_LAUNCHED_NAME = re.compile(rf"{LAUNCHED}(-[{_ALPHABET}]{{4}})?")


class Directory:
    """The pages, as hosts report them in events, and the names reserved for new pages."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._pages: dict[str, PageState] = {}
        self._noted_at: dict[str, float] = {}
        self._reservations: list[tuple[str, str]] = []
        """A page name and a client for each call that may open a page."""
        self._became = Bounded[tuple[str, str], str](MOST_CLOSED_PAGES)
        self.sessions = Sessions()
        self.closed = ClosedPages()

    # --- open pages --------------------------------------------------------------------------------------------------

    def get(self, page_id: str | None) -> PageState | None:
        return self._pages.get(page_id or "")

    def note_given(self, client_id: str, stand_in: str, page_id: str) -> None:
        """Note the page of the tab that a client asked for, which knows it by the name of what stood for it."""
        self._became[client_id, stand_in] = page_id

    def given(self, client_id: str, stand_in: str) -> PageState | None:
        """Return the page that a client got in place of one that stood for it, while the client has it."""
        page = self.get(self._became.get((client_id, stand_in)))
        return page if page is not None and page.holder_id == client_id else None

    def pages(self) -> list[PageState]:
        return list(self._pages.values())

    def pages_now(self) -> list[PageState]:
        """Return the pages with their times as they are now, by the service's own clock."""
        return [self._now(page) for page in self._pages.values()]

    def noted_at(self, page_id: str) -> float:
        """Return when the ages in a page's state were true, by the service's own clock."""
        return self._noted_at[page_id]

    def _now(self, page: PageState) -> PageState:
        return page.after(round((self._clock() - self.noted_at(page.page_id)) * 1000))

    def pages_of(self, session_id: str) -> list[PageState]:
        return [page for page in self._pages.values() if page.session_id == session_id]

    def page_counts(self) -> Counter[str]:
        return Counter(page.session_id for page in self._pages.values())

    def held_by(self, client_id: str) -> list[str]:
        return [page.page_id for page in self._pages.values() if page.holder_id == client_id]

    def belonging_to(self, client_id: str) -> list[PageState]:
        """Return the pages that a client holds, and those it left that nobody has taken since."""
        return [page for page in self._pages.values() if page.belongs_to(client_id)]

    def left_by(self, is_same: Callable[[str], bool]) -> list[PageState]:
        """Return the free pages that a client left which is the same, by its id or label."""
        free = (page for page in self._pages.values() if page.holder_id is None and page.left_by)
        return [page for page in free if is_same(page.left_by) or is_same(page.left_by_id or "")]

    def leavers(self) -> set[str]:
        """Return the clients that left pages which nobody has taken since."""
        return {page.left_by_id for page in self._pages.values() if page.left_by_id and page.holder_id is None}

    def launched(self, client_id: str) -> PageState | None:
        """Return the latest page that the client's browser_launch opened. The name tells, so this works after a
        restart."""
        launched = [page for page in self.belonging_to(client_id) if _LAUNCHED_NAME.fullmatch(page.page_id)]
        return launched[-1] if launched else None

    def note(self, page: PageState) -> bool:
        """Store a page's state, and return whether something changed that must outlive the process."""
        former = self._pages.get(page.page_id)
        self._pages[page.page_id], self._noted_at[page.page_id] = page, self._clock()
        if former is None:
            self.closed.reopened(page.page_id)
        if former is None or _durable(former) != _durable(page):
            return True
        return (page.hold_left_ms or 0) > (former.hold_left_ms or 0)  # a new hold for the same reason

    def note_act(self, page_id: str | None, client_id: str) -> None:
        """Note that a client begins to act on a page, which its host reports only afterwards."""
        page = self.get(page_id)
        if page is not None and page.holder_id == client_id:
            self._pages[page.page_id] = self._now(page).model_copy(update={"acted_ago_ms": 0})
            self._noted_at[page.page_id] = self._clock()

    def drop(self, page_id: str) -> None:
        """Move a page to the closed ones."""
        self._noted_at.pop(page_id, None)
        if page := self._pages.pop(page_id, None):
            owner = self.sessions.private_to(page.session_id)
            self.closed.add(ClosedPage.of(page, *((owner.client_id, owner.label) if owner is not None else ())))

    # --- names for new pages -----------------------------------------------------------------------------------------

    @contextmanager
    def reserve(self, page_id: str, client_id: str) -> Iterator[str]:
        """Reserve a name for the page that a client's call may open, until the call ends."""
        reservation = (page_id, client_id)
        self._reservations.append(reservation)
        try:
            yield page_id
        finally:
            self._reservations.remove(reservation)

    @property
    def reservations(self) -> list[tuple[str, str]]:
        """Return each reserved name with the client whose call may open that page."""
        return [*self._reservations]

    def reserved_by(self, client_id: str) -> set[str]:
        """Return the names reserved by a client's calls."""
        return {page_id for page_id, client in self._reservations if client == client_id}

    def is_taken(self, name: str, client_id: str | None = None) -> bool:
        """Return whether a page or session has the name, or a call of any client but this one has reserved it."""
        return self._is_in_use(name, client_id) or name in self.sessions

    def free_name(self, like: str = "main") -> str:
        """Return `like` if it is free, else a free name that begins with it."""
        stem = like.split("~", maxsplit=1)[0][:_STEM_CHARACTERS]
        return self.other_name(stem) if self.is_taken(stem) else stem

    def new_name(self, session_id: str, like: str = "main") -> str:
        """Return a free name for a new page of this session, which no closed page of another session had."""
        name = self.free_name(like)
        closed = self.closed.get(name)
        return name if closed is None or closed.session_id == session_id else self.other_name(like)

    def other_name(self, stem: str) -> str:
        """Return a free name that begins with `stem` and a hyphen."""
        while self.is_taken(name := f"{stem}-" + "".join(secrets.choice(_ALPHABET) for _ in range(4))):
            pass
        return name

    def _is_in_use(self, page_id: str, client_id: str | None = None) -> bool:
        """Return whether a page has the name, or a call of any client but this one has reserved it."""
        return page_id in self._pages or any(
            page_id == name and client_id != client for name, client in self._reservations
        )

    # --- what a client may know of pages -----------------------------------------------------------------------------

    def seen_by(self, page: PageState, client_id: str) -> PageState:
        """Return a page as a client may see it: of other clients' private pages, only their existence."""
        hidden = {"url": "", "title": "", "error_page": "", "dialog": None, "hold_reason": "", "person": None}
        return page if self.open_to(page, client_id) else page.model_copy(update=hidden)

    def may_know(self, page_id: str | None, client_id: str) -> bool:
        """Return whether a client may know the page's URL and what was done there."""
        page = self.get(page_id)
        return page is None or self.open_to(page, client_id)

    def private_to(self, page: PageState | None, session_id: str | None, client_id: str) -> str | None:
        """Return the only other client that may see a call which `client_id` made, as page and session are shared now;
        None if all may."""
        if page is not None and page.access == "private":
            return page.holder_id or client_id
        if session_id is None:
            return None
        if session_id not in self.sessions:
            return client_id
        owner = self.sessions.private_to(session_id)
        return owner.client_id if owner is not None else None

    def open_to(self, page: PageState, client_id: str) -> bool:
        """Return whether a client may know more of a page than its existence."""
        return not page.private_from(client_id) and self.sessions.may_use(page.session_id, client_id)

    def known_to(self, client_id: str, session_id: str | None = None) -> list[str]:
        """Return the names of the pages that a client may know of: all except other clients' private ones. With
        `session_id`, only that session's, for a token limited to it."""
        pages = self.pages() if session_id is None else self.pages_of(session_id)
        return [page.page_id for page in pages if not page.private_from(client_id)]


def after_restart(page: PageState) -> PageState:
    """Return a page from the journal with a revision that it has certainly not had before, and without a rule's
    question: the act that it is about ended with the service."""
    asked = {"person": None, "asker_id": None} if page.person is not None and page.person.of_rule else {}
    return page.model_copy(update={"revision": _revision_step(page.revision) + _REVISION_STEP, **asked})


def _durable(page: PageState) -> tuple[object, ...]:
    """Return the part of a page that the journal must store when it changes. Revisions count in steps, because every
    act makes one."""
    place = (page.session_id, page.url, page.title, page.opener_id, page.of_person, page.target_id, page.parked)
    owner = (page.holder_id, page.holder_label, page.holder_agent, page.left_by, page.left_by_id)
    request_id = page.person.request_id if page.person else None
    return *place, *owner, page.access, page.hold_reason, request_id, _revision_step(page.revision)


def _revision_step(revision: int) -> int:
    return revision - revision % _REVISION_STEP
