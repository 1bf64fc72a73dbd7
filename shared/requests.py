"""Detects ambiguous requests, which we might read differently than the program that wrote or forwarded them."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

MOST_HEADERS: Final = 100
TARGET: Final = "browse_together.target"
"""The key in a request's scope for its original target, if that is no path."""
_ONCE: Final = frozenset(
    (
        *(b"host", b"origin", b"authorization", b"content-type", b"content-length", b"transfer-encoding"),
        *(b"sec-fetch-site", b"x-api-key", b"mcp-session-id", b"mcp-protocol-version"),
        *(
            b"x-browse-call",
            b"x-browse-attempt",
            b"x-browse-reply",
            b"x-browse-inline",
            b"x-browse-catalogue",
            b"x-browse-chat",
        ),
    )
)
"""The headers that we read. Each may occur only once."""


def ambiguity(headers: Sequence[tuple[bytes, bytes]], target: str) -> str:
    """Return what is ambiguous in a request, or "". Names of headers are in lower case. `target` is the text between
    method and version."""
    if len(headers) > MOST_HEADERS:
        return f"The request has {len(headers)} headers; {MOST_HEADERS} are read."
    seen = set[bytes]()
    for name, _ in headers:
        if name in seen:
            return f"The request has the header {name.decode()} twice."
        if name in _ONCE:
            seen.add(name)
    if {b"content-length", b"transfer-encoding"} <= seen:
        return "The request says in two ways how long its body is."
    return "" if target.startswith("/") or target == "*" else _other_authority(headers, target)


def _other_authority(headers: Sequence[tuple[bytes, bytes]], target: str) -> str:
    """Return what is wrong with a target that is a whole URL: it must repeat the Host header."""
    host = next((value for name, value in headers if name == b"host"), b"").decode("latin-1")
    try:
        authority = urlsplit(target).netloc
    except ValueError:
        authority = ""
    if authority.lower() == host.lower() and authority:
        return ""
    return f"The request is to {target[:200]!r}, and its Host header is {host[:200]!r}."
