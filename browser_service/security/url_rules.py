"""Matches URLs with the rules of the account's owner: `https://shop.example/cart`, `*.example.com`, `*://*:8080/*`."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Final

from browser_service.security.addresses import spelled_address
from browser_service.security.globs import matches_glob
from browser_service.security.web_address import WebAddress, host_spelling, web_address

MOST_RULES: Final = 500
_MOST_CHARACTERS: Final = 500
_LONGEST_PATH: Final = 65_536
_LAST_PORT: Final = 65_535
_PORTS: Final = {"http": 80, "https": 443}
_WEB: Final = frozenset({*_PORTS, "*", "http*"})
_OPENED: Final = _WEB | {"data", "blob", "about"}
"""The schemes that pages can have at all."""
_SCHEME_ALONE: Final = re.compile(r"([a-z*][a-z0-9+.*-]*):(//)?\*?", re.IGNORECASE)
_WHOLE: Final = re.compile(r"(?:(?P<scheme>[a-z*][a-z0-9+.*-]*)://)?(?P<place>[^/?]*)(?P<path>[/?].*)?", re.IGNORECASE)
_PLACE: Final = re.compile(
    r"(?P<host>\[[0-9a-f:.*]+\]|[^:\[\]]*|[0-9a-f:]{3,})(?::(?P<port>\*|[0-9]+))?", re.IGNORECASE
)
_NUMBERS: Final = re.compile(r"[0-9.*]*[0-9][0-9.*]*")
RIGHT_FORM: Final = (
    "Write a URL's beginning, such as https://shop.example/cart, a host, such as shop.example, or a pattern, such as "
    "https://*.shop.example or *://*:8080/*"
)


@dataclass(frozen=True)
class UrlRule:
    """One parsed rule. Each part may contain `*`; a path without one is a prefix that ends at a `/`."""

    text: str
    scheme: str
    host: str
    port: int | None
    path: str = ""

    def matches(self, address: WebAddress, *, surely: bool = False) -> bool:
        """Return whether the rule covers the URL under at least one way in which servers read its path, or `surely`
        under every way."""
        ways = (self._has_path(path, address.query) for path in address.paths)
        return self.has_host(address) and (all(ways) if surely else any(ways))

    def has_host(self, address: WebAddress) -> bool:
        """Return whether the URL has the rule's scheme, host and port."""
        return (
            matches_glob(self.scheme, address.scheme)
            and self.port in {None, address.port}
            and _has_host(self.host, address.host)
        )

    def _has_path(self, path: str, query: str) -> bool:
        if not self.path:
            return True
        whole = path + query if "?" in self.path else path
        if "*" in self.path:
            return matches_glob(self.path, whole)
        if "?" in self.path:
            return whole.startswith(self.path)
        return whole == self.path or whole.startswith((self.path.removesuffix("/") + "/", self.path + ";"))


@dataclass(frozen=True)
class UrlRules:
    """All rules of the owner. A denied URL is denied; if any are allowed, all others are denied too."""

    allowed: tuple[UrlRule, ...] = ()
    denied: tuple[UrlRule, ...] = ()
    for_requests: bool = False
    """Whether the rules cover everything that pages request, or only documents."""

    def __bool__(self) -> bool:
        return bool(self.allowed or self.denied)

    def closes(self, host: str, port: int) -> bool:
        """Return whether the rules forbid every request to this host and port, under any scheme."""
        allowed, denied = _of_place(self.allowed, host, port), _of_place(self.denied, host, port)
        return not all(rule.path for rule in denied) or (bool(self.allowed) and not allowed)

    def goes_by_path(self, host: str, port: int) -> bool:
        """Return whether the path decides what may be requested at this host and port."""
        allowed, denied = _of_place(self.allowed, host, port), _of_place(self.denied, host, port)
        return any(rule.path for rule in denied) or (bool(self.allowed) and all(rule.path for rule in allowed))

    @property
    def denied_patterns(self) -> list[str]:
        """Return Chromium patterns that match every URL which a rule may deny, and some others."""
        return [f"*{rule.host.removeprefix('*.')}*" for rule in self.denied if rule.scheme in {*_PORTS, "*"}]

    def against(self, url: str) -> UrlRule | None:
        """Return the rule that denies the URL, or None. Raises NotAllowedError if no rule denies it but none allows it
        either."""
        address = web_address(url)
        asks_server = address.scheme in _PORTS
        if len(address.path) > _LONGEST_PATH and any(rule.path for rule in (*self.denied, *self.allowed)):
            raise NotAllowedError
        denied = next((rule for rule in self.denied if rule.matches(address)), None)
        if (
            denied is None
            and asks_server
            and self.allowed
            and not any(rule.matches(address, surely=True) for rule in self.allowed)
        ):
            raise NotAllowedError
        return denied


