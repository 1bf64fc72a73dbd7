"""Parses URLs and hosts as browsers do (the WHATWG standard), so that a rule and the browser never see two different
hosts."""

import contextlib
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
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")


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
    parsed = URL(encodable(url))
    scheme = parsed.protocol.removesuffix(":")
    if scheme == "blob":
        return web_address(parsed.pathname)._replace(path="/", query="") if "://" in parsed.pathname else _BLANK
    scheme = _SOCKETS.get(scheme, scheme)
    host = parsed.hostname.removeprefix("[").removesuffix("]").removesuffix(".")
    path = _UNRESERVED.sub(lambda match: unquote(match[0]), parsed.pathname)
    address = spelled_address(host)
    host = str(getattr(address, "ipv4_mapped", None) or host)
    return WebAddress(scheme, host, int(parsed.port or _PORTS.get(scheme, 0)), path, parsed.search)


def encodable(url: str) -> str:
    """Return a URL with a question mark for each character that UTF-8 lacks."""
    return url.encode(errors="replace").decode()


def host_spelling(host: str) -> str:
    """Return a host as Chromium spells it, decoded and in lower case. Raises ValueError for what is neither a name that
    a host can have nor an address."""
    bracketed = f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
    name = web_address(f"http://{bracketed}/").host if _HOST.fullmatch(bracketed) else ""
    if not (spelled_address(name) or all(map(_LABEL.fullmatch, name.split(".")))):
        raise ValueError(f"{host!r} is no host")
    return name


def header_host(text: str) -> str:
    """Return a Host header's value unchanged. Raises ValueError if no client can send it."""
    if not header_places(frozenset({text})):
        raise ValueError(
            f"{text!r} is no value of the Host header. Write a name and its port, such as 'browse.example:8888'."
        )
    return text


@lru_cache(maxsize=8)
def header_places(hosts: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return hosts, spelled as browsers do and without brackets, and ports of values of the Host header; "" for the
    port that is usual. What no browser spells is left out."""
    places = set[tuple[str, str]]()
    for text in hosts:
        has_port = re.search(r":\d+$", text) and not spelled_address(text)
        name, _, port = text.rpartition(":") if has_port else (text, "", "")
        with contextlib.suppress(ValueError):
            places.add((host_spelling(name), port))
    return frozenset(places)


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
