"""Checks what a host elsewhere tells and asks: whoever takes it over gains what is opened on it, and no more."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import structlog
from pydantic import JsonValue

from browser_service.rules.bounded import Bounded
from shared.calls import ASKING, Call, Outcome
from shared.events import (
    CallEnded,
    CallMoved,
    DownloadMoved,
    HostEvent,
    NoticeGiven,
    PageChanged,
    PageClosed,
    PageOpened,
    PageRetired,
    SessionTold,
    StateSaved,
    Throttled,
)
from shared.pages import PageState, SessionSpec
from shared.strokes import Strokes

_REMEMBERED: Final = 4_000
"""How many of a host's latest calls it may still say something about."""

log = structlog.get_logger(__name__)


class Assignments(Protocol):
    """What the front has given to its hosts, each of which is named by its incarnation."""

    def assigned(self, incarnation: str, session_id: str) -> bool: ...

    def session_of(self, page_id: str) -> str | None:
        """Return the session of a page, wherever it is; None for one that is not known yet."""

    def has_page(self, incarnation: str, client_id: str) -> bool:
        """Return whether a client has a page on that host."""


class Checks:
    """What one host may say, and what of it was dropped."""

    def __init__(self, assignments: Assignments, incarnation: str) -> None:
        self._front, self._incarnation = assignments, incarnation
        self._running: dict[str, Call] = {}
        self._hands: list[Strokes] = []
        self._ran = Bounded[str, str](_REMEMBERED)
        self._clients = Bounded[str, None](_REMEMBERED)
        """Those of the latest calls."""
        self.dropped = Counter[str]()
        """Counts what was not allowed, by its kind."""

    @property
    def running(self) -> list[str]:
        return [*self._running]

    @contextmanager
    def during(self, call: Call) -> Iterator[None]:
        """Allow what a call may cause while it runs there."""
        self._running[call.call_id], self._ran[call.call_id] = call, call.client_id
        self._clients[call.client_id] = None
        try:
            yield
        finally:
            self._running.pop(call.call_id, None)

    @contextmanager
    def during_hand(self, strokes: Strokes) -> Iterator[None]:
        self._hands.append(strokes)
        try:
            yield
        finally:
            self._hands.remove(strokes)

    def drop(self, kind: str) -> None:
        if not self.dropped[kind]:
            log.warning("a host told or asked what is not its own", incarnation=self._incarnation, what=kind)
        self.dropped[kind] += 1

    # --- what a host says ------------------------------------------------------------------------------------------

    def allows_session(self, session_id: str) -> bool:
        return self._front.assigned(self._incarnation, session_id)

    def allows_page(self, page: PageState) -> bool:
        return self._is_page(page.page_id, page.session_id)

    def allows_outcome(self, call: Call, outcome: Outcome) -> bool:
        is_here = outcome.page is None or self.allows_page(outcome.page)
        sessions = {each.session_id for each in outcome.undo if each.session_id is not None}
        pages = {each.page_id: self._front.session_of(each.page_id) for each in outcome.undo if each.page_id}
        sessions |= {session_id for session_id in pages.values() if session_id is not None}
        return outcome.call_id == call.call_id and is_here and all(map(self.allows_session, sessions))

    def allows_spec(self, session_id: str, spec: SessionSpec) -> bool:
        """Return whether a spec may be that of a session that the host was asked to close."""
        return spec.session_id == session_id and all(
            page.session_id == session_id and self._front.session_of(page.page_id) in {None, session_id}
            for page in spec.pages
        )

    def allows_event(self, event: HostEvent) -> bool:
        match event:
            case PageOpened() | PageChanged():
                allowed = self.allows_page(event.page)
            case PageRetired():
                allowed = self.allows_page(event.page) and event.undo.session_id in {None, event.page.session_id}
            case PageClosed():
                allowed = self._is_page(event.page_id, event.session_id)
            case CallMoved():
                allowed = self._is_call(event.call_id.partition(ASKING)[0], event.client_id)
            case CallEnded():
                allowed = self._is_call(event.outcome.call_id, event.client_id)
            case StateSaved():
                allowed = self.allows_session(event.session_id) and (not event.name or self.knows(event.client_id))
            case SessionTold():
                allowed = all(self._is_page(page_id, event.session_id) for page_id in event.former)
                allowed = allowed and self.allows_session(event.session_id)
            case NoticeGiven() | Throttled():
                allowed = self.knows(event.client_id or "")
            case DownloadMoved():
                allowed = self.knows(event.download.client_id)
        return allowed

    def _is_page(self, page_id: str, session_id: str) -> bool:
        """Return whether a page is of a session that the host has, and of none elsewhere."""
        return self.allows_session(session_id) and self._front.session_of(page_id) in {None, session_id}

    def _is_call(self, call_id: str, client_id: str) -> bool:
        return self._ran.get(call_id) == client_id

    # --- files -----------------------------------------------------------------------------------------------------

    def knows(self, client_id: str) -> bool:
        """Return whether a client has a page there, or a call, now or lately: a download or video ends later than the
        call that began it, and its page may be another's by then."""
        return client_id in self._clients or self._front.has_page(self._incarnation, client_id)

    def ran(self, client_id: str, call_id: str) -> bool:
        """Return whether a client's call is among the latest there."""
        return self._is_call(f"{client_id}/{call_id}", client_id)

    def may_read(self, artifact_id: str, client_id: str | None) -> bool:
        """Return whether a call or a person's hand that runs there names a kept file, for this reader."""
        by_call = any(
            (client_id == call.client_id or (client_id is None and call.by_person)) and _names(call.body, artifact_id)
            for call in self._running.values()
        )
        handed = {file.artifact_id for strokes in self._hands for stroke in strokes.made for file in stroke.files}
        return by_call or (client_id is None and artifact_id in handed)

    def may_upload(self, name: str) -> bool:
        """Return whether a call that runs there names this file of the upload folders."""
        return any(_names(call.body, name) for call in self._running.values())


def _names(value: JsonValue, text: str) -> bool:
    """Return whether a text, or a cursor into the file of this id, is in a call's arguments."""
    if isinstance(value, str):
        return value == text or value.startswith(f"{text}:")
    if isinstance(value, list):
        return any(_names(each, text) for each in value)
    return isinstance(value, dict) and any(_names(each, text) for each in value.values())
