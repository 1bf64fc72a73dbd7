"""Matches URLs with the origins that a token is limited to: `https://shop.example`, `https://*.shop.example`."""

import re
from collections.abc import Collection, Iterable
from typing import Final
from urllib.parse import urlsplit

from browser_service.security.urls import origin_of

_BELOW: Final = "*."
_FORM: Final = re.compile(r"https?://(\*\.)?([^\s/?#@*\[\]:]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?/?", re.IGNORECASE)
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_BLANK: Final = frozenset({"", "about:blank", "about:client"})
_LITERAL_ORIGIN: Final = re.compile(r"(https?://[^/*?#\\\s]+)/", re.IGNORECASE)
_NOWHERE: Final = "https://relative.invalid"


def origin_pattern(text: str) -> str:
    """Return a pattern in its canonical form. Raises ValueError, which names the right form, if no page's origin can
    match it."""
    given = text.strip()
    right_form = "write scheme and host, such as https://shop.example, or https://*.shop.example for all below it"
    if not given:
        raise ValueError(f"an origin is empty: {right_form}")
    if given in {"*", "*://*", "http*://*"}:
        raise ValueError(f"{given!r} is every origin: leave --origin out")
    if not _FORM.fullmatch(given):
        raise ValueError(f"{given!r} is no origin, so that it would match nothing: {right_form}")
    scheme, _, rest = given.partition("://")
    is_below = rest.startswith(_BELOW)
    origin = origin_of(f"{scheme.lower()}://{rest.removeprefix(_BELOW)}")
    host = (urlsplit(origin).hostname or "") if origin else ""
    is_address = bool(re.fullmatch(r"[0-9.]+|.*:.*", host))
    if origin is None or not (is_address or all(map(_LABEL.fullmatch, host.split(".")))):
        raise ValueError(f"{given!r} has no name that a host can have: {right_form}")
    if is_below and is_address:
        raise ValueError(f"{given!r}: nothing is below an address; {right_form}")
    return origin.replace("://", f"://{_BELOW}", 1) if is_below else origin


def within(patterns: Iterable[str], url: str) -> bool:
    """Return whether a URL is at one of the origins. A blank page is, because it has no content."""
    if url.strip() in _BLANK or url.startswith("about:blank#"):
        return True
    origin = origin_of(url.strip().removeprefix("blob:"))
    return origin is not None and any(_matches(pattern, origin) for pattern in patterns)


def first_outside(patterns: Collection[str], urls: Iterable[str]) -> str | None:
    """Return the first document URL that is at none of the origins, or None; without patterns, everything is inside.
    Documents without an origin of their own (srcdoc frames and the browser's error pages) count as inside."""
    shown = (url for url in urls if not url.startswith(("about:srcdoc", "chrome-error:")))
    return next((url for url in shown if patterns and not within(patterns, url)), None)


def asks_within(patterns: Iterable[str], url: str) -> bool:
    """Return whether a URL that a page will request is at one of the origins, or is relative and so at the page's
    own."""
    return origin_of(url, _NOWHERE) == _NOWHERE or within(patterns, url)


def pattern_within(patterns: Iterable[str], pattern: str) -> bool:
    """Return whether a URL pattern can match only at one of the origins, because it begins with a complete one."""
    literal = _LITERAL_ORIGIN.match(pattern)
    return literal is not None and within(patterns, literal[1])


def _matches(pattern: str, origin: str) -> bool:
    if "://*." not in pattern:
        return origin == pattern
    scheme, _, rest = pattern.partition("://*.")
    return origin.startswith(f"{scheme}://") and origin.partition("://")[2].endswith(f".{rest}")
