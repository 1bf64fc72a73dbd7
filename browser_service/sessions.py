"""The sessions as the front half knows them: whose each is, and who may use it."""

import difflib
from dataclasses import dataclass

from shared.actions.seven import BrowserLaunch
from shared.calls import Json, Person
from shared.errors import BrowserLaunchFailed, Forbidden, SessionNotFound
from shared.wire import DEFAULT_SESSION


@dataclass(frozen=True)
class Browser:
    """What kind of browser has a session."""

    engine: str = "chromium"
    headless: bool = True
    viewport: tuple[int, int] = (1280, 720)

    def __str__(self) -> str:
        return f"{self.engine}, headless: {str(self.headless).lower()}"

    def check(self, asked: BrowserLaunch) -> None:
        """Raise BrowserLaunchFailed where another kind of browser is asked for."""
        given = asked.model_fields_set
        wanted = Browser(
            asked.browser_type if "browser_type" in given else self.engine,
            asked.headless if "headless" in given else self.headless,
            (asked.viewport.width, asked.viewport.height) if asked.viewport else self.viewport,
        )
        if wanted != self:
            width, height = self.viewport
            raise BrowserLaunchFailed(
                f"The shared browser is another one ({self}, {width}x{height}).",
                hint="Leave browserType, headless and viewport out, and you have a page in it.",
            )


@dataclass
class SessionRecord:
    session_id: str
    owner: Person | None = None
    """Nobody owns the shared login."""
    shared: bool = True


class Sessions:
    def __init__(self) -> None:
        self._records: dict[str, SessionRecord] = {}
        self.shared_browser = Browser()

    def add(self, record: SessionRecord) -> None:
        self._records[record.session_id] = record

    def drop(self, session_id: str) -> None:
        self._records.pop(session_id, None)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._records

    def names(self) -> list[str]:
        return sorted(self._records)

    def may_use(self, session_id: str, client_id: str) -> bool:
        record = self._records.get(session_id)
        return record is None or record.shared or record.owner is None or record.owner.client_id == client_id

    def private_to(self, session_id: str) -> str | None:
        """The owner's id, where nobody else may use it."""
        record = self._get(session_id)
        return record.owner.client_id if record.owner and not record.shared else None

    def check_use(self, session_id: str, client_id: str) -> None:
        """Raise Forbidden for another's session that is not shared, and SessionNotFound for none."""
        record = self._get(session_id)
        if not self.may_use(session_id, client_id):
            raise Forbidden(
                f'Session "{session_id}" belongs to "{_label(record)}", who has not shared it.',
                hint='The shared login is "default"; create_session {} makes one of your own.',
                details={"sessionId": session_id},
            )

    def owned(self, session_id: str, client_id: str) -> SessionRecord:
        """The record of a session that is the client's own. Raises Forbidden, SessionNotFound."""
        record = self._get(session_id)
        if record.owner is None:
            raise Forbidden(
                f'Session "{session_id}" is the shared login: it belongs to all, and nobody shares or closes it.',
                hint="create_session {} makes one of your own.",
                details={"sessionId": session_id},
            )
        if record.owner.client_id != client_id:
            raise Forbidden(f'Session "{session_id}" belongs to "{_label(record)}".', details={"sessionId": session_id})
        return record

    def shown(self, client_id: str) -> list[Json]:
        return [
            {
                "sessionId": record.session_id,
                "owner": {"label": _label(record), "you": record.owner.client_id == client_id}
                if record.owner
                else None,
                "shared": record.shared,
                "usable": self.may_use(record.session_id, client_id),
            }
            for record in self._records.values()
        ]

    def not_found(self, session_id: str) -> SessionNotFound:
        near = difflib.get_close_matches(session_id, list(self._records), n=1, cutoff=0.5)
        return SessionNotFound(
            f"There is no session {session_id!r}.",
            hint=f'Did you mean "{near[0]}"?'
            if near
            else f'Leave sessionId out for the shared login, "{DEFAULT_SESSION}".',
            details={"sessionId": session_id},
        )

    def _get(self, session_id: str) -> SessionRecord:
        record = self._records.get(session_id)
        if record is None:
            raise self.not_found(session_id)
        return record


def _label(record: SessionRecord) -> str:
    return (record.owner.label if record.owner else "") or "another client"
