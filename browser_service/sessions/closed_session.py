"""Everything that undo needs to reopen a closed session."""

import time
from collections.abc import Callable

from pydantic import Field

from browser_service.sessions.records import SessionRecord
from shared.model import Json, Model
from shared.pages import SessionSpec


class ClosedSession(Model):
    """A closed session's record, its spec with logins and pages, and its saved states."""

    record: SessionRecord
    spec: SessionSpec
    saved: dict[str, Json] = Field(default={}, repr=False)

    def renamed(self, free_name: Callable[[str], str]) -> "ClosedSession":
        """Return the session as it will be reopened. `free_name` replaces names that are taken by now."""
        old_id = self.record.session_id
        session_id = free_name(old_id)
        old_ids = [page.page_id for page in self.spec.pages]
        names = {page_id: session_id if page_id == old_id else free_name(page_id) for page_id in old_ids}
        pages = [
            page.model_copy(
                update={"page_id": names[page.page_id], "session_id": session_id, "revision": page.revision + 1}
            )
            for page in self.spec.pages
        ]
        former = {names[page_id]: state for page_id, state in self.spec.former.items()}
        record = self.record.model_copy(update={"session_id": session_id, "accessed_at": time.time()})
        spec = self.spec.model_copy(update={"session_id": session_id, "pages": pages, "former": former})
        return ClosedSession(record=record, spec=spec, saved=self.saved)

    def reopened_as(self, opened: "ClosedSession") -> str:
        """Word the report that this session is open again, and which of its names have changed."""
        old_id, pages = self.record.session_id, [page.page_id for page in opened.spec.pages]
        names = {old.page_id: new for old, new in zip(self.spec.pages, pages, strict=True)}
        names[old_id] = opened.record.session_id
        renamed = "".join(
            f"; {old} is another's name now, so this is {new}" for old, new in names.items() if old != new
        )
        listed = f"{', '.join(pages) or 'none'}{renamed}"
        return f"session {old_id} is open again, with its logins; its pages load when they are used: {listed}"
