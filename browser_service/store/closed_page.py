"""The record of a closed page, which the journal stores."""

import time
from typing import Final

from pydantic import Field

from shared.model import Model
from shared.pages import PageState

MOST_CLOSED_PAGES: Final = 1_000


class ClosedPage(Model):
    """A closed page and the session it belonged to."""

    page_id: str
    session_id: str
    known_to: list[str] = Field(description="Ids and labels of the clients that may think of it; none: all may.")
    closed_at: float = Field(default_factory=time.time)
    by_restart: bool = Field(default=False, description="Its session was not persistent, and ended with the service.")

    @classmethod
    def of(cls, page: PageState, *owner: str) -> "ClosedPage":
        """Make the record of a page. `owner` is the id and label of its session's owner; empty if everybody could use
        the session."""
        holders = {page.holder_id or "", page.holder_label, page.left_by_id or "", page.left_by}
        known_to = sorted({*owner, *holders} - {""}) if owner else []
        return cls(page_id=page.page_id, session_id=page.session_id, known_to=known_to)