class NotAllowedError(Exception):
    """Rules allow some URLs, but not this one."""


def url_rule(text: str, *, allows: bool = False) -> UrlRule:
    """Parse a rule. Raises ValueError, which names the right form, if no URL can match it."""
    rule = text.strip()
    if not rule or len(rule) > _MOST_CHARACTERS or re.search(r"[\s\\\x00-\x1f]", rule):
        raise ValueError(f"{rule[:80]!r} matches no URL. {RIGHT_FORM}.")
    if scheme := _SCHEME_ALONE.fullmatch(rule):
        return UrlRule(rule, _scheme(rule, scheme[1], _OPENED if allows else None), "*", None)
    if "#" in rule:
        raise ValueError(f"{rule!r}: what follows # is sent to no server. Write {rule.partition('#')[0]!r}.")
    whole = _WHOLE.fullmatch(rule)
    place = _PLACE.fullmatch(whole["place"]) if whole else None
    if whole is None or place is None or "@" in whole["place"]:
        raise ValueError(f"{rule!r} has no host that a URL can have. {RIGHT_FORM}.")
    scheme_name = _scheme(rule, whole["scheme"] or "*", _WEB)
    host, path = _host(rule, place["host"]), whole["path"] or ""
    port = int(place["port"]) if place["port"] not in {None, "*"} else None
    if port is not None and not 0 < port <= _LAST_PORT:
        raise ValueError(f"{rule!r}: {port} is no port.")
    if place["port"] is None:
        port = _PORTS.get(scheme_name)
    if re.fullmatch(r"/\d{1,3}", path) and _NUMBERS.fullmatch(host):
        raise ValueError(f"{rule!r}: a network is written with `*`, such as 10.*")
    return UrlRule(rule, scheme_name, host, port, _path(rule, path))


def _of_place(rules: tuple[UrlRule, ...], host: str, port: int) -> list[UrlRule]:
    places = [WebAddress(scheme, host, port, "/", "") for scheme in _PORTS]
    return [rule for rule in rules if any(map(rule.has_host, places))]


def _scheme(rule: str, text: str, known: frozenset[str] | None) -> str:
    """Return a rule's scheme, `*` for both of the web. Raises ValueError for one that is not known, if that matters."""
    scheme = text.lower()
    if scheme in {"ws", "wss"}:
        web = scheme.replace("ws", "http")
        raise ValueError(f"{rule!r}: write {web}://, which is the WebSockets of a host too. {RIGHT_FORM}.")
    if known is not None and scheme not in known:
        raise ValueError(f"{rule!r} matches nothing: no page is ever opened by {scheme}:. {RIGHT_FORM}.")
    return "*" if scheme == "http*" else scheme


def _host(rule: str, host: str) -> str:
    """Return a rule's host as Chromium spells it. Raises ValueError if no URL can have that host."""
    name = host.lower().removesuffix(".")
    if not name:
        raise ValueError(f"{rule!r} has no host. {RIGHT_FORM}.")
    try:
        if "*" not in name:
            return host_spelling(name)
        if ":" not in name:
            host_spelling(name.replace("*", "1"))  # raises, if nothing that it matches is a host
        return ".".join(label if label.isascii() else host_spelling(label) for label in name.strip("[]").split("."))
    except ValueError:
        raise ValueError(f"{rule!r}: {host!r} is no host that a URL can have. {RIGHT_FORM}.") from None


def _path(rule: str, path: str) -> str:
    if path in {"", "/", "/*"}:
        return ""
    try:
        address = web_address(f"http://host{path}")
    except ValueError:
        raise ValueError(f"{rule!r}: {path!r} is no path that a URL can have. {RIGHT_FORM}.") from None
    return address.path + address.query


def _has_host(glob: str, host: str) -> bool:
    if "*" not in glob or glob == "*":
        return glob in {"*", host}
    if _NUMBERS.fullmatch(glob):
        return _is_v4(host) and matches_glob(glob, host)
    return matches_glob(glob, host) or (glob.startswith("*.") and glob[2:] == host)


def _is_v4(host: str) -> bool:
    return isinstance(spelled_address(host), ipaddress.IPv4Address)
