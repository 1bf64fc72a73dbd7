"""Lets clients in by a key, each key being a separate client, and limits how often they call."""

import contextlib
import hashlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.requests import HTTPConnection

from browse_together.contract.data_files import GATEWAY_KEYS
from browse_together.contract.requests import Held
from browse_together.contract.wire import KEY_SUBPROTOCOL
from mcp_gateway.transports.settings import NotUsable, TransportSettings

_LEAST_CHARACTERS: Final = 16
_MOST_KEYS: Final = 1_000


def read_keys(settings: TransportSettings, data_dir: Path) -> tuple[list[str], str]:
    """Return the valid keys, and where a person finds them. Raises NotUsable."""
    if settings.auth == "none":
        return [], ""
    if settings.auth_secret is not None:
        return [_long_enough(settings.auth_secret.get_secret_value(), "AUTH_SECRET")], "the key is AUTH_SECRET's"
    path = settings.auth_file or data_dir / GATEWAY_KEYS
    try:
        if settings.auth_file is None:
            _make(path)
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise NotUsable(f"the keys in {path} cannot be read: {error}. Set AUTH_SECRET or --auth-file.") from None
    found = [_long_enough(line, f"a line of {path}") for line in lines if line and not line.startswith("#")]
    if not found or len(found) > _MOST_KEYS:
        raise NotUsable(f"{path} has {len(found)} keys; write 1 to {_MOST_KEYS}, one on a line.")
    return found, f"the key is in {path} on the gateway's machine"


def _make(path: Path) -> None:
    """Create a file with a random key, for this account only, unless the file exists."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")


def _long_enough(key: str, name: str) -> str:
    if len(key) < _LEAST_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise NotUsable(f"{name} is no key: write {_LEAST_CHARACTERS} or more visible ASCII characters.")
    return key


def digest(key: str) -> str:
    """Return a digest for comparing keys, so that the time taken reveals nothing."""
    return hashlib.sha256(key.encode()).hexdigest()


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


ANYONE: Final = "anyone"
"""The client of every request if no key is required."""
API_KEY: Final = "x-api-key"
SESSION_PARAMETER: Final = "session"
HELD: Final = Held()
"""The bytes of incomplete messages that each client holds."""
_MOST_MISTAKES: Final = 30
"""Wrong keys from one address in a window before further ones are refused. Right keys are still let in, because others
may share the address."""
_MOST_OPEN: Final = 2_000
"""The most requests and websockets that one client may have open at once."""


class Refused(Exception):
    """A request is refused; `status` is the HTTP status of the refusal."""

    def __init__(self, status: int, reason: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = headers or {}


class Access:
    """The keys, and the number of requests of each client."""

    def __init__(self, settings: TransportSettings, keys: Iterable[str], where: str = "") -> None:
        self.tickets = Tickets() if settings.auth == "session" else None
        self._auth = settings.auth
        self._clients = {digest(key): digest(key)[:24] for key in keys}
        self._where = where if settings.is_loopback else ""
        """Where a person finds the key; empty if other machines may call."""
        self._most = settings.rate_limit_max
        window_s = max(round(settings.rate_limit_window_ms / 1_000), 1)
        self._requests = RateLimitItemPerSecond(max(self._most, 1), window_s)
        self._mistakes = RateLimitItemPerSecond(_MOST_MISTAKES, window_s)
        self._counts = FixedWindowRateLimiter(MemoryStorage())
        self._open = Counter[str]()

    @contextlib.contextmanager
    def entered(self, connection: HTTPConnection) -> Iterator[str]:
        """Let a request in for the block, and yield its client. Raises Refused for a missing or wrong key, too many
        requests in a window, or too many at once."""
        address = connection.client.host if connection.client else ""
        client = ANYONE if self._auth == "none" else self._proven(connection, address)
        if self._most:
            self._count(self._requests, "requests", client if client != ANYONE else address)
        if self._open[client] >= _MOST_OPEN:
            raise Refused(503, f"{_MOST_OPEN} requests of this client are open; end some.", {"Retry-After": "1"})
        self._open[client] += 1
        try:
            yield client
        finally:
            self._open[client] -= 1

    def _proven(self, connection: HTTPConnection, address: str) -> str:
        key = self._key(connection)
        if client := self._clients.get(digest(key)) if key else self._with_ticket(connection):
            return client
        if key is None:
            raise Refused(401, f"No key was sent: {self._how}.", self._challenge())
        if not self._counts.hit(self._mistakes, "mistakes", address):
            raise self._too_many(self._mistakes, "mistakes", address, "Too many wrong keys")
        raise Refused(401, f"The key is not known here: {self._how}.", self._challenge('error="invalid_token"'))

    def _key(self, connection: HTTPConnection) -> str | None:
        """Return a request's key. A web page cannot set a websocket's headers, so it sends the key as a subprotocol.
        Raises Refused for two keys, of which another program might have read the other one."""
        subprotocols: list[str] = connection.scope.get("subprotocols", [])
        found = [name.removeprefix(KEY_SUBPROTOCOL) for name in subprotocols if name.startswith(KEY_SUBPROTOCOL)]
        scheme, _, bearer = connection.headers.get("authorization", "").partition(" ")
        if self._auth == "api-key":
            found.append(connection.headers.get(API_KEY, ""))
        elif scheme.lower() == "bearer":
            found.append(bearer.strip())
        given = [key for key in found if key]
        if given[1:]:
            raise Refused(400, "The request has two keys: send one, as a header or as a subprotocol.")
        return given[0] if given else None

    def _with_ticket(self, connection: HTTPConnection) -> str | None:
        """Return the client of a websocket that presents a session instead of the key."""
        if self.tickets is None or connection.scope["type"] != "websocket":
            return None
        return self.tickets.client(connection.query_params.get(SESSION_PARAMETER, ""))

    @property
    def _how(self) -> str:
        header = "X-API-Key: <key>" if self._auth == "api-key" else "Authorization: Bearer <key>"
        return f"send {header!r}; {self._where}" if self._where else f"send {header!r}"

    def _challenge(self, detail: str = "") -> dict[str, str]:
        if self._auth == "api-key":
            return {}
        return {"WWW-Authenticate": f"Bearer {detail}".strip()}

    def _count(self, limit: RateLimitItemPerSecond, kind: str, who: str) -> None:
        if not self._counts.hit(limit, kind, who):
            raise self._too_many(limit, kind, who, f"Too many requests: {limit.amount} are let in each {limit}")

    def _too_many(self, limit: RateLimitItemPerSecond, kind: str, who: str, reason: str) -> Refused:
        wait_s = max(round(self._counts.get_window_stats(limit, kind, who).reset_time - time.time()), 1)
        return Refused(429, f"{reason}. Try again in {wait_s} s.", {"Retry-After": str(wait_s)})
