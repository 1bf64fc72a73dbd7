"""Finds the page or session that a call means, or the error that says why there is none."""

from collections.abc import Callable
from operator import eq
from typing import NamedTuple

from browse_together.contract.actions.base import Action, PageAction
from browse_together.contract.actions.traits import Scope, Unaddressed
from browse_together.contract.attached import STAND_IN
from browse_together.contract.catalogue import ACTIONS, called
from browse_together.contract.errors import (
    BrowseError,
    InvalidRequest,
    NoBrowser,
    PageNotFound,
    PageRequired,
    SessionExpired,
    SessionNotFound,
    ValidationFailed,
    field_details,
)
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import ASK_FOR_TAB, PageState
from browse_together.contract.similarity import nearest
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.rules.leases import private_error
from browser_service.security.auth import Identity
from browser_service.sessions.directory import LAUNCHED, Directory
from browser_service.store.journal import ClosedPage

_MOST_URL_CHARACTERS = 300
_MOST_NAMES = 5


_ON_PAGE = frozenset(
    kind
    for kind in ACTIONS.values()
    if kind.scope is Scope.PAGE
    and kind.id_fields == PageAction.id_fields
    and kind.unaddressed is not Unaddressed.ANOTHER_PAGE
    and not (kind.part_fields or kind.asks_person)
)
"""The actions that touch the page with their pageId and nothing else, if they name no session."""


class Address(NamedTuple):
    """Where a call goes. An action on the whole service has neither page nor session."""

    page_id: str | None = None
    session_id: str | None = None
    is_new: bool = False
    """Whether the call may open the page, because no page has that name yet."""


