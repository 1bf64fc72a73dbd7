"""Limits of each client: calls per minute, calls at once, and pages. A refusal says when there is room again."""

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from browse_together.contract.actions.base import Action
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.errors import ErrorBody, RateLimited, ResourceExhausted
from browse_together.contract.local_times import local_time
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browser_service.rules.bounded import Bounded
from browser_service.rules.window import Clock, MovingWindow

_IDLE_ONES_KEPT = 1_000


@dataclass(frozen=True)
class ClientLimits:
    """Limits per client; 0 means no limit."""

    pages: int = 30
    in_flight: int = 32
    per_minute: int = 600


@dataclass
class _Client:
    rate: MovingWindow
    running: dict[str, float] = field(default_factory=dict)
    """When each running call is due to end, by callId."""

    @property
    def idle(self) -> bool:
        return not self.running and not self.rate


class Quotas:
    """The counts of what each client does. Nothing may run between `admit` and `begin` of a call."""

    def __init__(self, limits: ClientLimits, clock: Clock = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._clients = Bounded[str, _Client](_IDLE_ONES_KEPT, spared=lambda client: not client.idle)

    def admit(self, client_id: str, action: Action) -> None:
        """Raise RateLimited, which names the limit, its value, and when there is room again."""
        if action.unmetered:
            return
        client, limits = self._client(client_id), self._limits
        if free_in := client.rate.free_in(_count_calls(action)):
            raise self._too_often(free_in, action.name())
        if limits.in_flight and len(client.running) >= limits.in_flight:
            raise self._too_many_at_once(client)

    def begin(self, client_id: str, call_id: str, action: Action) -> bool:
        """Count an admitted call until `end`. Return False for a call that is unmetered or already counted."""
        client = self._client(client_id)
        if action.unmetered or call_id in client.running:
            return False
        client.rate.add(_count_calls(action))
        client.running[call_id] = self._clock() + action.allowed_ms() / 1000
        return True

    def end(self, client_id: str, call_id: str) -> None:
        """Stop counting a call as running."""
        if client := self._clients.get(client_id):
            client.running.pop(call_id, None)

    def count_beside(self, client_id: str, name: str) -> None:
        """Count as a call what is sent beside calls, such as a file ahead of `upload_file`. Raises RateLimited."""
        client = self._client(client_id)
        if free_in := client.rate.free_in():
            raise self._too_often(free_in, name)
        client.rate.add()

    def check_pages(self, held: Sequence[str], opening: Collection[str]) -> None:
        """Raise ResourceExhausted if a client may open no further page."""
        limit = self._limits.pages
        if limit and len({*held, *opening}) >= limit:
            raise _too_many_pages(limit, held)

    def _too_often(self, free_in: float, name: str) -> RateLimited:
        limit = self._limits.per_minute
        return rate_limited(
            f"You made {limit} calls within a minute, which is the limit (BROWSE_CLIENT_CALLS_PER_MINUTE).",
            free_in,
            f"Repeat {name} then. Not limited: {_unmetered()}.",
            {"limit": "callsPerMinute", "value": limit},
        )

    def _too_many_at_once(self, client: _Client) -> RateLimited:
        limit, (call_id, due) = self._limits.in_flight, min(client.running.items(), key=lambda item: item[1])
        return rate_limited(
            f"{limit} of your calls are running, which is the limit.",
            due - self._clock(),
            f"Wait for the one that is due first: {next_call('get_call', call_id=call_id)}; or stop it: "
            f"{next_call('cancel_call', call_id=call_id)}.",
            {"limit": "callsInFlight", "value": limit},
        )

    def _client(self, client_id: str) -> _Client:
        if (client := self._clients.get(client_id)) is None:
            client = self._clients[client_id] = _Client(MovingWindow(self._limits.per_minute, self._clock))
        return client


def rate_limited(problem: str, seconds: float, hint: str, context: Json) -> RateLimited:
    """Return the refusal of a call that may come again, with the time of day and the seconds until then."""
    seconds_left = max(1, math.ceil(seconds))
    facts: dict[str, JsonValue] = {**context, "retryAfter": seconds_left}
    return RateLimited(f"{problem} Come again at {time_after(seconds_left)}.", hint=hint, details={"context": facts})


def retry_after(error: ErrorBody) -> int | None:
    """Return the seconds of a RateLimited error for the Retry-After header; None for other errors."""
    seconds = object_at(error.details, "context").get("retryAfter")
    return seconds if error.code == RateLimited.code and isinstance(seconds, int) else None


def time_after(seconds: float) -> str:
    return f"{local_time(seconds)} (in {math.ceil(seconds)} s)"


def _too_many_pages(limit: int, pages: Sequence[str]) -> ResourceExhausted:
    close = next_call("close_page", page_id=pages[0]) if pages else next_call("list_pages")
    return ResourceExhausted(
        f"You have {limit} pages open, which is the limit. There is room when one is closed.",
        hint=f"Go to the URL in a page that you have, or close one: {close}.",
        details={"context": {"limit": "pages", "value": limit, "pages": [*pages]}},
    )


def _count_calls(action: Action) -> int:
    """Return how many calls an action counts as: those that it carries, or 1."""
    return sum(map(_count_calls, action.parts())) or 1 if action.part_fields else 1


def _unmetered() -> str:
    return ", ".join(sorted(name for name, action in ACTIONS.items() if action.unmetered))
