"""Decides where pages may go."""

import contextlib
import ipaddress
import re
import socket
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from pydantic import JsonValue

from shared.errors import Forbidden, ValidationFailed, field_details
from shared.model import Json

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_SCHEMES = frozenset({"http", "https", "about", "blob"})
_HOST_NAME = re.compile(r"(?!-)[\w-]{1,63}(\.[\w-]{1,63})*")
_MOST_DATA_BYTES = 65_536
"""Bounds data: URLs, in bytes, because each change of a page stores its URL."""
_MOST_SHOWN = 120
_PORTS = {"http": 80, "https": 443}
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".test", ".home.arpa")
"""No public site has a name with one of these endings."""
_METADATA_HOSTS = frozenset({"metadata.google.internal", "metadata.goog", "metadata"})
_METADATA_NETWORKS = (
    ipaddress.ip_network("169.254.0.0/16"),
    ipaddress.ip_network("fe80::/10"),
    ipaddress.ip_network("fd00:ec2::254/128"),
)


@dataclass(frozen=True)
class UrlPolicy:
    """Decides about one URL at a time: the one that a caller asks for, and each that the page then loads."""

    own_hosts: Callable[[], AbstractSet[str]] = frozenset
    """Returns host:port of this service, because pages may not call its API."""
    allow_hosts: frozenset[str] = frozenset()
    deny_hosts: frozenset[str] = frozenset()

    def check(self, url: str) -> str:
        """Return `url` if a page may open it. Raises ValidationFailed if it has no usable scheme, Forbidden
        otherwise."""
        try:
            parts = urlsplit(_with_slashes(url.strip()))
            port = parts.port
        except ValueError as error:
            raise ValidationFailed(f"url {url!r} is not a URL: {error}", details=_url_details(url)) from None
        if not parts.scheme or (parts.scheme not in _SCHEMES and not _is_scheme(url)):
            raise ValidationFailed(
                f"url {url!r} has no scheme.",
                hint=f'Give it in full: {{"url": "{_guess_url(url)}"}}.',
                details=_url_details(url),
            )
        if parts.scheme not in _SCHEMES or (parts.scheme == "about" and parts.path != "blank"):
            raise Forbidden(
                f"url {url!r}: the scheme {parts.scheme}: may not be opened.",
                hint="Allowed are http, https, about:blank and blob; data: too where you go there yourself (goto).",
                details=_url_details(url),
            )
        if parts.scheme in {"http", "https"}:
            self._check_host(url, parts.hostname or "", port or _PORTS[parts.scheme])
        return url.strip()

    def check_own(self, url: str) -> str:
        """Check a URL that a caller itself goes to, which may be a data: URL: that has no origin and no cookies, and
        Chromium refuses it as a link or redirect of a site. Return it. Raises ValidationFailed, Forbidden."""
        if not _is_data(url):
            return self.check_from("", url)
        if (size := len(url.encode(errors="replace"))) > _MOST_DATA_BYTES:
            raise ValidationFailed(
                f"url {abridged(url)!r} has {size:,} bytes, and a data: URL may have {_MOST_DATA_BYTES:,}.",
                hint="Go to a short one, and have evaluate_script write the rest into the page.",
                details=_url_details(abridged(url)),
            )
        return url.strip()

    def check_from(self, base: str, url: str) -> str:
        """Check a URL that may be relative to a page's, and return it in full. Raises ValidationFailed, Forbidden."""
        url = _with_slashes(url)
        return self.check(url if re.match(r"\s*[a-zA-Z][\w+.-]*:", url) else urljoin(base, url))

    def permits(self, url: str) -> bool:
        try:
            self.check(url)
        except (Forbidden, ValidationFailed):
            return False
        return True

    def suspicious(self, *, documents: bool = True) -> list[Json]:
        """Return Chromium's patterns for all http URLs that `check` may refuse; they match hardly any site."""
        own_hosts = self.own_hosts()
        ports = sorted({name.rpartition(":")[2] for name in own_hosts if ":" in name})
        names = sorted(f"{name}/" for name in own_hosts if ":" not in name)
        hosts = ["169.254.", "[fe80:", "[fd00:ec2::254]", "[::ffff:a9fe:", *sorted(_METADATA_HOSTS), *names]
        starts = [*hosts, *(f"*@{host}" for host in hosts), *(f"*:{port}/" for port in ports)]
        patterns: list[Json] = [{"urlPattern": f"*://{start}*"} for start in starts]
        if documents and (self.allow_hosts or self.deny_hosts):
            patterns.append({"urlPattern": "*", "resourceType": "Document"})
        return patterns

    def _check_host(self, url: str, host: str, port: int) -> None:
        if not host:
            raise ValidationFailed(f"url {url!r} has no host.", details=_url_details(url))
        name, address = _parse_host(host)
        if name in _METADATA_HOSTS or (address and any(address in network for network in _METADATA_NETWORKS)):
            raise Forbidden(
                f"url {url!r}: cloud metadata addresses are never opened.",
                hint="No setting opens it: go to another address.",
                details=_url_details(url),
            )
        if self._is_own(name, address, port):
            raise Forbidden(
                f"url {url!r} is this service's own address.",
                hint="Pages may not call the service; its tools do what its API does.",
                details=_url_details(url),
            )
        if _matches(name, self.deny_hosts) or (self.allow_hosts and not _matches(name, self.allow_hosts)):
            raise Forbidden(
                f"url {url!r}: the host {name} is not allowed here.",
                hint="The operator decides by BROWSE_ALLOW_HOSTS and BROWSE_DENY_HOSTS.",
                details=_url_details(url),
            )

    def _is_own(self, name: str, address: _Address | None, port: int) -> bool:
        """Recognize every name of this machine's loopback, not only the hosts that the service answers to."""
        own_hosts = self.own_hosts()
        is_local = address.is_loopback or address.is_unspecified if address else f".{name}".endswith(".localhost")
        return f"{name}:{port}" in own_hosts or (is_local and any(own.endswith(f":{port}") for own in own_hosts))


