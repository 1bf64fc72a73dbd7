"""Refuses selectors that would do more than find elements: patterns that can take a page for minutes, and engines of
ours that act."""

import json
import re
from collections.abc import Iterator
from typing import Final

OUR_ENGINES: Final = ("as-given", "of-origin", "no-editor", "within-bounds")
"""The selector engines that the service registers for its own use. One sends an event to what it finds."""
_REFUSED: Final = frozenset({*OUR_ENGINES, "aria-template"})
_OF_TEXT: Final = frozenset(
    {"text", "text:light", "internal:text", "internal:has-text", "internal:has-not-text", "internal:label"}
)
_OF_ATTRIBUTES: Final = frozenset({"role", "internal:role", "internal:attr", "internal:testid", "_react", "_vue"})
_AROUND_OTHERS: Final = frozenset(
    {
        *("internal:has", "internal:has-not", "internal:and", "internal:or", "internal:chain"),
        *("left-of", "right-of", "above", "below", "near"),
    }
)
"""The engines whose argument is another selector, as JSON."""

_SUSPECT: Final = re.compile(rf"[/\\]|::|\.\.|text-matches|{'|'.join(_REFUSED)}", re.IGNORECASE)
_START: Final = re.compile(r"^|(?<=>>)")
"""Where a part of a chain may begin; in a quoted text, none does."""
_NAMED: Final = re.compile(r"[\s\ufeff]*\*?([a-zA-Z0-9_+:*-]+)[\s\ufeff]*=[\s\ufeff]*")
_ATTRIBUTE_PATTERN: Final = re.compile(r"=[\s\ufeff]*/")
_XPATH: Final = re.compile(r"(?:^|(?<=>>))[\s\ufeff]*\*?(?:xpath(?::light)?[\s\ufeff]*=|\(*(?=//)|(?=\.\.))")
_MOST_XPATHS: Final = 5
_LITERAL: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_STEP: Final = re.compile(
    r"(?P<opens>\[)|(?P<closes>\])|(?<![-\w])(?P<wide>preceding|following)\s*::"
    r"|(?P<absolute>(?<![\w.\])*/])/|(?<=[\s)\]])(?:and|or|div|mod)/)|(?P<back>::|\.\.)"
)
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)
_UNBOUNDED: Final = re.compile(r"[({]|[*+](?!/[^/]*\Z)")
"""Groups, and repetition, except at the end of a pattern, where it needs no second try."""
_MOST_OPTIONAL: Final = 3
_LONGEST_PATTERN: Final = 200
_WORDS: Final = re.compile(r"[^\W_][\w ]+")
_HIGHEST: Final = 0x10FFFF


def check_selector(selector: str) -> str:
    """Return a selector that only finds elements, in time that its length bounds. Raises ValueError.

    The page tries a pattern on each of its texts. Without groups and repetition that takes about as long as looking for
    words. Where two readings of a selector are possible, this one finds more patterns than Playwright does.
    """
    if _SUSPECT.search(selector):
        if "text-matches" in _CSS_ESCAPE.sub(_unescaped, selector).lower():
            raise ValueError(f":text-matches() may keep the page busy for minutes; {_instead('')}")
        for engine, body in _parts(selector):
            _check_part(engine, body)
        for number, xpath in enumerate(_XPATH.finditer(selector)):
            if number == _MOST_XPATHS:
                raise ValueError(f"a selector has at most {_MOST_XPATHS} XPaths in a chain; write them as one")
            _check_xpath(selector[xpath.end() :])
    return selector


def _check_part(engine: str, body: str) -> None:
    if engine in _REFUSED:
        raise ValueError(f"{engine}= is no selector that a call can give; {_instead('')}")
    if engine in _AROUND_OTHERS:
        check_selector(_first_text(body))
    elif engine in _OF_TEXT and body.startswith("/"):
        _check_pattern(body[1:])
    elif engine in _OF_ATTRIBUTES and (found := _ATTRIBUTE_PATTERN.search(body)):
        _check_pattern(body[found.end() :])


def _parts(selector: str) -> Iterator[tuple[str, str]]:
    """Yield each engine that the selector names, with all that follows."""
    for start in _START.finditer(selector):
        if named := _NAMED.match(selector, start.start()):
            yield named[1].removeprefix("*"), selector[named.end() :]


def _check_pattern(pattern: str) -> None:
    """Raise ValueError for a pattern that may take longer than its length and the text's. What follows it in the
    selector counts as part of it."""
    plain = _ESCAPED.sub("", pattern)
    if len(pattern) > _LONGEST_PATTERN or plain.count("?") > _MOST_OPTIONAL or _UNBOUNDED.search(plain):
        raise ValueError(
            "a pattern in a selector has at most 200 characters and no ( or {, and + or * only at its end, because it "
            f"may keep the page busy for minutes; {_instead(pattern)}"
        )


def _check_xpath(path: str) -> None:
    """Raise ValueError for conditions that look through the whole page for each element, or that do so within each
    other."""
    depth = wide = 0
    for step in _STEP.finditer(_LITERAL.sub("''", path)):
        kind = step.lastgroup
        depth += {"opens": 1, "closes": -1}.get(kind or "", 0)
        wide += kind == "wide"
        if wide > 1 or (depth > 0 and kind == "absolute") or (depth > 1 and kind in {"wide", "back"}):
            raise ValueError(
                f"{step[0]!r} in this XPath may keep the page busy for minutes; a condition may name what is in the "
                'element, as //tr[.//td="Anna"], and an XPath one thing far from it, as //label/following::input[1]'
            )


def _instead(pattern: str) -> str:
    """Return selectors that look for the longest words of a pattern."""
    words = max(_WORDS.findall(_ESCAPED.sub("\n", pattern)), key=len, default="Save").strip()
    return f'text={words} finds words, role=button[name*="{words}"i] a part of a name, and text=/save|send/i either'


def _first_text(body: str) -> str:
    try:
        inner, _ = json.JSONDecoder().raw_decode(body)
    except ValueError:  # Playwright refuses it too
        return ""
    return inner if isinstance(inner, str) else ""


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else 0
    return escape[2] or (chr(code) if code <= _HIGHEST else "\ufffd")
