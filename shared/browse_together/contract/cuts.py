"""Cuts others' texts. A cut never leaves part of a secret: the text then ends with the secret's mark instead.

The service defines what is secret (`hide`). A page's script cannot know it, so it marks its cuts and sends a little
more text (`host/scripts/cut.js`), which `without_ends` removes.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final, NamedTuple

from pydantic import JsonValue

BEYOND: Final = 2_000
"""The characters that a script sends after a cut. A longer secret is recognized by this part."""
_MOST_CUTS: Final = 2_000
_CUT: Final = "\ufdd0"
_END: Final = re.compile("\ufdd0([^\ufdd0\ufdd1]*)\ufdd1")
"""Unicode reserves these two characters for internal use by programs."""


def shown_of(count: int, most: int) -> int:
    """Return how many of a list to show: one more than the most, if it fits where "and 1 more" would stand."""
    return count if count <= most + 1 else most


class SecretSpan(NamedTuple):
    """The place of a secret in a text, and its replacement."""

    start: int
    end: int
    mark: str


Search = Callable[[str, int], SecretSpan | None]
"""Finds the secret that begins before a position in a text and ends after it."""
_searches: Final[list[Search]] = []


@contextmanager
def _hidden(search: Search) -> Iterator[None]:
    _searches.append(search)
    try:
        yield
    finally:
        _searches.remove(search)


def hide(search: Search) -> AbstractContextManager[None]:
    """Until the context ends, never cut a secret found by `search` in two."""
    return _hidden(search)


def cut(text: str, most: int) -> str:
    """Return the first `most` characters of a text."""
    found = _across(text, most) if most < len(text) else None
    return text[:most] if found is None else text[: found.start] + found.mark


def last(text: str, most: int) -> str:
    """Return the last `most` characters of a text."""
    at = max(0, len(text) - most)
    found = _across(text, at)
    return text[at:] if found is None else found.mark + text[found.end :]


def shortened(text: str, most: int) -> str:
    """Return a text, or its first `most` characters and an ellipsis."""
    return text if len(text) <= most else f"{cut(text, most)}…"


def without_ends(value: JsonValue) -> JsonValue:
    """Remove the text that a page's script sent after its cuts. If there are more cuts than our scripts make, the cut
    texts are left out."""
    return _without_ends(value, iter(range(_MOST_CUTS)))


def _without_ends(value: JsonValue, room: Iterator[int]) -> JsonValue:
    if isinstance(value, str):
        return _without_end(value, room) if _CUT in value else value
    if isinstance(value, list):
        return [_without_ends(each, room) for each in value]
    if isinstance(value, dict):
        return {
            _without_end(key, room) if _CUT in key else key: _without_ends(each, room) for key, each in value.items()
        }
    return value


def _without_end(text: str, room: Iterator[int]) -> str:
    pieces, at = [], 0
    for found in _END.finditer(text):
        head = text[at : found.start()]
        pieces.append("" if next(room, None) is None else cut(head + found[1], len(head)))
        at = found.end()
    return "".join([*pieces, text[at:]])


def _across(text: str, at: int) -> SecretSpan | None:
    places = [found for search in _searches if at < len(text) and (found := search(text, at))]
    return min(places, default=None)