def host_name(text: str) -> str:
    """Return a host of the operator's list as it is. Raises ValueError if no host can have that name."""
    name, address = _parse_host(text)
    if address is None and not _HOST_NAME.fullmatch(name):
        guess = _guess_host(text)
        raise ValueError(
            f"{text!r} is no name of a host, so that it would match nothing. Write the host alone, such as {guess!r}: "
            "all that is below it is part of it, and every port, path and scheme."
        )
    return text


def header_host(text: str) -> str:
    """Return a value of the Host header as it is. Raises ValueError if no client can send it."""
    name, _, port = text.rpartition(":") if re.search(r":\d+$", text) else (text, "", "")
    name = name.removeprefix("[").removesuffix("]") if name.startswith("[") else name
    host, address = _parse_host(name)
    if address is None and not _HOST_NAME.fullmatch(host):
        guess = f"{_guess_host(text)}:{port or 8888}"
        raise ValueError(f"{text!r} is no value of the Host header. Write a name and its port, such as {guess!r}.")
    return text


def _guess_host(text: str) -> str:
    """Guess the host that was meant, for an error's text."""
    rest = re.sub(r"^(\w*:)?//", "", _with_slashes(text)).lstrip("*.")
    host = re.match(r"\[([0-9A-Fa-f:.]+)\]|([\w-]+(?:\.[\w-]+)*)", rest)
    return (host[1] or host[2]) if host else "example.com"


def origin_of(url: str, base: str = "") -> str | None:
    """Return the canonical origin of a URL that may be relative to `base`; None for a URL that asks no server."""
    try:
        parts = urlsplit(urljoin(base, _with_slashes(url.strip())))
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    name = _parse_host(parts.hostname)[0]
    name = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in {None, _PORTS[parts.scheme]} else "")


def is_private(origin: str) -> bool:
    """Return whether an origin's host looks like this machine's or a private network's. No name is resolved."""
    name, address = _parse_host(urlsplit(origin).hostname or "")
    if address is not None:
        return not address.is_global
    return "." not in name or name.endswith(_PRIVATE_NAMES)


def abridged(url: str) -> str:
    """Shorten a long data: URL to its beginning and its length; return any other URL as it is."""
    return f"{url[:_MOST_SHOWN]}… ({len(url)} characters)" if len(url) > 2 * _MOST_SHOWN and _is_data(url) else url


def abridged_in(value: JsonValue, urls: Collection[str]) -> JsonValue:
    """Replace these URLs by their short forms in all texts of a value."""
    long = [url for url in urls if abridged(url) != url]
    if not long:
        return value
    if isinstance(value, str):
        for url in long:
            value = value.replace(url, abridged(url))
        return value
    if isinstance(value, list):
        return [abridged_in(item, long) for item in value]
    return {key: abridged_in(item, long) for key, item in value.items()} if isinstance(value, dict) else value


def _is_data(url: str) -> bool:
    return url.lstrip()[:5].lower() == "data:"


def _with_slashes(url: str) -> str:
    """Replace backslashes, which browsers read as slashes and Python as letters, so that both see the same host."""
    return url.replace("\\", "/")


def _guess_url(url: str) -> str:
    """Guess the URL that was meant if the text looks like a host; else return an example."""
    guess = url.strip().removeprefix("//")
    host = re.match(r"[\w-]+(?:\.[\w-]+)*(?::\d+)?(?=[/?#]|$)", guess)
    if host is None:
        return "https://example.com/"
    local = host.group().partition(":")[0] in {"localhost", "127.0.0.1"}
    return f"{'http' if local else 'https'}://{guess}"


def _is_scheme(url: str) -> bool:
    """Tell a scheme from a host: `localhost:8900` parses as a scheme; `file:///x` and `javascript:x` really have
    one."""
    scheme, _, rest = url.partition(":")
    return not (rest[:1].isdigit() or "." in scheme)


def _parse_host(host: str) -> tuple[str, _Address | None]:
    """Decode percent-encoding, other scripts' digits, and every spelling of an address: 0xA9FEA9FE, 127.1."""
    name = unquote(host)
    with contextlib.suppress(UnicodeError):
        name = name.encode("idna").decode("ascii")
    name = name.rstrip(".").lower()
    try:
        address: _Address = ipaddress.ip_address(name)
    except ValueError:
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(name))
        except (OSError, ValueError):
            return name, None
    address = getattr(address, "ipv4_mapped", None) or address
    return str(address), address


def _matches(host: str, patterns: frozenset[str]) -> bool:
    return any(f".{host}".endswith(f".{_parse_host(pattern)[0]}") for pattern in patterns)


def _url_details(url: str) -> Json:
    return {"url": url, **field_details("url")}
