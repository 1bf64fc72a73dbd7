"""Decides which names are pages: open ones as hosts report them, new ones that calls reserve, and closed ones."""

import re
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from browser_service.sessions.closed_pages import ClosedPages
from browser_service.sessions.records import Sessions
from browser_service.store.closed_page import ClosedPage
from shared.pages import PageState

LAUNCHED = "browser"
"""Is the name of pages that browser_launch opens; four characters are added if it is taken."""
_REVISION_STEP = 64
_STEM_CHARACTERS = 43
"""Is how many characters of a name leave room for a suffix that makes it another."""
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_LAUNCHED_NAME = re.compile(rf"{LAUNCHED}(-[{_ALPHABET}]{{4}})?")


class Directory:
    """Keeps a copy of what hosts report in events and outcomes, and the names that are reserved for new pages."""

    def __init__(self) -> None:
        self._pages: dict[str, PageState] = {}
        self._reservations: list[tuple[str, str]] = []
        """Lists a page's name and its client for each call that may open one."""
        self.sessions = Sessions()
        self.closed = ClosedPages()

    # --- the pages that there are ------------------------------------------------------------------------------------

    def get(self, page_id: str | None) -> PageState | None:
        return self._pages.get(page_id or "")

    def pages(self) -> list[PageState]:
        return list(self._pages.values())

    def pages_of(self, session_id: str) -> list[PageState]:
        """Return the pages of a session."""
        return [page for page in self._pages.values() if page.session_id == session_id]

    def page_counts(self) -> Counter[str]:
        """Count the pages of each session."""
        return Counter(page.session_id for page in self._pages.values())

    def held_by(self, client_id: str) -> list[str]:
        return [page.page_id for page in self._pages.values() if page.holder_id == client_id]

    def belonging_to(self, client_id: str) -> list[PageState]:
        """Return the pages that a client holds, and those that it left and nobody has taken since."""
        return [page for page in self._pages.values() if page.belongs_to(client_id)]

    def left_by(self, label: str) -> list[str]:
        """Return the free pages that a client of this label left."""
        return [page.page_id for page in self._pages.values() if page.holder_id is None and page.left_by == label]

    def launched(self, client_id: str) -> PageState | None:
        """Return the page that a client's browser_launch opened; its name finds it after a restart too."""
        launched = [page for page in self.belonging_to(client_id) if _LAUNCHED_NAME.fullmatch(page.page_id)]
        return launched[-1] if launched else None

    def note(self, page: PageState) -> bool:
        """Take over a page's state; return whether anything changed that must outlive the process."""
        former = self._pages.get(page.page_id)
        self._pages[page.page_id] = page
        self.closed.reopened(page.page_id)
        if former is None or _durable(former) != _durable(page):
            return True
        return (page.hold_left_ms or 0) > (former.hold_left_ms or 0)  # held anew, for the same reason

    def drop(self, page_id: str) -> None:
        """Note that a page is closed, and remember its session."""
        if page := self._pages.pop(page_id, None):
            owner = self.sessions.private_to(page.session_id)
            self.closed.add(ClosedPage.of(page, *((owner.client_id, owner.label) if owner is not None else ())))

    # --- the names of new ones ---------------------------------------------------------------------------------------

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
        """Return the name of each page that a call is opening, and the call's client."""
        return [*self._reservations]

    def reserved_by(self, client_id: str) -> set[str]:
        """Return the names of the pages that a client's calls are opening."""
        return {page_id for page_id, client in self._reservations if client == client_id}

    def is_taken(self, name: str, client_id: str | None = None) -> bool:
        """Return whether a page or a session has the name, or a call of another than this client reserves it."""
        return self._is_in_use(name, client_id) or name in self.sessions

    def free_name(self, like: str = "main") -> str:
        """Return the name if it is free, else one like it."""
        stem = like.split("~", maxsplit=1)[0][:_STEM_CHARACTERS]
        return self.other_name(stem) if self.is_taken(stem) else stem

    def new_name(self, session_id: str, like: str = "main") -> str:
        """Return a free name for a page of a session that no closed page of another one had."""
        name = self.free_name(like)
        closed = self.closed.get(name)
        return name if closed is None or closed.session_id == session_id else self.other_name(like)

    def other_name(self, stem: str) -> str:
        """Return a free name that begins with `stem` and a hyphen."""
        while self.is_taken(name := f"{stem}-" + "".join(secrets.choice(_ALPHABET) for _ in range(4))):
            pass
        return name

    def former_name(self, page_id: str, session_id: str = "") -> str:
        """Return the name of a page that comes back if that is free or its own session's, else one like it."""
        taken = self._is_in_use(page_id) or (page_id in self.sessions and page_id != session_id)
        return self.free_name(page_id) if taken else page_id

    def _is_in_use(self, page_id: str, client_id: str | None = None) -> bool:
        """Return whether there is a page of the name, or another than this client reserves it."""
        return page_id in self._pages or any(
            page_id == name and client_id != client for name, client in self._reservations
        )

    # --- what a client may know of them ------------------------------------------------------------------------------

    def seen_by(self, page: PageState, client_id: str) -> PageState:
        """Return a page as a client may know it: of one that is private to another, only that it is there."""
        hidden = {"url": "", "title": "", "error_page": "", "dialog": None, "hold_reason": "", "person": None}
        return page if self.open_to(page, client_id) else page.model_copy(update=hidden)

    def may_know(self, page_id: str | None, client_id: str) -> bool:
        """Return whether a client may know where a page is and what was done there."""
        page = self.get(page_id)
        return page is None or self.open_to(page, client_id)

    def private_to(self, page: PageState | None, session_id: str | None, client_id: str) -> str | None:
        """Return the one client that may see a call of `client_id`, as page and session are shared now; None if all
        may."""
        if page is not None and page.access == "private":
            return page.holder_id or client_id
        if session_id is None:
            return None
        if session_id not in self.sessions:
            return client_id
        owner = self.sessions.private_to(session_id)
        return owner.client_id if owner is not None else None

    def open_to(self, page: PageState, client_id: str) -> bool:
        """Return whether a client may know more of a page than that it is there."""
        return not page.private_from(client_id) and self.sessions.may_use(page.session_id, client_id)

    def known_to(self, client_id: str, session_id: str | None = None) -> list[str]:
        """Return the names of the pages that a client may know of: all but those that are private to others, and those
        outside of the one session that its token is for."""
        pages = self.pages() if session_id is None else self.pages_of(session_id)
        return [page.page_id for page in pages if not page.private_from(client_id)]


def with_new_revision(page: PageState) -> PageState:
    """Return a page from the journal at a revision that it surely has not had before."""
    return page.model_copy(update={"revision": _revision_step(page.revision) + _REVISION_STEP})


def _durable(page: PageState) -> tuple[object, ...]:
    """Return what is written down when it changes. Revisions count in steps, because every act has one."""
    place = (page.session_id, page.url, page.title, page.opener_id, page.of_person, page.target_id, page.parked)
    owner = (page.holder_id, page.holder_label, page.holder_agent, page.left_by, page.left_by_id)
    request_id = page.person.request_id if page.person else None
    return *place, *owner, page.access, page.hold_reason, request_id, _revision_step(page.revision)


def _revision_step(revision: int) -> int:
    return revision - revision % _REVISION_STEP
