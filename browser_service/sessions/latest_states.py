"""Keeps the latest state of sessions in memory, so that these open again as they were.

Of the sessions on this machine it has logins alone: of those that end with the service, and of a closed one that is
opened again to restore them. Hosts elsewhere also report settings and pages, because they may be lost."""

from collections import Counter
from typing import Final

from pydantic import JsonValue

from browse_together.contract.events import SessionTold, StateSaved
from browse_together.contract.model import Json
from browse_together.contract.pages import SessionSpec
from browser_service.security.seal import Seal

_MOST_BYTES: Final = 64_000_000
_BYTES_BESIDE: Final = 500
"""What an entry takes beside its bytes."""
_STATE: Final = ""
_SETTINGS: Final = "/"
"""Neither can be the name of a page."""


class LatestStates:
    """The latest that hosts reported, sealed and in memory alone: logins of sessions that the journal does not keep,
    settings of sessions, and what brings their pages back. If it is too much, the session that takes most of it loses
    its largest part: so nothing that one host tells costs another's sessions theirs."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal
        self._kept: dict[str, dict[str, bytes]] = {}
        self._bytes = Counter[str]()
        self._all_bytes = 0

    def note_state(self, saved: StateSaved) -> None:
        self._keep(saved.session_id, _STATE, saved.state)

    def note(self, told: SessionTold) -> None:
        settings = told.model_dump(mode="json", include={"headers", "init_scripts", "permissions"})
        self._keep(told.session_id, _SETTINGS, settings)
        for page_id, former in told.former.items():
            self._keep(told.session_id, page_id, former)

    def page_closed(self, session_id: str, page_id: str) -> None:
        self._drop(session_id, page_id)

    def session_closed(self, session_id: str) -> None:
        for name in [*self._kept.get(session_id, ())]:
            self._drop(session_id, name)

    def onto(self, spec: SessionSpec) -> SessionSpec:
        known: Json = {}
        if (state := self._known(spec.session_id, _STATE)) is not None:
            known["state"] = state
        former = {page.page_id: self._known(spec.session_id, page.page_id) for page in spec.pages}
        known["former"] = {page_id: each for page_id, each in former.items() if each is not None}
        return spec.model_copy(update={**known, **(self._known(spec.session_id, _SETTINGS) or {})})

    def _keep(self, session_id: str, name: str, value: JsonValue) -> None:
        self._drop(session_id, name)
        sealed = self._kept.setdefault(session_id, {})[name] = self._seal.close(value)
        self._count(session_id, len(sealed) + _BYTES_BESIDE)
        while self._all_bytes > _MOST_BYTES:
            (heaviest, _), *_ = self._bytes.most_common(1)
            parts = self._kept[heaviest]
            self._drop(heaviest, max(parts, key=lambda part: len(parts[part])))

    def _drop(self, session_id: str, name: str) -> None:
        parts = self._kept.get(session_id, {})
        if (sealed := parts.pop(name, None)) is not None:
            self._count(session_id, -len(sealed) - _BYTES_BESIDE)
            if not parts:
                del self._kept[session_id], self._bytes[session_id]

    def _count(self, session_id: str, more: int) -> None:
        self._bytes[session_id] += more
        self._all_bytes += more

    def _known(self, session_id: str, name: str) -> Json | None:
        sealed = self._kept.get(session_id, {}).get(name)
        value = self._seal.open(sealed) if sealed is not None else None
        return value if isinstance(value, dict) else None
