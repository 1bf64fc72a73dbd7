"""Parses origins that a person writes, and matches URLs with those that a token is limited to: `https://shop.example`,
`https://*.shop.example`."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from browser_service.security.addresses import spelled_address
from browser_service.security.globs import matches_glob
from browser_service.security.urls import origin_of
from browser_service.security.web_address import host_spelling, web_address

_FORM: Final = re.compile(r"https?://[^\s/?#@\\*]+/?", re.IGNORECASE)
_RIGHT_FORM: Final = "write scheme and host, such as https://shop.example, or https://*.shop.example for all below it"
_BLANK: Final = frozenset({"", "about:blank", "about:client"})
_LITERAL_ORIGIN: Final = re.compile(r"(https?://[^/*?#\\\s]+)/", re.IGNORECASE)
_NOWHERE: Final = "https://relative.invalid"


def origin_pattern(text: str) -> str:
    """Return a pattern in its canonical form. Raises ValueError, which names the right form, if no page's origin can
    match it."""
    given = text.strip()
    if given in {"*", "*://*", "http*://*"}:
        raise ValueError(f"{given!r} is every origin: leave --origin out")
    top = given.replace("://*.", "://", 1)
    origin = whole_origin(top)
    if origin is None or (top != given and spelled_address(web_address(origin).host)):
        raise ValueError(f"{given!r} is no origin, so that it would match nothing: {_RIGHT_FORM}")
    return origin if top == given else origin.replace("://", "://*.", 1)


def whole_origin(text: str) -> str | None:
    """Return the origin that a person wrote, in its canonical form; None for a text that is none, or has more."""
    origin = origin_of(text) if _FORM.fullmatch(text) else None
    try:
        at = web_address(origin or "")
        host_spelling(at.host)
    except ValueError:
        return None
    return origin if at.port else None


def within(patterns: Iterable[str], url: str) -> bool:
    """Return whether a URL is at one of the origins. A blank page is, because it has no content."""
    if url.strip() in _BLANK or url.startswith("about:blank#"):
        return True
    origin = origin_of(url.strip().removeprefix("blob:"))
    return origin is not None and any(matches_glob(pattern, origin) for pattern in patterns)


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
