"""Parses URLs as browsers do (the WHATWG standard), so that a rule and the browser never see two different hosts."""

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

from ada_url import URL

from browser_service.security.addresses import spelled_address

_PORTS: Final = {"http": 80, "https": 443}
_SOCKETS: Final = {"ws": "http", "wss": "https"}
_UNRESERVED: Final = re.compile(r"%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])", re.IGNORECASE)
_ROUNDS: Final = 3
_HOST: Final = re.compile(r"\[[^\[\]/?#@]*\]|[^\[\]/?#@:\\]+")


class WebAddress(NamedTuple):
    """A URL's place on the web. ws: and wss: count as http: and https:."""

    scheme: str
    host: str
    """As Chromium spells it, without brackets or a final dot; empty if there is none."""
    port: int
    path: str
    query: str

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the path as it is, and, if it differs, as a server that decodes it again may understand it."""
        flat = _flattened(self.path)
        return (self.path,) if flat == self.path else (self.path, flat)


@lru_cache(maxsize=1_024)
def web_address(url: str) -> WebAddress:
    """Parse a URL, or the one inside a blob: URL. Raises ValueError if browsers refuse it."""
    parsed = URL(url.encode(errors="replace").decode())
    scheme = parsed.protocol.removesuffix(":")
    if scheme == "blob":
        return web_address(parsed.pathname)._replace(path="/", query="") if "://" in parsed.pathname else _BLANK
    scheme = _SOCKETS.get(scheme, scheme)
    host = parsed.hostname.removeprefix("[").removesuffix("]").removesuffix(".")
    path = _UNRESERVED.sub(lambda match: unquote(match[0]), parsed.pathname)
    address = spelled_address(host)
    host = str(getattr(address, "ipv4_mapped", None) or host)
    return WebAddress(scheme, host, int(parsed.port or _PORTS.get(scheme, 0)), path, parsed.search)


def host_spelling(host: str) -> str:
    """Return a host as Chromium spells it. Raises ValueError if browsers refuse it."""
    if not _HOST.fullmatch(host):
        raise ValueError(f"{host!r} is no host")
    return web_address(f"http://{host}/").host


def _flattened(path: str) -> str:
    """Decode a path until nothing changes, at most three times, and resolve its `.` and `..`."""
    for _ in range(_ROUNDS):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    parts = list[str]()
    for part in re.sub(r"[\\/]+", "/", path).split("/")[1:]:
        if part == ".." and parts:
            parts.pop()
        elif part not in {".", ".."}:
            parts.append(part)
    return "/" + "/".join(parts)


_BLANK: Final = WebAddress("blob", "", 0, "/", "")
