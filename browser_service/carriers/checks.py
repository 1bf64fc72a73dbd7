"""Checks every message of a host elsewhere, so that a hijacked host gains its own sessions and no more."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Protocol

import structlog
from pydantic import JsonValue

from browse_together.contract.calls import ASKING, Call, Outcome
from browse_together.contract.events import (
    CallEnded,
    CallMoved,
    DownloadMoved,
    HostEvent,
    LoginOver,
    NoticeGiven,
    PageChanged,
    PageClosed,
    PageOpened,
    PageRetired,
    RequestOver,
    SessionTold,
    StateSaved,
)
from browse_together.contract.frames import ActPicture
from browse_together.contract.model import weight
from browse_together.contract.pages import PageState, SessionSpec
from browse_together.contract.strokes import Strokes
from browse_together.contract.wire import is_page_id
from browser_service.host.seam import ParsedCall, action_of
from browser_service.rules.bounded import Bounded

_MOST_BYTES: Final = 64_000_000
"""The limit of all its pages' states together. A URL alone may have two million."""
_REMEMBERED: Final = 4_000
"""How many of a host's latest calls it may still say something about."""
_MOST_OF_EVENT: Final = 50_000
"""The most bytes of an event that is kept for a client, or for all, as it came."""
_MOST_OF_PICTURE: Final = 200_000
"""The most characters of a thumbnail; most have 20,000."""

log = structlog.get_logger(__name__)


class ToldPages:
    """Each page's session and size, until the host tells that the page is closed, or no longer has the session."""

    def __init__(self, most: int, has: Callable[[str], bool]) -> None:
        """`has` returns whether the host has a session now."""
        self._most, self._has = most, has
        self._pages: dict[str, tuple[str, int]] = {}
        self._bytes = 0

    def note(self, page: PageState) -> bool:
        """Count a page as it is now, and return whether the front takes it."""
        size = weight(page.model_dump(mode="json"))
        if not self._has_room(page.page_id, size):
            self._pages = {page_id: told for page_id, told in self._pages.items() if self._has(told[0])}
            self._bytes = sum(size for _, size in self._pages.values())
            if not self._has_room(page.page_id, size):
                return False
        self._bytes += size - self._size(page.page_id)
        self._pages[page.page_id] = page.session_id, size
        return True

    def closed(self, page_id: str, session_id: str) -> None:
        if page_id in self._pages and self._pages[page_id][0] == session_id:
            self._bytes -= self._pages.pop(page_id)[1]

    def _has_room(self, page_id: str, size: int) -> bool:
        others = len(self._pages) - (page_id in self._pages)
        return others < self._most and self._bytes - self._size(page_id) + size <= _MOST_BYTES

    def _size(self, page_id: str) -> int:
        return self._pages[page_id][1] if page_id in self._pages else 0


class Assignments(Protocol):
    """The sessions that the front has given to its hosts, by incarnation."""

    def assigned(self, incarnation: str, session_id: str) -> bool: ...

    def session_of(self, page_id: str) -> str | None:
        """Return the session of a page, wherever it is; None for one that is not known yet."""

    def has_page(self, incarnation: str, client_id: str) -> bool: ...


class _Ran(NamedTuple):
    """What a host may say about a call that ran there."""

    client_id: str
    takes_logins: bool


