"""Decides where pages may go.

It is longer than 300 lines because every place that checks an address asks this one policy.
"""

import contextlib
import re
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from browser_service.security.addresses import (
    METADATA_HOSTS,
    Address,
    destinations,
    is_local,
    is_metadata,
    is_public,
    metadata_patterns,
    spelled_address,
)
from browser_service.security.hosts import header_places, parse_host, with_slashes
from browser_service.security.url_rules import NotAllowedError, UrlRules
from browser_service.security.web_address import web_address
from shared.cuts import cut
from shared.errors import Forbidden, ValidationFailed, field_details
from shared.model import Json
from shared.next_calls import next_call
from shared.userinfo import without_userinfo
from shared.wire import DEFAULT_SESSION

BROWSERS_OWN = ("chrome-extension:", "chrome:")
"""Beginnings of addresses of the browser's own parts, such as its PDF viewer."""
_SCHEMES = frozenset({"http", "https", "about", "blob"})
_MOST_DATA_BYTES = 65_536
"""Size limit of data: URLs, because every change of a page stores its URL."""
_MOST_SHOWN = 120
_OWN = "it is this service's own address, or its browser's"
_ANOTHERS = "this session runs on another machine, whose own addresses, such as localhost, are not opened"
_PORTS = {"http": 80, "https": 443}
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".test", ".home.arpa")
"""Endings that no public site's name has."""
_SHOWN_RULES = 5
_LOOPBACK_NAMES = ("127.*", "localhost.", "*.localhost", "*.localhost.", "0.0.0.*", "[::1]", "[::]", "*::ffff:7f*")
"""Chromium host patterns that lead to this machine."""


