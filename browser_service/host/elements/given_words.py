"""Remembers the words that clients gave a page, to tell them from its own. This is limited and only in memory."""

import re
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl, urlsplit

_MOST: Final = 500
_MOST_OF_ONE: Final = 50
_MOST_FIELDS: Final = 20
_MOST_CHARACTERS: Final = 2_000
"""Of one text or address; a page may make its own longer at any time."""
_PART: Final = 3
"""From this length on, a word also counts as a part of another, as of its plural."""
_WORD: Final = re.compile(r"\w+")
_BESIDE: Final = re.compile(r"…(?:\W+…)+")


class GivenWords:
    """The words that were given to fields, or stood in queries, in all documents of a page so far."""

    def __init__(self) -> None:
        self._words = deque[str](maxlen=_MOST)

    def note(self, texts: Iterable[str]) -> None:
        for text in islice(texts, _MOST_FIELDS):
            found = islice(_WORD.finditer(text[:_MOST_CHARACTERS]), _MOST_OF_ONE)
            self._words.extend(word for each in found if (word := each[0].lower()) not in self._words)

    def note_query(self, url: str) -> None:
        self.note(value for _, value in parse_qsl(urlsplit(url[:_MOST_CHARACTERS]).query))

    def left_out_of(self, text: str) -> str:
        """Return a text of the page with `…` for each such word."""
        return _BESIDE.sub("…", _WORD.sub(lambda found: "…" if self._has(found[0].lower()) else found[0], text))

    def _has(self, word: str) -> bool:
        return any(
            each == word or (each in word and (len(each) >= _PART or not each.isascii())) for each in self._words
        )
