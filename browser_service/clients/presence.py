"""Tracks which clients are present, and the notices that each has not read yet."""

import asyncio
import hashlib
import itertools
import time
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from browse_together.contract.calls import CallState, ClientRef, Notice
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.events import CallMoved, PageMoved
from browser_service.rules.bounded import Bounded

_MOST_NOTICES = 50
_MOST_LINES = 3
_QUEUED = 1_000
_KNOWN = 1_000
_MOST_CALLS = 10_000
_ANNOUNCED_FOR_S = 86_400.0
_ANNOUNCED = 20
_HANDLE = "~"


class OnGone(Protocol):
    """What is done once a client is gone; with `departed` it has said that it leaves for good."""

    async def __call__(self, client_id: str, *, departed: bool) -> None: ...


Inbox = asyncio.Queue[CallMoved | PageMoved | None]


def handle_of(client_id: str) -> str:
    """Return a handle that is unique to the client but does not reveal its id: chats of one host share a label."""
    return f"{_HANDLE}{hashlib.sha256(client_id.encode()).hexdigest()[-12:]}"


class Clients:
    """The clients and their event streams. A client is present while it has one; plain HTTP callers never are, and only
    idle out."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_s = grace_ms / 1000
        self._streams: dict[str, set[Inbox]] = defaultdict(set)
        self._page_streams: dict[Inbox, str] = {}
        self._leaving: dict[str, asyncio.Task[None]] = {}
        self._departed = Bounded[str, float](_KNOWN)
        """When clients said that they leave for good."""
        self._notices = Bounded[str, deque[Notice]](_KNOWN)
        self._hearing: dict[str, dict[asyncio.Future[None], Callable[[], bool]]] = {}
        self._progress = Bounded[tuple[str, str], CallMoved](_MOST_CALLS)
        self._labels = Bounded[str, str](_KNOWN)
        self._since = Bounded[str, float](_KNOWN)
        self._announced: deque[tuple[int, float, Notice]] = deque(maxlen=_ANNOUNCED)
        self._numbers = itertools.count(1)
        self._last_announcement = Bounded[str, int](_KNOWN)
        self._closed = False
        self.on_gone: OnGone | None = None
        self.on_presence: Callable[[], None] = lambda: None
        """Called when a client comes or leaves."""

    def remember(self, client_id: str, label: str) -> None:
        self._labels[client_id] = label

    def find(self, label: str, *, besides: str) -> ClientRef:
        """Return the client with that handle or label; of several with the same label, the one that is present. Raises
        ValidationFailed."""
        labels_of = {client_id: name for client_id, name in self._labels.items() if client_id != besides}
        by_handle = label.startswith(_HANDLE)
        matching = [client_id for client_id in labels_of if by_handle and handle_of(client_id) == label] or [
            client_id for client_id, name in labels_of.items() if name.casefold() == label.strip().casefold()
        ]
        matching = [client_id for client_id in matching if self.present(client_id)] or matching
        if len(matching) == 1:
            return ClientRef(client_id=matching[0], label=labels_of[matching[0]])
        problem = f"{len(matching)} clients are called {label!r}." if matching else f"No client is called {label!r}."
        label_list = ", ".join(sorted({repr(name) for name in labels_of.values()})[:10]) or "no other"
        hint = 'Name a page of the one that you mean: "to": "<pageId>".' if matching else f"Known: {label_list}."
        raise ValidationFailed(problem, hint=hint, details=field_details("to"))

    def present(self, client_id: str) -> bool:
        return bool(self._streams.get(client_id))

    @property
    def present_ids(self) -> list[str]:
        return [client_id for client_id, streams in self._streams.items() if streams]

    def since(self, client_id: str) -> float | None:
        """Return when a present client arrived, as Unix time in seconds; None if it is absent."""
        return self._since.get(client_id) if self.present(client_id) else None

    @property
    def present_labels(self) -> dict[str, str]:
        return {client_id: self._labels.get(client_id, "") for client_id in self.present_ids}

    async def stream(self, client_id: str, *, pages: bool = True) -> AsyncGenerator[CallMoved | PageMoved, None]:
        """Yield events for a client, which counts as present while it listens: its calls' and, with `pages`, pages'."""
        inbox: Inbox = asyncio.Queue(_QUEUED)
        comes = not self.present(client_id)
        self._streams[client_id].add(inbox)
        if comes:
            if client_id not in self._leaving:  # a client on its way out that returns continues the same visit
                self._since[client_id] = time.time()
            self.on_presence()
        if pages:
            self._page_streams[inbox] = client_id
        self._departed.pop(client_id, None)
        if leaving := self._leaving.pop(client_id, None):
            leaving.cancel()
        try:
            while not self._closed and (event := await inbox.get()) is not None:
                yield event
        finally:
            self._page_streams.pop(inbox, None)
            self._streams[client_id].discard(inbox)
            if not self._streams[client_id]:
                del self._streams[client_id]
                self.on_presence()
                self._left(client_id)

    def progress(self, client_id: str, call_id: str, elapsed_ms: int) -> CallMoved:
        """Return a running call's last progress, with its elapsed time."""
        last = self._progress.get((client_id, call_id))
        if last is None:
            last = CallMoved(call_id=call_id, client_id=client_id, state=CallState.RUNNING)
        return last.model_copy(update={"elapsed_ms": elapsed_ms})

    def repeat_progress(self, client_id: str, call_id: str, elapsed_ms: int) -> None:
        """Send a call's last progress again with a new elapsed time."""
        self.send(self.progress(client_id, call_id, elapsed_ms))

    def forget_progress(self, client_id: str, call_id: str) -> None:
        self._progress.pop((client_id, call_id), None)

    def send(self, event: CallMoved) -> None:
        """Send progress to the client's streams. A full stream drops it, so that a slow reader's queue stays
        bounded."""
        self._progress[event.client_id, event.call_id] = event
        for inbox in self._streams.get(event.client_id, ()):
            if not inbox.full():
                inbox.put_nowait(event)

    def page_moved(self, moved: PageMoved, may_know: Callable[[str], bool]) -> None:
        """Send a page event to all clients that listen for them and may know of the page."""
        for inbox, client_id in self._page_streams.items():
            if not inbox.full() and may_know(client_id):
                inbox.put_nowait(moved)

    def notify(self, client_id: str, notice: Notice) -> None:
        notices = self._notices.get(client_id) or deque(maxlen=_MOST_NOTICES)
        notices.append(notice)
        self._notices[client_id] = notices

    def hear(self, client_id: str) -> bool:
        """Have one of a client's calls reply at once with a person's words, if one may wait for long; return whether
        one does."""
        hearing = self._hearing.get(client_id, {})
        if heard := next((each for each, may_hear in reversed(hearing.items()) if may_hear()), None):
            hearing.pop(heard)
            heard.set_result(None)
        return heard is not None

    @contextmanager
    def hearing(self, client_id: str, may_hear: Callable[[], bool]) -> Iterator[asyncio.Future[None]]:
        """Yield a future that `hear` completes, if `may_hear` returns True then."""
        heard = asyncio.get_running_loop().create_future()
        self._hearing.setdefault(client_id, {})[heard] = may_hear
        try:
            yield heard
        finally:
            hearing = self._hearing.get(client_id, {})
            hearing.pop(heard, None)
            if not hearing:
                self._hearing.pop(client_id, None)

    def announce(self, text: str) -> None:
        """Give every client a notice once, including clients that come within a day."""
        self._announced.append((next(self._numbers), time.monotonic(), Notice(text=text)))

    def take_notices(self, client_id: str) -> list[Notice]:
        """Return what happened to a client's pages since its last reply, in at most three lines."""
        lines = [*self._unheard(client_id)] if self._announced else []
        lines += self._notices.pop(client_id, ())
        if len(lines) <= _MOST_LINES:
            return lines
        remaining = len(lines) - _MOST_LINES + 1
        return [*lines[: _MOST_LINES - 1], Notice(text=f"and {remaining} more things happened to your pages")]

    def _unheard(self, client_id: str) -> list[Notice]:
        last, since = self._last_announcement.get(client_id, 0), time.monotonic() - _ANNOUNCED_FOR_S
        self._last_announcement[client_id] = self._announced[-1][0]
        return [notice for number, at, notice in self._announced if number > last and at > since]

    def has_notices(self, client_id: str) -> bool:
        """Return whether the client has notices of its own for its next reply."""
        return client_id in self._notices

    def last_move(self, client_id: str, call_id: str) -> CallMoved | None:
        """Return the last progress of a running call."""
        return self._progress.get((client_id, call_id))

    def leaving(self, client_id: str) -> "asyncio.Task[None] | None":
        """Return the grace period that began when the client's last stream ended; None if it is not leaving."""
        return self._leaving.get(client_id)

    def drop_notices(self, client_id: str) -> int:
        return len(self._notices.pop(client_id, ()))

    def labels(self) -> list[tuple[str, str]]:
        return [*self._labels.items()]

    def end_streams(self) -> None:
        for streams in self._streams.values():
            for inbox in streams:
                if inbox.full():
                    inbox.get_nowait()
                inbox.put_nowait(None)

    async def close(self) -> None:
        """End all streams for good, so that the server can shut down."""
        self._closed = True
        self.end_streams()
        for leaving in self._leaving.values():
            leaving.cancel()
        await asyncio.gather(*self._leaving.values(), return_exceptions=True)

    def depart(self, client_id: str) -> None:
        """Note that a client leaves for good, so that it is gone once its last stream has ended, and not some time
        later."""
        self._departed[client_id] = time.monotonic()
        if leaving := self._leaving.pop(client_id, None):
            leaving.cancel()
            self._left(client_id)

    def _left(self, client_id: str) -> None:
        if not self._closed:
            departed_at = self._departed.pop(client_id, -self._grace_s)
            grace_s = 0 if time.monotonic() - departed_at < self._grace_s else self._grace_s
            self._leaving[client_id] = asyncio.create_task(self._gone(client_id, grace_s))

    async def _gone(self, client_id: str, grace_s: float) -> None:
        await asyncio.sleep(grace_s)  # a client that reconnects within this time never left
        self._leaving.pop(client_id, None)
        if self.on_gone is not None:
            await self.on_gone(client_id, departed=grace_s == 0)
