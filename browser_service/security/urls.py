"""Decides where pages may go.

It is longer than 300 lines because every place that checks an address asks this one policy.
"""

import contextlib
import re
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from ada_url import URL, join_url
from pydantic import JsonValue

from browse_together.contract.cuts import cut
from browse_together.contract.errors import Forbidden, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.userinfo import without_userinfo
from browse_together.contract.wire import DEFAULT_SESSION
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
from browser_service.security.url_rules import NotAllowedError, UrlRules
from browser_service.security.web_address import WebAddress, encodable, header_places, web_address

BLANK: Final = "about:blank"
ERROR_PAGE: Final = "chrome-error:"
"""How the address of the browser's own error page begins."""
BROWSERS_OWN = ("chrome-extension:", "chrome:")
"""Beginnings of addresses of the browser's own parts, such as its PDF viewer."""
_SCHEMES = frozenset({"http", "https", "about", "blob"})
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+-]*):(?!\d)", re.IGNORECASE)
"""The scheme of a URL, as opposed to a host and its port: `localhost:8900`, `example.com:x`."""
_BLANK = re.compile(r"\s*about:blank([?#]|\s*$)", re.IGNORECASE)
_HOSTLESS = re.compile(r"\s*https?:/{3}", re.IGNORECASE)
"""A URL whose host was left empty: browsers would take the first part of its path for one."""
_IGNORED = str.maketrans("", "", "\t\n\r")
"""Characters that browsers ignore anywhere in a URL."""
_MOST_DATA_BYTES = 65_536
"""Size limit of data: URLs, because every change of a page stores its URL."""
_MOST_SHOWN = 120
_METADATA = "cloud metadata addresses are never opened"
_OWN = "it is this service's own address, or its browser's"
_ANOTHERS = "this session runs on another machine, whose own addresses, such as localhost, are not opened"
_REFUSED = "whoever runs this host keeps pages from this address (--refuse)"
_PRIVATE = "this machine and private networks are not opened here (BROWSE_PRIVATE_NETWORK)"
_HINTS = {
    _METADATA: "No setting opens it: go to another address.",
    _OWN: "Pages may call neither; the service's tools do what its API does.",
    _ANOTHERS: "The session {session!r} runs on the service's own machine: {call}. Who runs this host can open its "
    "addresses with --allow-loopback.",
    _REFUSED: "Go to another address.",
}
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
        if (scheme := _scheme(url)) is None:
            raise ValidationFailed(
                f"url {url!r} has no scheme.",
                hint=f'Give it in full: {{"url": "{_guess_url(url)}"}}.',
                details=_url_details(url),
            )
        if scheme not in _SCHEMES or (scheme == "about" and not _BLANK.match(url)):
            raise Forbidden(
                f"url {url!r}: the scheme {scheme}: may not be opened.",
                hint="Allowed are http, https, about:blank and blob; data: too where you go there yourself (goto).",
                details=_url_details(url),
            )
        place = None
        with contextlib.suppress(ValueError):
            place = web_address(url)
        if place is None or _HOSTLESS.match(url):
            raise ValidationFailed(
                f"url {url!r} is not a URL.", hint="Give it as browsers show it.", details=_url_details(url)
            )
        if place.scheme in _PORTS:
            self._check_place(url, place)
        if scheme != "about":
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
        if _scheme(url) is None and _scheme(base) in _PORTS:
            with contextlib.suppress(ValueError):  # else the check says what is wrong with it
                url = join_url(base, encodable(url))
        return self.check(url)

    def permits(self, url: str) -> bool:
        return not self.refusal(url)

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
        at = web_address(f"http://{place}")
        if reason := self.refusal_of_host(at.host, at.port):
            raise Forbidden(f"{place} is no proxy for a session: {reason}.", hint="Choose another one, or none.")

    def refusal_of_host(self, host: str, port: int) -> str:
        """Return why nothing may be sent to a host, judging by host and port alone; empty if it may."""
        if reason := self._reason(host, spelled_address(host), port):
            return reason
        closed = self.rules.for_requests and self.rules.closes(host, port)
        return "BROWSE_URL_BLACKLIST or BROWSE_URL_WHITELIST keeps pages from it" if closed else ""

    def refusal_of_address(self, address: Address, port: int) -> str:
        """Return why nothing may connect to an address; empty if it may."""
        return self._reason(str(address), address, port)

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

    def _check_place(self, url: str, place: WebAddress) -> None:
        reason = self._reason(place.host, spelled_address(place.host), place.port)
        if reason == _PRIVATE:
            raise _refused_by(url, "this machine and private networks are not opened here", "BROWSE_PRIVATE_NETWORK")
        if reason:
            on_default = next_call("open_page", session_id=DEFAULT_SESSION, url=url)
            hint = _HINTS[reason].format(session=DEFAULT_SESSION, call=on_default)
            raise Forbidden(f"url {url!r}: {reason}.", hint=hint, details=_url_details(url))

    def _reason(self, name: str, address: Address | None, port: int) -> str:
        """Return why nothing may be sent to a host, judging by its name and, if it is known, its address."""
        names = {name, *map(str, destinations(address) if address else ())}
        local = is_local(address) if address else f".{name}".endswith(".localhost")
        if name in METADATA_HOSTS or (address and is_metadata(address)):
            return _METADATA
        if (local and str(port) in self._own_ports()) or any(self._is_named(each, port) for each in names):
            return _OWN
        if local and not self.opens_loopback:
            return _ANOTHERS
        if not names.isdisjoint(self.refuses):
            return _REFUSED
        return _PRIVATE if self.public_only and _is_private(name, address) else ""

    def _check_rules(self, url: str) -> None:
        if not self.rules:
            return
        shown, allowed = abridged(url), [rule.text for rule in self.rules.allowed]
        try:
            denied = self.rules.against(url.strip())
        except NotAllowedError:
            some = ", ".join(allowed[:_SHOWN_RULES]) + (", ..." if len(allowed) > _SHOWN_RULES else "")
            raise _refused_by(shown, f"allowed is only {some}", "BROWSE_URL_WHITELIST") from None
        if denied is not None:
            raise _refused_by(shown, f"denied by the rule {denied.text}", "BROWSE_URL_BLACKLIST", denied.text)

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
        parsed = URL(encodable(url), encodable(base) or None)
    except ValueError:
        return None
    if parsed.protocol not in {"http:", "https:"}:
        return None
    at = web_address(f"{parsed.protocol}//{parsed.host}/")
    host = f"[{at.host}]" if ":" in at.host else at.host
    return f"{at.scheme}://{host}" + (f":{at.port}" if at.port != _PORTS[at.scheme] else "")


def _is_private(name: str, address: Address | None) -> bool:
    return not is_public(address) if address else "." not in name or name.endswith(_PRIVATE_NAMES)


def _scheme(url: str) -> str | None:
    found = _SCHEME.match(url.translate(_IGNORED))
    return found[1].lower() if found else None


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


def _url_details(url: str) -> Json:
    return {"url": url, **field_details("url")}


def _refused_by(url: str, why: str, setting: str, rule: str = "") -> Forbidden:
    """Make the refusal for a rule of the account's owner, with who can allow the URL and how."""
    name = setting.removeprefix("BROWSE_").lower()
    return Forbidden(
        f"url {url!r} ({setting}): {why}.",
        hint=f"Go elsewhere, or ask the account's owner, who changes {name} in the file that browse-together config "
        "names, then: browse-together down and up --detach.",
        details={"url": url, "context": {"field": "url", "setting": setting, **({"rule": rule} if rule else {})}},
    )
