"""Keeps what the front half knows of pages, and finds the page that a call means."""

import re
import secrets
from typing import NamedTuple

from browser_service.sessions.closed_pages import ClosedPage, ClosedPages
from browser_service.sessions.records import Sessions
from browser_service.spine.absent_page import no_page, was_elsewhere
from shared.actions.base import Action
from shared.actions.traits import Scope, Unaddressed
from shared.errors import (
    NoBrowser,
    PageRequired,
    ValidationFailed,
    of_field,
)
from shared.next_calls import next_call
from shared.pages import PageState
from shared.wire import DEFAULT_SESSION

LAUNCHED = "browser"
"""Is the name of pages that browser_launch opens; four characters are added if it is taken."""
_STEP = 64
_STEM = 43
"""Is how many characters of a name leave room for a suffix that makes it another."""
_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


class Address(NamedTuple):
    """Is where a call goes; an action of the whole service has neither."""

    page_id: str | None = None
    session_id: str | None = None


class Directory:
    """Keeps a copy of what hosts report in events and outcomes."""

    def __init__(self) -> None:
        self._pages: dict[str, PageState] = {}
        self.sessions = Sessions()
        self.closed = ClosedPages()
        self._minted: set[str] = set()

    def get(self, page_id: str) -> PageState | None:
        return self._pages.get(page_id)

    def pages(self) -> list[PageState]:
        return list(self._pages.values())

    def held_by(self, client_id: str) -> list[str]:
        return [page.page_id for page in self._pages.values() if page.holder_id == client_id]

    def belonging_to(self, client_id: str) -> list[PageState]:
        """Return the pages that a client holds, and those that it left and nobody has taken since."""
        return [page for page in self._pages.values() if page.belongs_to(client_id)]

    def note(self, page: PageState) -> bool:
        """Take over a page's state; return whether anything changed that must outlive the process."""
        before = self._pages.get(page.page_id)
        self._pages[page.page_id] = page
        self._minted.discard(page.page_id)
        self.closed.reopened(page.page_id)
        if before is None or _durable(before) != _durable(page):
            return True
        return (page.hold_left_ms or 0) > (before.hold_left_ms or 0)  # held anew, for the same reason

    def drop(self, page_id: str) -> None:
        """Note that a page is closed, and remember its session."""
        if page := self._pages.pop(page_id, None):
            owner = self.sessions.private_to(page.session_id)
            self.closed.add(ClosedPage.of(page, *((owner.client_id, owner.label) if owner is not None else ())))

    def address(self, action: Action, client_id: str, label: str) -> Address:
        """Find the page or session of a call, which the client may use.

        Raises PageRequired, PageNotFound, SessionNotFound, ValidationFailed, Forbidden.
        """
        self.check_touched(action, client_id)
        address = self._address(action, client_id, label)
        if address.session_id is not None:
            self.sessions.check_use(address.session_id, client_id)
        return address

    def check_touched(self, action: Action, client_id: str) -> None:
        """Raise SessionNotFound or Forbidden where the sessions that a call names, or has pages of, are not for the
        client to use."""
        touched = action.touches()
        pages = [self._pages[page_id] for page_id in touched.pages if page_id in self._pages]
        named = {session_id for session_id in touched.sessions if session_id not in self._pages}
        for session_id in named | {page.session_id for page in pages}:
            self.sessions.check_use(session_id, client_id)

    def for_whole_session(self, action: Action) -> Action:
        """Return the form for the whole session of an action that names a session and no page, if it has one."""
        if action.scope is not Scope.PAGE or action.named_page is not None or action.named_session is None:
            return action
        return (action.for_session() or action) if action.named_session in self.sessions else action

    def seen_by(self, page: PageState, client_id: str) -> PageState:
        """Return a page as a client may know it: of one that is private to another, only that it is there."""
        hidden = {"url": "", "title": "", "dialog": None}
        return page if self.open_to(page, client_id) else page.model_copy(update=hidden)

    def may_know(self, page_id: str | None, client_id: str) -> bool:
        """Return whether a client may know where a page is and what was done there."""
        page = self._pages.get(page_id or "")
        return page is None or self.open_to(page, client_id)

    def open_to(self, page: PageState, client_id: str) -> bool:
        """Return whether a client may know more of a page than that it is there."""
        private = page.access == "private" and page.holder_id != client_id
        return not private and self.sessions.may_use(page.session_id, client_id)

    def _address(self, action: Action, client_id: str, label: str) -> Address:
        if action.scope is not Scope.PAGE:
            return Address(None, action.named_session if action.scope is Scope.SESSION else None)
        if (
            action.named_session is not None
            and action.named_session not in self.sessions
            and not self._pages.get(action.named_session)
        ):
            raise self.sessions.not_found(action.named_session)
        if action.named_page is not None:
            return self._named(action, action.named_page, client_id, label)
        if action.named_session is not None and (main := self._pages.get(action.named_session)):
            return Address(main.page_id, main.session_id)
        if action.unaddressed is Unaddressed.NEW_PAGE:
            return self._new(action, client_id, label)
        if action.pageless:
            return Address(None, action.named_session or DEFAULT_SESSION)
        own = action.unaddressed is Unaddressed.OWN_PAGE
        return self._own(action, client_id) if own else self._only(action, client_id, label)

    def _new(self, action: Action, client_id: str, label: str) -> Address:
        """Return the address of a new page; a new main page has its session's name."""
        if action.opens_main_page and action.named_session not in {None, DEFAULT_SESSION}:
            return Address(action.named_session, action.named_session)
        page_id, session_id = self.mint(), action.named_session or DEFAULT_SESSION
        closed = self.closed.known_to(page_id, client_id, label)
        if closed is not None and closed.session_id != session_id:  # it may still be taken for the one of there
            self._minted.discard(page_id)
            page_id = self._like(page_id)
        return Address(page_id, session_id)

    def _named(self, action: Action, page_id: str, client_id: str, label: str) -> Address:
        known = self._pages.get(page_id)
        if known is not None and action.opens_another and known.holder_id == client_id:
            # opening never means what is open: another agent of this client may be at work there
            return Address(self.mint(page_id), action.named_session or known.session_id)
        if known is None:
            if action.named_session is None and (closed := self.closed.known_to(page_id, client_id, label)):
                undoable = self.closed.can_be_undone(closed)
                raise was_elsewhere(closed, action, client_id, self.sessions, undoable=undoable)
            if action.unaddressed is not Unaddressed.NEW_PAGE or "~" in page_id:
                raise no_page(page_id, self._pages)
            return Address(page_id, self._session_of_new(action, page_id))
        if action.named_session not in {None, known.session_id, known.page_id}:
            raise ValidationFailed(
                f"pageId {page_id!r} is a page of session {known.session_id!r}, not of {action.named_session!r}.",
                hint="Leave sessionId out.",
                details=of_field("sessionId"),
            )
        return Address(known.page_id, known.session_id)

    def _session_of_new(self, action: Action, page_id: str) -> str:
        """Return the session of a new page. Raises ValidationFailed for a page with the name of another session."""
        if page_id == DEFAULT_SESSION or page_id not in self.sessions:
            return action.named_session or DEFAULT_SESSION
        if action.named_session not in {None, page_id}:
            raise ValidationFailed(
                f"{page_id!r} is a session: of pages, its main page alone has that name.",
                hint="Give the page another name, or leave sessionId out.",
                details=of_field("pageId"),
            )
        return page_id

    def _only(self, action: Action, client_id: str, label: str) -> Address:
        mine = [
            page
            for page in self.belonging_to(client_id)
            if action.named_session in {None, page.session_id} and (action.agent or None) in {None, page.holder_agent}
        ]
        if len(mine) == 1:
            return Address(mine[0].page_id, mine[0].session_id)
        if not mine:
            raise PageRequired(
                f"{action.name()} needs a page, and you have none open.",
                hint=f"Open one first: {next_call('goto', url='https://...')}; or name one with pageId: "
                f"{next_call('list_pages')}." + self._left(label),
            )
        names = ", ".join(page.page_id for page in mine)
        raise PageRequired(
            f"{action.name()} needs a pageId: you have {len(mine)} pages open.",
            hint=f"Repeat it with the pageId of one of: {names}.",
            details={"context": {"pages": [page.page_id for page in mine]}},
        )

    def _left(self, label: str) -> str:
        """Return a hint with the pages that an earlier chat of this label left: the new chat has a new identity."""
        left = [page.page_id for page in self._pages.values() if page.holder_id is None and page.left_by == label]
        if not left or not label:
            return ""
        return f' An earlier "{label}" left {", ".join(left[:5])}: act on one by its pageId to go on with it.'

    def _own(self, action: Action, client_id: str) -> Address:
        page = self.launched(client_id)
        if page is None or action.named_session not in {None, page.session_id}:
            raise NoBrowser("No browser instance found. Call browser_launch first.")
        return Address(page.page_id, page.session_id)

    def launched(self, client_id: str) -> PageState | None:
        """Return the page that a client's browser_launch opened; its name finds it after a restart too."""
        named = re.compile(rf"{LAUNCHED}(-[{_ALPHABET}]{{4}})?")
        mine = [page for page in self.belonging_to(client_id) if named.fullmatch(page.page_id)]
        return mine[-1] if mine else None

    def mint(self, like: str = "main") -> str:
        """Reserve a free name for a page, and return it."""
        stem = like.split("~", maxsplit=1)[0][:_STEM]
        if self._taken(stem):
            return self._like(stem)
        self._minted.add(stem)
        return stem

    def _like(self, stem: str) -> str:
        page_id = stem
        while page_id == stem or self._taken(page_id):
            page_id = f"{stem}-" + "".join(secrets.choice(_ALPHABET) for _ in range(4))
        self._minted.add(page_id)
        return page_id

    def _taken(self, page_id: str) -> bool:
        return page_id in self._pages or page_id in self._minted or page_id in self.sessions

    def claim(self, page_id: str, session_id: str = "") -> str:
        """Reserve a page's former name if it is free or its own session's, else one like it; return it."""
        taken = page_id in self.sessions and page_id != session_id
        if page_id in self._pages or page_id in self._minted or taken:
            return self.mint(page_id)
        self._minted.add(page_id)
        return page_id

    def unmint(self, address: Address) -> None:
        """Free the name that was reserved for a call that made no page."""
        self._minted.discard(address.page_id or "")


def with_new_revision(page: PageState) -> PageState:
    """Return a page from the journal at a revision that it surely has not had before."""
    return page.model_copy(update={"revision": _step(page.revision) + _STEP})


def _durable(page: PageState) -> tuple[object, ...]:
    """Return what is written down when it changes. Revisions count in steps, because every act has one."""
    place = (page.session_id, page.url, page.title, page.opener_id, page.of_person, page.target_id, page.parked)
    owner = (page.holder_id, page.holder_label, page.holder_agent, page.left_by, page.left_by_id)
    asked = page.person.request_id if page.person else None
    return *place, *owner, page.access, page.hold_reason, asked, _step(page.revision)


def _step(revision: int) -> int:
    return revision - revision % _STEP