@dataclass(frozen=True)
class UrlPolicy:
    """The policy for URLs, asked about one at a time: a caller's, and each that its page then loads."""

    own_hosts: Callable[[], AbstractSet[str]] = frozenset
    """Returns host:port of this service, whose API pages may not call, and of the debugging port of an attached
    browser. An address among them is refused under every name that leads to it, if there is a gate."""
    rules: UrlRules = field(default_factory=UrlRules)
    public_only: bool = False
    """Whether this machine and private networks are refused."""
    elsewhere: bool = False
    """Whether the pages run on another machine than the service."""
    opens_loopback: bool = True
    """Whether pages may reach the machine on which they run."""
    refuses: frozenset[str] = frozenset()
    """Addresses that no page reaches, at no port; only where there is a gate."""

    def check(self, url: str) -> str:
        """Return `url` if a page may open it. Raises ValidationFailed if it has no usable scheme, Forbidden
        otherwise."""
        try:
            parts = urlsplit(with_slashes(url.strip()))
            _ = parts.port
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
        if parts.scheme in _PORTS:
            self._check_host(url, parts.hostname or "")
        elif parts.scheme == "blob" and parts.path.startswith(("http:", "https:")):
            self.check(parts.path)
        if parts.scheme != "about":
            self._check_rules(url)
        return url.strip()

    def check_own(self, url: str) -> str:
        """Check and return a URL to which a caller navigates. It may be a data: URL, which has no origin and no
        cookies, and which Chromium refuses as a site's link or redirect. Raises ValidationFailed, Forbidden."""
        if not _is_data(url):
            return self.check_from("", url)
        if (size := len(url.encode(errors="replace"))) > _MOST_DATA_BYTES:
            raise ValidationFailed(
                f"url {abridged(url)!r} has {size:,} bytes, and a data: URL may have {_MOST_DATA_BYTES:,}.",
                hint="Go to a short one, and have evaluate_script write the rest into the page.",
                details=_url_details(abridged(url)),
            )
        self._check_rules(url)
        return url.strip()

    def check_from(self, base: str, url: str) -> str:
        """Check a URL that may be relative to `base`, and return it in full. Raises ValidationFailed, Forbidden."""
        url = with_slashes(url)
        if re.match(r"\s*[a-zA-Z][\w+.-]*:", url):
            return self.check(url)
        with contextlib.suppress(ValueError):  # else the check says what is wrong with it
            url = urljoin(base, url)
        return self.check(url)

    def permits(self, url: str) -> bool:
        try:
            self.check(url)
        except (Forbidden, ValidationFailed):
            return False
        return True

    def refusal(self, url: str) -> str:
        """Return briefly why a URL is refused; empty if it is not."""
        try:
            self.check(url)
        except ValidationFailed:
            return "it is no URL that pages can have"
        except Forbidden as error:
            return error.message.removeprefix(f"url {url!r}").strip(":. ")
        return ""

    @property
    def needs_gate(self) -> bool:
        """Return whether every connection must be checked, not only those for possible documents."""
        return self.public_only or self.elsewhere or (self.rules.for_requests and bool(self.rules))

    def unreachable_hosts(self) -> list[str]:
        """Return Chromium patterns of the hosts, some with a port, to which nothing may ever be sent."""
        own, ports = sorted(self.own_hosts()), self._own_ports()
        return [*metadata_patterns(), *own, *(f"{name}:{port}" for port in ports for name in _LOOPBACK_NAMES)]

    def check_server(self, place: str) -> None:
        """Check the host:port of a proxy. Raises Forbidden if pages may not go there or nothing may be sent there."""
        self._check_host(url := f"http://{place}", place)
        at = web_address(url)
        if reason := self.refusal_of_host(at.host, at.port):
            raise Forbidden(f"{place} is no proxy for a session: {reason}.", hint="Choose another one, or none.")

    def refusal_of_host(self, host: str, port: int) -> str:
        """Return why nothing may be sent to a host, judging by host and port alone; empty if it may."""
        if host in METADATA_HOSTS:
            return "cloud metadata addresses are never opened"
        if self._is_named(host, port):
            return _OWN
        if self.rules.for_requests and self.rules.closes(host, port):
            return "BROWSE_URL_BLACKLIST or BROWSE_URL_WHITELIST keeps pages from it"
        return ""

    def refusal_of_address(self, address: Address, port: int) -> str:
        """Return why nothing may connect to an address; empty if it may."""
        if is_metadata(address):
            return "cloud metadata addresses are never opened"
        if (is_local(address) and str(port) in self._own_ports()) or any(
            self._is_named(str(each), port) for each in destinations(address)
        ):
            return _OWN
        if not self.opens_loopback and is_local(address):
            return _ANOTHERS
        if any(str(each) in self.refuses for each in destinations(address)):
            return "whoever runs this host keeps pages from this address (--refuse)"
        if self.public_only and not is_public(address):
            return "BROWSE_PRIVATE_NETWORK keeps pages from this machine and private networks"
        return ""

    def suspicious(self) -> list[Json]:
        """Return Chromium patterns that match every http URL which `check` may refuse. Without rules they match hardly
        any site."""
        names = sorted(name for name, port in self._own_places() if not port and ":" not in name)
        hosts = ["[", *(host for host in metadata_patterns() if ":" not in host), *names]
        starts = [*hosts, *(f"*@{host}" for host in hosts), *(f"*:{port}/" for port in self._own_ports())]
        patterns: list[Json] = [{"urlPattern": f"*://{start.removesuffix('*')}*"} for start in starts]
        if self.rules.for_requests and self.rules.allowed:
            return [{"urlPattern": "*"}]
        if self.rules.for_requests:
            patterns += [{"urlPattern": pattern} for pattern in self.rules.denied_patterns]
        if self.rules or self.public_only or self.elsewhere:
            patterns.append({"urlPattern": "*", "resourceType": "Document"})
        return patterns

    def _check_host(self, url: str, host: str) -> None:
        if not host:
            raise ValidationFailed(f"url {url!r} has no host.", details=_url_details(url))
        try:
            place = web_address(url.strip())
        except ValueError:
            raise ValidationFailed(f"url {url!r}: {host!r} is no host.", details=_url_details(url)) from None
        name, address = place.host, spelled_address(place.host)
        if name in METADATA_HOSTS or (address and is_metadata(address)):
            raise Forbidden(
                f"url {url!r}: cloud metadata addresses are never opened.",
                hint="No setting opens it: go to another address.",
                details=_url_details(url),
            )
        if self._is_own(name, address, place.port):
            raise Forbidden(
                f"url {url!r}: {_OWN}.",
                hint="Pages may call neither; the service's tools do what its API does.",
                details=_url_details(url),
            )
        if not self.opens_loopback and _is_loopback(name, address):
            on_default = next_call("open_page", session_id=DEFAULT_SESSION, url=url)
            raise Forbidden(
                f"url {url!r}: {_ANOTHERS}.",
                hint=f"The session {DEFAULT_SESSION!r} runs on the service's own machine: {on_default}. Who runs this "
                "host can open its addresses with --allow-loopback.",
                details=_url_details(url),
            )
        if self.public_only and (not is_public(address) if address else is_private_name(name)):
            raise _refused_by(url, "this machine and private networks are not opened here", "BROWSE_PRIVATE_NETWORK")

    def _check_rules(self, url: str) -> None:
        if not self.rules:
            return
        shown, allowed = abridged(url), [rule.text for rule in self.rules.allowed]
        try:
            denied = self.rules.against(url.strip())
        except NotAllowedError:
            some = ", ".join(allowed[:_SHOWN_RULES]) + (", ..." if len(allowed) > _SHOWN_RULES else "")
            raise _refused_by(shown, f"allowed is only {some}", "BROWSE_URL_WHITELIST") from None
        except ValueError:
            raise ValidationFailed(f"url {shown!r} is not a URL.", details=_url_details(shown)) from None
        if denied is not None:
            raise _refused_by(shown, f"denied by the rule {denied.text}", "BROWSE_URL_BLACKLIST", denied.text)

    def _is_own(self, name: str, address: Address | None, port: int) -> bool:
        """Return whether this is the service itself, under any name of this machine's loopback."""
        return self._is_named(name, port) or (_is_loopback(name, address) and str(port) in self._own_ports())

    def _is_named(self, host: str, port: int) -> bool:
        own = self._own_places()
        return (host, str(port)) in own or (port in _PORTS.values() and (host, "") in own)

    def _own_ports(self) -> list[str]:
        return sorted({port for _, port in self._own_places()} - {""})

    def _own_places(self) -> frozenset[tuple[str, str]]:
        return header_places(frozenset(self.own_hosts()))


