"""Lets websockets of web pages, which cannot send the key, in by short-lived sessions."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

LIVES_S: Final = 60.0
"""How long a session lets websockets in, counted from its creation or the close of its last websocket."""
_MOST: Final = 1_000


@dataclass
class _Ticket:
    client: str
    ends_at: float
    open_websockets: int = 0


class Tickets:
    """The sessions that were given out. The oldest unused ones make room for new ones."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._tickets: dict[str, _Ticket] = {}

    def make(self, client: str) -> str:
        """Return a new session that lets in a websocket of that client."""
        for session_id in [each for each in self._tickets if self._is_over(each)]:
            del self._tickets[session_id]
        unused = (each for each, ticket in self._tickets.items() if not ticket.open_websockets)
        if len(self._tickets) >= _MOST and (oldest := next(unused, None)):
            del self._tickets[oldest]
        session_id = uuid4().hex
        self._tickets[session_id] = _Ticket(client, self._now() + LIVES_S)
        return session_id

    def client(self, session_id: str) -> str | None:
        """Return a valid session's client, else None."""
        return None if self._is_over(session_id) else self._tickets[session_id].client

    @contextlib.contextmanager
    def used(self, session_id: str) -> Iterator[None]:
        """Keep a session valid during the block, if it is known."""
        ticket = self._tickets.get(session_id) or _Ticket("", 0)
        ticket.open_websockets += 1
        try:
            yield
        finally:
            ticket.open_websockets -= 1
            ticket.ends_at = self._now() + LIVES_S

    def _is_over(self, session_id: str) -> bool:
        ticket = self._tickets.get(session_id)
        return ticket is None or (not ticket.open_websockets and ticket.ends_at < self._now())
