"""Clients are let in by a key, each key being a client of its own, and are limited in how often they call."""

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers

from mcp_gateway.transports.settings import NotUsable, TransportSettings

ANYONE: Final = "anyone"
"""Stands for every client where no key is asked for."""
API_KEY: Final = "x-api-key"
KEYS_FILE: Final = "mcp-keys"
_LEAST_CHARACTERS: Final = 16
_MOST_KEYS: Final = 1_000
_MOST_MISTAKES: Final = 30
"""Wrong keys from one address in a window, beyond which it waits: a key is not to be found by trying."""


class Refused(Exception):
    """Raised for a request that does not come in, with the HTTP status that says so."""

    def __init__(self, status: int, reason: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.headers = headers or {}


class Access:
    """Knows the keys, and counts the requests of each client."""

    def __init__(self, settings: TransportSettings, keys: Iterable[str], where: str = "") -> None:
        self._auth = settings.auth
        self._clients = {_digest(key): _digest(key)[:24] for key in keys}
        self._where = where
        """Says where a person finds the key."""
        self._most = settings.rate_limit_max
        window_s = max(round(settings.rate_limit_window_ms / 1_000), 1)
        self._requests = RateLimitItemPerSecond(max(self._most, 1), window_s)
        self._mistakes = RateLimitItemPerSecond(_MOST_MISTAKES, window_s)
        self._counts = FixedWindowRateLimiter(MemoryStorage())

    def client(self, headers: Headers, address: str) -> str:
        """Return which client a request comes from, by its key. Raises Refused for a missing or wrong key, and for
        one request too many."""
        client = ANYONE if self._auth == "none" else self._proven(headers, address)
        if self._most:
            self._count(self._requests, "requests", client if client != ANYONE else address)
        return client

    def _proven(self, headers: Headers, address: str) -> str:
        if not self._counts.test(self._mistakes, "mistakes", address):
            raise self._too_many(self._mistakes, "mistakes", address, "Too many wrong keys")
        if (key := self._key(headers)) is None:
            raise Refused(401, f"No key was sent: {self._how}.", self._challenge())
        if (client := self._clients.get(_digest(key))) is None:
            self._counts.hit(self._mistakes, "mistakes", address)
            raise Refused(401, f"The key is not known here: {self._how}.", self._challenge('error="invalid_token"'))
        return client

    def _key(self, headers: Headers) -> str | None:
        if self._auth == "api-key":
            return headers.get(API_KEY)
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return key.strip() if scheme.lower() == "bearer" and key.strip() else None

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


def keys(settings: TransportSettings, data_dir: Path) -> tuple[list[str], str]:
    """Return the keys that are let in, and where a person finds them. Raises NotUsable."""
    if settings.auth == "none":
        return [], ""
    if settings.auth_secret is not None:
        return [_long_enough(settings.auth_secret.get_secret_value(), "AUTH_SECRET")], "the key is AUTH_SECRET's"
    path = settings.auth_file or data_dir / KEYS_FILE
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
    """Write a file with one random key, for this account alone, where there is none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")


def _long_enough(key: str, name: str) -> str:
    if len(key) < _LEAST_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise NotUsable(f"{name} is no key: write {_LEAST_CHARACTERS} or more visible ASCII characters.")
    return key


def _digest(key: str) -> str:
    """Compare keys by their digests, so that time tells nothing of them."""
    return hashlib.sha256(key.encode()).hexdigest()
