"""Keeps what hosts elsewhere told of their sessions, so that these go on when their host is lost."""

from typing import Final

from pydantic import JsonValue

from browser_service.rules.bounded import Bounded
from browser_service.security.seal import Seal
from shared.events import SessionTold, StateSaved
from shared.model import Json
from shared.pages import SessionSpec

_MOST: Final = 20_000
_MOST_BYTES: Final = 64_000_000
_STATE: Final = ""
_SETTINGS: Final = "/"
"""Neither can be the name of a page."""


class ToldSessions:
    """The latest that was told, sealed and in memory alone: logins of sessions that the journal does not keep, settings
    of sessions, and what brings their pages back."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._kept = Bounded[tuple[str, str], bytes](_MOST, weigh=len, most_weight=_MOST_BYTES)

    def note_state(self, saved: StateSaved) -> None:
        self._keep(saved.session_id, _STATE, saved.state)

    def note(self, told: SessionTold) -> None:
        settings = told.model_dump(mode="json", include={"headers", "init_scripts", "permissions"})
        self._keep(told.session_id, _SETTINGS, settings)
        for page_id, former in told.former.items():
            self._keep(told.session_id, page_id, former)

    def page_closed(self, session_id: str, page_id: str) -> None:
        self._kept.pop((session_id, page_id), None)

    def session_closed(self, session_id: str) -> None:
        for key in [key for key in self._kept if key[0] == session_id]:
            del self._kept[key]

    def onto(self, spec: SessionSpec) -> SessionSpec:
        """Return the spec with all that was told of the session and its pages."""
        known: Json = {}
        if (state := self._known(spec.session_id, _STATE)) is not None:
            known["state"] = state
        former = {page.page_id: self._known(spec.session_id, page.page_id) for page in spec.pages}
        known["former"] = {page_id: each for page_id, each in former.items() if each is not None}
        return spec.model_copy(update={**known, **(self._known(spec.session_id, _SETTINGS) or {})})

    def _keep(self, session_id: str, name: str, value: JsonValue) -> None:
        self._kept[session_id, name] = self._seal.close(value)

    def _known(self, session_id: str, name: str) -> Json | None:
        sealed = self._kept.get((session_id, name))
        value = self._seal.open(sealed) if sealed is not None else None
        return value if isinstance(value, dict) else None