class Addressing:
    """The finding of pages and sessions in the directory, without changing it."""

    def __init__(self, directory: Directory, alike: Callable[[str, str], bool] = eq) -> None:
        """`alike` tells whether the clients with two ids call themselves the same."""
        self._directory, self._alike = directory, alike
        self._sessions = directory.sessions

    def address(self, action: Action, client: Identity) -> Address:
        """Return the page or session of a call, if the client may use it.

        Raises PageRequired, PageNotFound, PageOwned, SessionNotFound, ValidationFailed, Forbidden.
        """
        named = action.addressed
        page = self._directory.get(named.page)
        if page is not None and page.holder_id == client.client_id and not named.session and type(action) in _ON_PAGE:
            address = _of(page)  # the caller's own, and nothing else is touched
        else:
            self.check_touched(action, client)
            session_id = named.session if action.scope is Scope.SESSION else None
            address = self._page_address(action, client) if action.scope is Scope.PAGE else Address(None, session_id)
        if address.session_id is not None:
            self._sessions.check_use(address.session_id, client.client_id, by_person=client.operator)
        return address

    def check_touched(self, action: Action, client: Identity) -> None:
        """Raise PageOwned if a call names another client's private page, and SessionNotFound or Forbidden if the client
        may not use the sessions of what it names."""
        touched, client_id = action.touches(), client.client_id
        for name in touched.pages | {each for each in touched.sessions if each not in self._sessions}:
            page = self._directory.get(name)
            if page is not None and page.private_from(client_id) and not client.operator:
                raise private_error(name, action.requested_url if action.navigates else None)
        session_ids = {page.session_id for page_id in touched.pages if (page := self._directory.get(page_id))}
        session_ids |= {name for name in touched.sessions if self._directory.get(name) is None}
        for session_id in session_ids:
            self._sessions.check_use(session_id, client_id, by_person=client.operator)

    def placed(self, client: Identity, body: Json) -> Json:
        """Return the body with the session of its client's chat, where it names neither another nor a page that is
        there. What makes a session, or tells of all of them, stays as it is."""
        action, page_id = called(body), body.get("pageId")
        field = action.model_fields.get("session_id")
        is_of_all = action.scope is Scope.SERVICE and field is not None and not field.is_required()
        if "sessionId" in body or field is None or is_of_all or action.unaddressed is Unaddressed.OWN_PAGE:
            return body
        if page_id is not None:
            closed = self._directory.closed.get(str(page_id))
            is_elsewhere = closed is not None and closed.session_id != client.session
            if is_elsewhere or not action.unaddressed.opens or self._directory.get(str(page_id)) is not None:
                return body
        return {**body, "sessionId": client.session}

    def for_whole_session(self, action: Action) -> Action:
        """Return an action's form for a whole session, if it names a session but no page, and has such a form. One that
        is on a session, and names none, is on the usual one."""
        if action.scope is Scope.SESSION and "session_id" not in action.model_fields_set:
            return action.model_copy(update={"session_id": self._sessions.usual})
        if action.scope is not Scope.PAGE or action.addressed.page is not None or action.addressed.session is None:
            return action
        return (action.for_session() or action) if action.addressed.session in self._sessions else action

    def _page_address(self, action: Action, client: Identity) -> Address:
        session_id = action.addressed.session
        if action.asks_person and action.unaddressed.opens:
            return self._awaited(action, client)
        main_page = self._directory.get(session_id)
        if session_id is not None and session_id not in self._sessions and main_page is None:
            raise self._sessions.not_found(session_id)
        if action.addressed.page is not None:
            return self._named(action, action.addressed.page, client)
        if main_page is not None:
            return _of(main_page)
        if action.unaddressed.opens:
            return self._new(action)
        if action.needs_no_page:
            return Address(None, session_id or self._sessions.usual)
        is_launched = action.unaddressed is Unaddressed.OWN_PAGE
        return self._launched(action, client) if is_launched else self._only(action, client)

    def _awaited(self, action: Action, client: Identity) -> Address:
        """Return the address of the page that a person's tab becomes if they share one: one that the client asks for
        already, or a new one."""
        session_id = action.addressed.session or self._sessions.persons
        if session_id is None or not self._sessions.is_attached(session_id):
            raise InvalidRequest(
                "No browser of the person's own is attached to, so they have no tab to share.",
                hint="They attach it with `browse-together attach chrome`; ask them for that in your chat.",
                details=field_details("sessionId" if action.addressed.session else "kind"),
            )
        name, own = action.addressed.page, self._directory.belonging_to(client.client_id)
        asked = (page for page in own if page.person is not None and page.person.kind == "tab")
        page = next(asked, None) if name is None else self._directory.get(name)
        page = page or self._directory.given(client.client_id, name or "")
        name = name or self._directory.new_name(session_id, STAND_IN)
        return Address(name, session_id, is_new=True) if page is None else _of(page)

    def _named(self, action: Action, page_id: str, client: Identity) -> Address:
        page = self._directory.get(page_id) or self._directory.given(client.client_id, page_id)
        if page is None:
            return self._absent(action, page_id, client)
        if action.unaddressed is Unaddressed.ANOTHER_PAGE and page.holder_id == client.client_id:
            # opening never means an open page, where another agent of this client may be at work
            return Address(self._directory.free_name(page_id), action.addressed.session or page.session_id, is_new=True)
        if action.addressed.session not in {None, page.session_id, page.page_id}:
            raise ValidationFailed(
                f"pageId {page_id!r} is a page of session {page.session_id!r}, not of {action.addressed.session!r}.",
                hint="Leave sessionId out.",
                details=field_details("sessionId"),
            )
        return _of(page)

    def _absent(self, action: Action, page_id: str, client: Identity) -> Address:
        """Return the address of a new page with this name. If the call may not open one, raise the error that there is
        none."""
        closed = self._directory.closed.known_to(page_id, self._sameness(client))
        if closed is not None and action.addressed.session is None and closed.session_id != self._sessions.usual:
            raise self._closed_error(closed, action, client.client_id)
        if not action.unaddressed.opens or "~" in page_id:
            raise self._unknown_error(page_id, client)
        return Address(page_id, self._session_of_new(action, page_id), is_new=True)

    def _session_of_new(self, action: Action, page_id: str) -> str:
        """Return the session of a new page. Raises ValidationFailed if another session has the page's name."""
        if page_id == DEFAULT_SESSION or page_id not in self._sessions:
            return action.addressed.session or self._sessions.usual
        if action.addressed.session not in {None, page_id}:
            raise ValidationFailed(
                f"{page_id!r} is a session. Only its main page can have that name.",
                hint="Give the page another name, or leave sessionId out.",
                details=field_details("pageId"),
            )
        return page_id

    def _new(self, action: Action) -> Address:
        """Return the address of a new page. A session's main page has the session's name."""
        session_id = action.addressed.session or self._sessions.usual
        if action.unaddressed is Unaddressed.NEW_PAGE and not self._sessions.is_everybodys(session_id):
            return Address(session_id, session_id, is_new=True)
        return Address(self._directory.new_name(session_id), session_id, is_new=True)

    def _launched(self, action: Action, client: Identity) -> Address:
        page = self._directory.launched(client.client_id)
        if page is None and action.launches:
            session_id = action.addressed.session or client.limits.session or self._sessions.usual
            return Address(self._directory.new_name(session_id, LAUNCHED), session_id, is_new=True)
        if page is None or action.addressed.session not in {None, page.session_id}:
            raise NoBrowser("No browser instance found. Call browser_launch first.")
        return _of(page)

    def _only(self, action: Action, client: Identity) -> Address:
        pages = [
            page
            for page in self._directory.belonging_to(client.client_id)
            if action.addressed.session in {None, page.session_id}
            and (action.addressed.agent or None) in {None, page.holder_agent}
        ]
        if len(pages) == 1:
            return _of(pages[0])
        if not pages:
            raise PageRequired(
                f"{action.name()} needs a page, and you have none open.",
                hint=f"Open one first: {next_call('goto', url='https://...')}; or name one with pageId: "
                f"{next_call('list_pages')}." + self._left_pages_hint(client),
            )
        names = [page.page_id for page in pages]
        raise PageRequired(
            f"{action.name()} needs a pageId: you have {len(pages)} pages open.",
            hint=f"Repeat it with the pageId of one of: {', '.join(names)}.",
            details={"context": {"pages": [*names]}},
        )

    def _sameness(self, client: Identity) -> Callable[[str], bool]:
        """Return what tells whether an id or label is a client's, or an earlier chat's that called itself the same:
        a new chat has a new identity."""
        return lambda each: bool(each) and (each == client.label or self._alike(client.client_id, each))

    def _left_pages_hint(self, client: Identity) -> str:
        """Return a hint about the pages that an earlier chat left."""
        left = self._directory.left_by(self._sameness(client))
        if not left:
            return ""
        names = ", ".join(page.page_id for page in left[:_MOST_NAMES])
        return f' An earlier "{left[0].left_by}" left {names}: act on one by its pageId to go on with it.'

    def _closed_error(self, closed: ClosedPage, action: Action, client_id: str) -> BrowseError:
        """Return the error that says why a closed page of a private or ended session is not opened in the shared
        login."""
        page_id, session_id, url = closed.page_id, closed.session_id, action.requested_url
        url = url if url and len(url) <= _MOST_URL_CHARACTERS else "..."
        same_session, shared = (
            next_call("goto", page_id=page_id, session_id=each, url=url) for each in (session_id, DEFAULT_SESSION)
        )
        elsewhere = f"In the shared login, with the user's own logins: {shared}; or take another name."
        details: Json = {"context": {"pageId": page_id, "sessionId": session_id}}
        if closed.of_person and self._sessions.is_attached(session_id):
            problem = (
                f"{page_id!r} is no tab of the person's any more: they took it back, closed it, or did not share it."
            )
            return PageNotFound(problem, hint=ASK_FOR_TAB, details=details)
        if session_id in self._sessions:
            may_use = self._sessions.may_use(session_id, client_id)
            reopening = f"Open it there again: {same_session}. " if may_use else ""
            problem = f'Page {page_id!r} is closed; it was of session "{session_id}".'
            return PageNotFound(problem, hint=reopening + elsewhere, details=details)
        ended = self._sessions.not_found(session_id)
        if isinstance(ended, SessionExpired):
            hint = f"{ended.advice} {elsewhere}"
            return SessionExpired(f"Page {page_id!r} is closed. {ended.message}", hint=hint, details=details)
        creation = next_call("create_session", session_id=session_id)
        end = "ended with the service, which was restarted" if closed.by_restart else "is closed"
        return SessionNotFound(
            f'Page {page_id!r} was of session "{session_id}", which {end}.',
            hint=f"A session anew, which is logged in nowhere: {creation}, then {same_session}. {elsewhere}",
            details=details,
        )

    def _unknown_error(self, page_id: str, client: Identity) -> PageNotFound:
        """Return the error for an unknown page, with the nearest name that the client may know."""
        root, names = page_id.partition("~")[0], self._directory.known_to(client.client_id, client.limits.session)
        similar = next(iter(nearest(page_id, names)), None)
        hint = f'Did you mean "{similar}"? ' if similar and similar != root else ""
        if root != page_id and root in names:
            opening = f'A popup of "{root}" had that name; "{root}" is open: {next_call("snapshot", page_id=root)}. '
            listing = f"See what else is: {next_call('list_pages')}."
        else:
            opening = f"Open it with {next_call('goto', page_id=root, url='...')}, "
            listing = f"or see what is open: {next_call('list_pages')}."
        return PageNotFound(
            f"There is no page {page_id!r}.",
            hint=f"{hint}{opening}{listing}",
            details={"context": {"pageId": page_id, "nearest": similar}},
        )


def _of(page: PageState) -> Address:
    return Address(page.page_id, page.session_id)