class Checks:
    """What one host may say, and what of it was dropped."""

    def __init__(
        self, assignments: Assignments, incarnation: str, *, most_pages: int, adopted: Iterable[str] = ()
    ) -> None:
        """`most_pages` limits how many pages it may tell of. `adopted` are the sessions that it had before the front
        started: names and holders in them may be from calls of the front before."""
        self._front, self._incarnation = assignments, incarnation
        self._adopted = frozenset(adopted)
        self._pages = ToldPages(most_pages, self.allows_session)
        self._running: dict[str, Call] = {}
        self._hands: list[Strokes] = []
        self._ran = Bounded[str, _Ran](_REMEMBERED)
        self._clients = Bounded[str, str](_REMEMBERED)
        """The labels of the clients of the latest calls, and of those that got pages by them."""
        self._named = Bounded[str, None](_REMEMBERED)
        """The pages of the latest calls, without the endings of popups."""
        self._saved = Bounded[tuple[str, str], None](_REMEMBERED)
        """The clients of the latest calls that saved logins, and the names that these gave."""
        self.dropped = Counter[str]()
        """Counts what was not allowed, by its kind."""

    @property
    def running(self) -> list[str]:
        return [*self._running]

    @contextmanager
    def during(self, call: Call) -> Iterator[None]:
        """Allow what a call may cause while it runs there."""
        self._running[call.call_id] = call
        self._ran[call.call_id] = _Ran(call.client_id, call.copied_sites is not None or _takes_logins(call))
        self._clients.update(
            {client.client_id: client.label for client in (call.client, call.recipient) if client is not None}
        )
        if call.page_id is not None:
            self._named[_root(call.page_id)] = None
        action = call.action if isinstance(call, ParsedCall) else None
        if action is not None and action.stored_logins is not None:
            self._saved[call.client_id, action.stored_logins.name] = None
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
        """Return whether a page is the host's own and there is room for it, and count it then."""
        if not self._is_page(page.page_id, page.session_id):
            return False
        is_plausible = page.session_id in self._adopted or (self._may_name(page) and self._may_be_of(page))
        return is_page_id(page.page_id) and is_plausible and self._pages.note(page)

    def allows_outcome(self, call: Call, outcome: Outcome) -> bool:
        return outcome.call_id == call.call_id and self._is_own(outcome)

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
                allowed = event.newcomer is None or self.knows(event.newcomer.client_id)
                allowed = allowed and self.allows_page(event.page)
            case PageClosed():
                allowed = self._is_page(event.page_id, event.session_id)
                self._pages.closed(event.page_id, event.session_id)
            case CallMoved():
                allowed = self._is_call(event.call_id.partition(ASKING)[0], event.client_id) and _is_small(event)
            case CallEnded():
                allowed = self._is_call(event.outcome.call_id, event.client_id) and self._is_own(event.outcome)
            case StateSaved() | LoginOver():
                is_asked = (
                    isinstance(event, LoginOver) or not event.name or (event.client_id, event.name) in self._saved
                )
                allowed = self.allows_session(event.session_id) and is_asked
            case SessionTold():
                allowed = all(self._is_page(page_id, event.session_id) for page_id in event.former)
                allowed = allowed and self.allows_session(event.session_id)
            case NoticeGiven() | RequestOver():
                allowed = self.knows(event.client_id or "") and _is_small(event)
            case DownloadMoved():
                allowed = self.knows(event.download.client_id) and _is_small(event)
        return allowed

    def allows_picture(self, client_id: str, call_id: str, picture: ActPicture) -> bool:
        is_small = len(picture.data or "") <= _MOST_OF_PICTURE
        return is_small and self._is_call(f"{client_id}/{call_id}", client_id)

    def _is_page(self, page_id: str, session_id: str) -> bool:
        """Return whether a page is of a session that the host has, and of none elsewhere."""
        return self.allows_session(session_id) and self._front.session_of(page_id) in {None, session_id}

    def _may_name(self, page: PageState) -> bool:
        """Return whether a page is known, or has a name that a call there gave it, or one of a popup in its session."""
        root = _root(page.page_id)
        known = {self._front.session_of(page.page_id), self._front.session_of(root), root}
        return page.session_id in known or root in self._named

    def _may_be_of(self, page: PageState) -> bool:
        """Return whether a page's clients have pages there, or called there lately."""
        clients = (page.holder_id or page.left_by_id, page.asker_id)
        return all(self.knows(client_id) for client_id in clients if client_id is not None)

    def _is_own(self, outcome: Outcome) -> bool:
        """Return whether an outcome concerns the host's own page, and has logins only if its call takes some."""
        ran = self._ran.get(outcome.call_id)
        is_its = ran is not None and (ran.takes_logins or not outcome.taken_logins)
        return is_its and (outcome.page is None or self.allows_page(outcome.page))  # last, because it counts the page

    def _is_call(self, call_id: str, client_id: str) -> bool:
        return call_id in self._ran and self._ran[call_id].client_id == client_id

    # --- files -----------------------------------------------------------------------------------------------------

    def knows(self, client_id: str) -> bool:
        """Return whether a client has a page there, or a call, now or lately: a download or video ends later than the
        call that began it, and its page may be another's by then."""
        return client_id in self._clients or self._front.has_page(self._incarnation, client_id)

    def label_of(self, client_id: str) -> str:
        """Return the label with which a client called there lately; "" if it did not."""
        return self._clients.get(client_id, "")

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


def _takes_logins(call: Call) -> bool:
    return any(part.ends_logins for part in action_of(call).every_part())


def _root(page_id: str) -> str:
    """Return the name of the page that a popup descends from, or of the page itself."""
    return page_id.partition("~")[0]


def _is_small(event: HostEvent) -> bool:
    return weight(event.model_dump(mode="json")) <= _MOST_OF_EVENT
