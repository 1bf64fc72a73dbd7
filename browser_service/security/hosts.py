"""Parses values of the Host header."""

import contextlib
import re
from functools import lru_cache

from browser_service.security.addresses import spelled_address
from browser_service.security.web_address import host_spelling


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
