"""Parses host names that a person writes into a list."""

import re
from functools import lru_cache
from typing import Final

from browser_service.security.addresses import Address, spelled_address
from browser_service.security.web_address import host_spelling

_ORIGIN: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[^\s/?#@\\:\[\]]+)(:(?P<port>[0-9]{1,5}))?/?"
)
_PORTS: Final = {"http": 80, "https": 443}
_MOST_PORT: Final = 65_535
_HOST_NAME: Final = re.compile(r"(?!-)[\w-]{1,63}(\.[\w-]{1,63})*")


def header_host(text: str) -> str:
    """Return a Host header's value unchanged. Raises ValueError if no client can send it."""
    name, port = _header_place(text)
    host, address = parse_host(name)
    if address is None and not _HOST_NAME.fullmatch(host):
        guess = f"{_guess_host(text)}:{port or 8888}"
        raise ValueError(f"{text!r} is no value of the Host header. Write a name and its port, such as {guess!r}.")
    return text


@lru_cache(maxsize=8)
def header_places(hosts: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return hosts, spelled as browsers do and without brackets, and ports of values of the Host header; "" for the
    port that is usual."""
    return frozenset((parse_host(name)[0], port) for name, port in map(_header_place, hosts))


def _header_place(text: str) -> tuple[str, str]:
    name, _, port = text.rpartition(":") if re.search(r":\d+$", text) else (text, "", "")
    return (name[1:-1] if name.startswith("[") else name), port


def public_origin(text: str) -> str:
    """Return an origin that a person wrote, spelled as browsers do. Raises ValueError if it is none."""
    parts = _ORIGIN.fullmatch(text.lower())
    host, address = parse_host(parts["host"].strip("[]")) if parts else ("", None)
    port = int(parts["port"] or 0) if parts else 0
    is_port = parts is not None and (parts["port"] is None or 0 < port <= _MOST_PORT)
    if parts is None or not is_port or not (address or _HOST_NAME.fullmatch(host)):
        raise ValueError(
            f"{text!r} is no address of a service. Write scheme, host and, if it is not the usual one, the port, such "
            f"as 'https://{_guess_host(text)}'; no path can be part of it."
        )
    scheme, shown = parts["scheme"], f":{port}" if port not in {0, _PORTS[parts["scheme"]]} else ""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}{shown}"


def _guess_host(text: str) -> str:
    """Guess which host was meant, for an error text."""
    rest = re.sub(r"^(\w*:)?//", "", with_slashes(text)).lstrip("*.")
    host = re.match(r"\[([0-9A-Fa-f:.]+)\]|([\w-]+(?:\.[\w-]+)*)", rest)
    return (host[1] or host[2]) if host else "example.com"


def parse_host(host: str) -> tuple[str, Address | None]:
    """Return a host as browsers spell it (decoded, lower case, ASCII; 0xA9FEA9FE and 127.1 as plain addresses), and its
    address if it is one."""
    try:
        name = host_spelling(f"[{host}]" if host.count(":") > 1 else host)
    except ValueError:
        name = host.rstrip(".").lower()
    return name, spelled_address(name)


def with_slashes(url: str) -> str:
    """Replace backslashes, which browsers take for slashes and Python for letters, so that both see the same host."""
    return url.replace("\\", "/")
