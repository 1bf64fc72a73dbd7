"""Remembers closed pages of private sessions, so that calls that use such a name are not silently given the shared
login."""

import time
from typing import Final

from browser_service.rules.bounded import Bounded
from browser_service.store.closed_page import MOST_CLOSED_PAGES, ClosedPage
from shared.wire import DEFAULT_SESSION

_KEPT_S: Final = 7 * 86_400.0
_UNDONE_S: Final = 600.0


class ClosedPages:
    """The latest closed pages, kept for a week."""

    def __init__(self) -> None:
        self._pages = Bounded[str, ClosedPage](MOST_CLOSED_PAGES)
        self._started_at = time.time()

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

    def can_be_undone(self, closed: ClosedPage) -> bool:
        """Return whether `undo` can reopen the page: it can for 10 minutes, and not across a restart."""
        return not closed.by_restart and closed.closed_at > max(self._started_at, time.time() - _UNDONE_S)

    def known_to(self, page_id: str, client_id: str, label: str) -> ClosedPage | None:
        """Return the closed page if the client may know of it. Chats with the same label count as the same client."""
        closed = self.get(page_id)
        if closed is None or (closed.known_to and not {client_id, label} & {*closed.known_to}):
            return None
        return closed
