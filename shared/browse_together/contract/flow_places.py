"""Tells a selector by which an element is found again from one that only says where it stood."""

import re
from typing import Final

_INTO_FRAME: Final = "internal:control=enter-frame >> "
_BY_WORDS: Final = "xpath=/descendant::text()[normalize-space()="
"""How a path from the words of a row begins, in which a number means the nearest."""
_QUOTED: Final = re.compile(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """, re.VERBOSE)
_NUMBER: Final = re.compile(
    r"\bnth=|:nth-|:(?:first|last)-(?:child|of-type)\b|\[\s*\d+\s*\]|\b(?:position|last|count)\("
)
_TAGS: Final = re.compile(r"(?:#|[a-z][\w-]*(?:[\[: >]|$)).*", re.DOTALL)


def is_place(selector: str) -> bool:
    """Return whether a selector finds an element by its place in the document, where another may be by now: by a
    number, or by tags and ids."""
    return is_numbered(selector) or _TAGS.fullmatch(_last(selector)) is not None


def is_numbered(selector: str) -> bool:
    """Return whether a selector finds an element by a number in order."""
    last = _last(selector)
    return not last.startswith(_BY_WORDS) and _NUMBER.search(_QUOTED.sub("", last)) is not None


def _last(selector: str) -> str:
    return selector.rpartition(_INTO_FRAME)[2]
