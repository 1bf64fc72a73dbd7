"""Reads the names of hosts that a person writes into a list."""

import re
from typing import Final

from browser_service.security.addresses import Address, spelled_address
from browser_service.security.web_address import host_spelling

_HOST_NAME: Final = re.compile(r"(?!-)[\w-]{1,63}(\.[\w-]{1,63})*")


def host_name(text: str) -> str:
    """Return a host of the operator's list as it is. Raises ValueError if no host can have that name."""
    name, address = parse_host(text)
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
    host, address = parse_host(name)
    if address is None and not _HOST_NAME.fullmatch(host):
        guess = f"{_guess_host(text)}:{port or 8888}"
        raise ValueError(f"{text!r} is no value of the Host header. Write a name and its port, such as {guess!r}.")
    return text


def _guess_host(text: str) -> str:
    """Guess the host that was meant, for an error's text."""
    rest = re.sub(r"^(\w*:)?//", "", with_slashes(text)).lstrip("*.")
    host = re.match(r"\[([0-9A-Fa-f:.]+)\]|([\w-]+(?:\.[\w-]+)*)", rest)
    return (host[1] or host[2]) if host else "example.com"


def parse_host(host: str) -> tuple[str, Address | None]:
    """Spell a host as browsers do: decoded, in lower case and ASCII, and an address as such: 0xA9FEA9FE, 127.1."""
    try:
        name = host_spelling(f"[{host}]" if host.count(":") > 1 else host)
    except ValueError:
        name = host.rstrip(".").lower()
    return name, spelled_address(name)


def with_slashes(url: str) -> str:
    """Replace backslashes, which browsers read as slashes and Python as letters, so that both see the same host."""
    return url.replace("\\", "/")
