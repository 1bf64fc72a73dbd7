"""Decides which calls are recorded, and which clients may see the record of one."""

from collections.abc import Callable

from browser_service.sessions.records import Sessions
from browser_service.store.activity import Row
from shared.actions.base import Action
from shared.actions.traits import Effect, Scope
from shared.calls import Outcome
from shared.pages import PageState

MayKnow = Callable[[str | None, str], bool]
"""Tells whether a client may know where a page is, by the page's present state."""


def may_see(row: Row, client_id: str, may_know: MayKnow) -> bool:
    """Tell whether a client may see a row: everybody's actions on what is shared, as they may have logged it out; what
    happened in private only if it is the owner's or its own."""
    if client_id in {row.private_to, row.client_id}:
        return True
    return row.private_to is None and may_know(row.page_id, client_id)


def private_to(page: PageState | None, session_id: str | None, client_id: str, sessions: Sessions) -> str | None:
    """Return the client whose alone a call is, as page and session were shared when it ended; None if all may see
    it."""
    if page is not None and page.access == "private":
        return page.holder_id or client_id
    if session_id is None:
        return None
    if session_id not in sessions:
        return client_id
    owner = sessions.private_to(session_id)
    return owner.client_id if owner is not None else None


def is_recorded(action: Action, outcome: Outcome) -> bool:
    """Tell whether a call is recorded. Calls that successfully read a page, or only asked the service, are not, because
    they would crowd out those that changed something. Reading a whole session is, because that reads its logins."""
    if action.effect is not Effect.READS or action.scope is Scope.SESSION:
        return True
    return outcome.error is not None and action.scope is Scope.PAGE
