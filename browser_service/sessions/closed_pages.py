"""Remembers closed pages of sessions that had an owner, so that none of their names comes back in the shared login
unasked."""

import time
from typing import Final

from pydantic import Field

from browser_service.rules.bounded import Bounded
from shared.model import Model
from shared.pages import PageState
from shared.wire import DEFAULT_SESSION

KEPT: Final = 1_000
_KEPT_S: Final = 7 * 86_400.0
_UNDONE_S: Final = 600.0


class ClosedPage(Model):
    """Records a closed page and the session that it was of."""

    page_id: str
    session_id: str
    known_to: list[str] = Field(description="Ids and labels of the clients that may think of it; none: all may.")
    closed_at: float = Field(default_factory=time.time)
    by_restart: bool = Field(default=False, description="Its session was not persistent, and ended with the service.")

    @classmethod
    def of(cls, page: PageState, *owner: str) -> "ClosedPage":
        """Make the record of a page. `owner` is the id and the label of its session's owner; empty if all could use the
        session."""
        holders = {page.holder_id or "", page.holder_label, page.left_by_id or "", page.left_by}
        known_to = sorted({*owner, *holders} - {""}) if owner else []
        return cls(page_id=page.page_id, session_id=page.session_id, known_to=known_to)


class ClosedPages:
    """Holds the latest closed pages for a week."""

    def __init__(self) -> None:
        self._pages = Bounded[str, ClosedPage](KEPT)
        self._started_at = time.time()

    def add(self, closed: ClosedPage) -> None:
        if closed.session_id != DEFAULT_SESSION:
            self._pages[closed.page_id] = closed

    def reopened(self, page_id: str) -> None:
        """Forget a name, which is another page's from now on."""
        self._pages.pop(page_id, None)

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, page_id: str) -> ClosedPage | None:
        """Return the closed page of that name; None after a week."""
        closed = self._pages.get(page_id)
        if closed is not None and time.time() - closed.closed_at > _KEPT_S:
            self.reopened(page_id)
            return None
        return closed

    def can_be_undone(self, closed: ClosedPage) -> bool:
        """Tell whether `undo` may bring the page back: it remembers 10 minutes, and nothing from before this start."""
        return not closed.by_restart and closed.closed_at > max(self._started_at, time.time() - _UNDONE_S)

    def known_to(self, page_id: str, client_id: str, label: str) -> ClosedPage | None:
        """Return the closed page if the client may know of it. A chat of the same label counts as the same client."""
        closed = self.get(page_id)
        known = closed is not None and (not closed.known_to or client_id in closed.known_to or label in closed.known_to)
        return closed if known else None
