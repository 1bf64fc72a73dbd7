"""Decides which calls are recorded, and which clients may see the record of one."""

from collections.abc import Callable
from typing import Protocol

from browser_service.store.activity import Row
from shared.actions.base import Action
from shared.actions.traits import Effect, Scope
from shared.calls import Outcome
from shared.pages import PageState

MayKnow = Callable[[str | None, str], bool]
"""Returns whether a client may know where a page is, by the page's present state."""


class PageDirectory(Protocol):
    """Knows the pages, and who may know of each."""

    def get(self, page_id: str) -> PageState | None: ...

    def may_know(self, page_id: str | None, client_id: str) -> bool: ...

    def private_to(self, page: PageState | None, session_id: str | None, client_id: str) -> str | None:
        """Return the one client that may see a call of `client_id`, by the page and session that it used; None if all
        may."""


def may_see(row: Row, client_id: str, may_know: MayKnow) -> bool:
    """Return whether a client may see a row: everybody's actions on what is shared, as they may have logged it out;
    what happened in private only if it is the owner's or its own."""
    if client_id in {row.private_to, row.client_id}:
        return True
    return row.private_to is None and may_know(row.page_id, client_id)


def is_recorded(action: Action, outcome: Outcome) -> bool:
    """Return whether a call is recorded. Calls that successfully read a page, or only asked the service, are not,
    because they would crowd out those that changed something. Reading a whole session is, because that reads its
    logins."""
    if action.effect is not Effect.READS or action.scope is Scope.SESSION:
        return True
    return outcome.error is not None and action.scope is Scope.PAGE
