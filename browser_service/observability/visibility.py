"""Decides which calls are recorded, and which clients may see a record."""

from collections.abc import Callable
from typing import Protocol

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect, Scope
from browse_together.contract.calls import Outcome
from browse_together.contract.pages import PageState
from browser_service.store.activity import Row

MayKnow = Callable[[str | None, str], bool]
"""Returns whether a client (second argument) may know the page's URL, by the page's present state."""


class PageDirectory(Protocol):
    """The pages, and who may know about each."""

    def get(self, page_id: str) -> PageState | None: ...

    def may_know(self, page_id: str | None, client_id: str) -> bool: ...

    def private_to(self, page: PageState | None, session_id: str | None, client_id: str) -> str | None:
        """Return the only other client that may see a call which `client_id` made on this page and session; None if all
        may."""


def may_see(row: Row, client_id: str, may_know: MayKnow) -> bool:
    """Return whether a client may see a row. Actions on shared pages are everybody's business, since they may have
    logged everybody out; private ones are seen only by the page's owner and the caller."""
    if client_id in {row.private_to, row.client_id}:
        return True
    return row.private_to is None and may_know(row.page_id, client_id)


def is_recorded(action: Action, outcome: Outcome) -> bool:
    """Return whether a call is recorded. Successful reads of a page and questions to the service are not: they would
    crowd out the calls that changed something. Reads of a whole session are, because they reveal its logins."""
    if action.effect is not Effect.READS or action.scope is Scope.SESSION:
        return True
    return outcome.error is not None and action.scope is Scope.PAGE