def origin_of(url: str, base: str = "") -> str | None:
    """Return the canonical origin of a URL that may be relative to `base`; None for a URL without a server."""
    try:
        parts = urlsplit(urljoin(base, with_slashes(url.strip())))
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return None
    name = parse_host(parts.hostname)[0]
    name = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in {None, _PORTS[parts.scheme]} else "")


def is_private(origin: str) -> bool:
    """Return whether an origin's host looks like this machine or a private network. No name is resolved."""
    name, address = parse_host(urlsplit(origin).hostname or "")
    return not is_public(address) if address is not None else is_private_name(name)


def _is_loopback(name: str, address: Address | None) -> bool:
    return is_local(address) if address else f".{name}".endswith(".localhost")


def is_private_name(name: str) -> bool:
    """Return whether no public site can have this name."""
    return "." not in name or name.endswith(_PRIVATE_NAMES)


def abridged(url: str) -> str:
    """Return a URL as replies show it: without userinfo, and a long data: URL shortened to its beginning and length."""
    if len(url) > 2 * _MOST_SHOWN and _is_data(url):
        return f"{cut(url, _MOST_SHOWN)}… ({len(url)} characters)"
    return without_userinfo(url)


def abridged_in(value: JsonValue, urls: Collection[str]) -> JsonValue:
    """Replace these URLs by their short forms in all texts of a value."""
    if not (long := [url for url in urls if ("@" in url or len(url) > 2 * _MOST_SHOWN) and abridged(url) != url]):
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


def _guess_url(url: str) -> str:
    """Guess which URL was meant if the text looks like a host, else return an example."""
    guess = url.strip().removeprefix("//")
    host = re.match(r"[\w-]+(?:\.[\w-]+)*(?::\d+)?(?=[/?#]|$)", guess)
    if host is None:
        return "https://example.com/"
    local = host.group().partition(":")[0] in {"localhost", "127.0.0.1"}
    return f"{'http' if local else 'https'}://{guess}"


def _is_scheme(url: str) -> bool:
    """Tell a scheme from a host: `localhost:8900` parses as one with a scheme, `file:///x` and `javascript:x` have
    one."""
    scheme, _, rest = url.partition(":")
    return not (rest[:1].isdigit() or "." in scheme)


def _url_details(url: str) -> Json:
    return {"url": url, **field_details("url")}


def _refused_by(url: str, why: str, setting: str, rule: str = "") -> Forbidden:
    """Make the refusal for a rule of the account's owner, with who can allow the URL and how."""
    name = setting.removeprefix("BROWSE_").lower()
    return Forbidden(
        f"url {url!r} ({setting}): {why}.",
        hint=f"Go elsewhere, or ask the account's owner, who changes it: browse-together config set {name} ..., then "
        "browse-together down and up --detach.",
        details={"url": url, "context": {"field": "url", "setting": setting, **({"rule": rule} if rule else {})}},
    )
