"""Where pages may go."""

import ipaddress
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from urllib.parse import urlsplit

from shared.calls import Json
from shared.errors import Forbidden, ValidationFailed

_SCHEMES = frozenset({"http", "https", "about", "blob"})
_METADATA_HOSTS = frozenset({"metadata.google.internal", "metadata.goog", "metadata"})
_METADATA_NETWORKS = (
    ipaddress.ip_network("169.254.0.0/16"),
    ipaddress.ip_network("fe80::/10"),
    ipaddress.ip_network("fd00:ec2::254/128"),
)


@dataclass(frozen=True)
class UrlPolicy:
    """Decides about one URL at a time: what a caller asks for, and what a page then really loads."""

    own_hosts: Callable[[], AbstractSet[str]] = frozenset
    """host:port of this service: its API is not for pages."""
    allow_hosts: frozenset[str] = frozenset()
    deny_hosts: frozenset[str] = frozenset()

    def check(self, url: str) -> str:
        """`url`, if a page may open it. Raises ValidationFailed without a usable scheme, Forbidden otherwise."""
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError as error:
            raise ValidationFailed(f"url {url!r} is not a URL: {error}", details=_at(url)) from None
        if not parts.scheme or (parts.scheme not in _SCHEMES and not _known_scheme(url)):
            guess = f"https://{url.lstrip('/')}"
            raise ValidationFailed(
                f"url {url!r} has no scheme.", hint=f'Give it in full: {{"url": "{guess}"}}.', details=_at(url)
            )
        if parts.scheme not in _SCHEMES or (parts.scheme == "about" and url.split("#", 1)[0] != "about:blank"):
            raise Forbidden(
                f"url {url!r}: the scheme {parts.scheme}: may not be opened.",
                hint="Allowed are http, https, about:blank and blob.",
                details=_at(url),
            )
        if parts.scheme in {"http", "https"}:
            self._check_host(url, parts.hostname or "", port or (443 if parts.scheme == "https" else 80))
        return url.strip()

    def permits(self, url: str) -> bool:
        try:
            self.check(url)
        except (Forbidden, ValidationFailed):
            return False
        return True

    def _check_host(self, url: str, host: str, port: int) -> None:
        if not host:
            raise ValidationFailed(f"url {url!r} has no host.", details=_at(url))
        name = host.rstrip(".").lower()
        if name in _METADATA_HOSTS or _is_metadata_address(name):
            raise Forbidden(f"url {url!r}: cloud metadata addresses are never opened.", details=_at(url))
        if f"{name}:{port}" in self.own_hosts():
            raise Forbidden(f"url {url!r} is this service's own address.", details=_at(url))
        if _matches(name, self.deny_hosts) or (self.allow_hosts and not _matches(name, self.allow_hosts)):
            raise Forbidden(
                f"url {url!r}: the host {name} is not allowed here.",
                hint="The operator decides by BROWSE_ALLOW_HOSTS and BROWSE_DENY_HOSTS.",
                details=_at(url),
            )


def _known_scheme(url: str) -> bool:
    """`localhost:8900` parses as a scheme; `file:///x` and `javascript:x` really are ones."""
    scheme, _, rest = url.partition(":")
    return not (rest[:1].isdigit() or "." in scheme)


def _is_metadata_address(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return any(mapped in network for network in _METADATA_NETWORKS if network.version == mapped.version)


def _matches(host: str, patterns: frozenset[str]) -> bool:
    return any(host == pattern or host.endswith(f".{pattern}") for pattern in patterns)


def _at(url: str) -> Json:
    return {"url": url, "context": {"field": "url"}}
