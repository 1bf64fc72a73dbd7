"""Matches URLs with callers' patterns: a glob whose `*` is any text, or `/regex/flags` as in JavaScript."""

import math
import re
import time
from itertools import product
from typing import Final

import regex

from browse_together.contract.errors import ValidationFailed, field_details
from browser_service.security.globs import matches_glob

_SCHEME: Final = re.compile(r"([A-Za-z*][A-Za-z0-9+.*-]*)://(.*)", re.DOTALL)
_HOST: Final = re.compile(r"\*\.((?:[\w-]+\.)+[\w-]+(?::\d+)?)(/.*)", re.DOTALL)
_HOST_GLOB: Final = re.compile(r"[\w.*-]+(?::[\d*]+)?")
_REGEX: Final = re.compile(r"/(.+)/([dgimsuvy]*)", re.DOTALL)
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_FLAGS: Final = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}
_MOST_ALTERNATIVES: Final = 64
_MOST_URL: Final = 8_000
_WITHIN_S: Final = 0.02
"""CPU time for a caller's expression, which runs in the service and so delays everybody. If one URL, or many in a row,
use more, the expression no longer matches anything."""
_REGAINED: Final = 0.02
"""The share of time that an expression regains for further matching."""
_REGEX_SIZE: Final = 50


class UrlPattern:
    """A pattern of URLs. `*` crosses `/`; the scheme may be left out; `{a,b}` are alternatives.

    `*.example.com/...` means the host and its subdomains. A pattern without `/` may be only the host; one that begins
    with `/` matches the path. The part after `#` counts only if the pattern contains `#`.
    """

    def __init__(self, text: str, field: str = "pattern") -> None:
        self.text = text
        self.too_slow = False
        self._globs: list[str] = []
        self._regex: regex.Pattern[str] | None = None
        self._left_s, self._left_at = _WITHIN_S, time.monotonic()
        literal = _REGEX.fullmatch(text)
        try:
            if literal is None:
                self._globs = _alternatives(text)
            else:
                self._regex = regex.compile(literal[1], sum(_FLAGS.get(flag, 0) for flag in set(literal[2])))
        except (ValueError, RecursionError, regex.error) as error:
            raise ValidationFailed(
                f"{field} {text!r} cannot be used: {error}.",
                hint='Write a glob such as "*.example.com/*" or "/api/*", or a regular expression: "/items\\/\\d+/i".',
                details=field_details(field),
            ) from None

    def matches(self, url: str) -> bool:
        url = (url if "#" in self.text else url.partition("#")[0])[:_MOST_URL]
        if self._regex is not None:
            return self._search(self._regex, url)
        return any(_matches(glob, url) for glob in self._globs)

    @property
    def size(self) -> int:
        """Return the number of expressions compared with each request. A regular expression counts as 50."""
        return len(self._globs) or _REGEX_SIZE

    def sockets(self) -> list[str]:
        """Return the pattern as URL Patterns (the web standard) for WebSockets; empty for a regular expression."""
        return [pattern for glob in self._globs for pattern in _of_sockets(glob)]

    def _search(self, expression: "regex.Pattern[str]", url: str) -> bool:
        now, began = time.monotonic(), time.thread_time()
        self._left_s = min(_WITHIN_S, self._left_s + _REGAINED * (now - self._left_at))
        self._left_at, self.too_slow = now, self.too_slow or self._left_s <= 0
        if self.too_slow:
            return False
        try:
            return expression.search(url, timeout=self._left_s) is not None
        except TimeoutError:
            self.too_slow = True
            return False
        finally:
            self._left_s -= time.thread_time() - began


def _matches(glob: str, url: str) -> bool:
    scheme, _, rest = url.partition("://")
    if with_scheme := _SCHEME.fullmatch(glob):
        if not matches_glob(with_scheme[1].lower(), scheme):
            return False
        glob = with_scheme[2]
    host, slash, path = rest.partition("/")
    if below := _HOST.fullmatch(glob):
        return f".{host}".endswith(f".{below[1].lower()}") and matches_glob(below[2], slash + path)
    if glob.startswith("/"):
        return matches_glob(glob, slash + path)
    if "/" not in glob and _is_host(glob.lower(), host):
        return True
    return matches_glob(glob, rest)


def _is_host(glob: str, host: str) -> bool:
    """Match a host with or without its port. `*.example.com` also matches example.com."""
    hosts = {host, host.rpartition(":")[0] or host}
    return any(matches_glob(glob, name) or (glob.startswith("*.") and glob[2:] == name) for name in hosts)


def _alternatives(text: str) -> list[str]:
    """Expand `a.{png,jpg}` to `a.png` and `a.jpg`. Raises ValueError for too many alternatives."""
    parts = _BRACES.split(text)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    count = math.prod(map(len, choices))
    if count > _MOST_ALTERNATIVES:
        raise ValueError(f"it has {count} alternatives, and {_MOST_ALTERNATIVES} are allowed")
    return ["".join(chosen) for chosen in product(*choices)]


def _of_sockets(glob: str) -> list[str]:
    with_scheme = _SCHEME.fullmatch(glob)
    scheme_glob = with_scheme[1].lower() if with_scheme else "*"
    schemes = [scheme for scheme in ("ws", "wss") if matches_glob(scheme_glob, scheme)]
    places = _places((with_scheme[2] if with_scheme else glob).partition("#")[0]) if schemes else []
    return [f"{scheme}://{place}" for scheme in schemes for place in places]


def _places(glob: str) -> list[str]:
    """Split a pattern into possible hosts and paths. A `*` before the first slash may span it, and then is in both."""
    host, slash, path = glob.partition("/")
    stars = [] if _HOST.fullmatch(glob) else [at for at, sign in enumerate(host) if sign == "*"]
    over = [(host[: at + 1], f"/*{host[at + 1 :]}{slash}{path}") for at in stars]
    pairs = dict.fromkeys([(host or "*", slash + path if slash else "/*"), *over])
    return [_with_port(host, alone=not slash) + _path(path) for host, path in pairs if _HOST_GLOB.fullmatch(host)]


def _with_port(host: str, *, alone: bool) -> str:
    """Add any port to a host without a path, and example.com itself to `*.example.com`."""
    name, colon, port = host.rpartition(":") if ":" in host else (host, "", "")
    port = port if colon else "*" if alone or host.endswith("*") else ""
    below = f"{{*.}}?{name[2:]}" if name.startswith("*.") and "*" not in name[2:] else name
    return f"{below}:{port}" if port else below


def _path(path: str) -> str:
    path, question, query = path.partition("?")
    rest = rf"\?{_escaped(query)}" if question or not path.endswith("*") else ""
    return _escaped(path) + rest


def _escaped(text: str) -> str:
    return re.sub(r"([+?:(){}\\])", r"\\\1", text)
