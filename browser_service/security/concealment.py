"""Hides secrets in every text that leaves the service: their names stand there instead."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain, repeat
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, JsonValue

from browse_together.contract.cuts import SecretSpan
from browse_together.contract.errors import ResourceExhausted
from browse_together.contract.named_secrets import LEAST_CHARACTERS
from browser_service.security.decoding import base64_layers, layers

_LEAST_CASELESS: Final = 6
"""A shorter secret in other case would match too many unrelated texts."""
_LEAST_NUMBER: Final = 1_000
_PIECE: Final = 100_000
"""Characters that are decoded at once, so that a long text takes little memory, and other threads get their turns."""
_SPELLED: Final = 16
"""How many characters may stand for one."""
_KNOWN_BY: Final = 150
"""What a cut leaves of a longer secret is recognized by this many characters."""
_OF_PAGES: Final = frozenset({"value", "data", "body"})
"""Result fields with content made by pages and scripts, where a number can be a code."""
_UNSHOWN: Final = frozenset({"taken_logins", "state"})
"""Fields of the host's messages in which secrets stay: they are never shown and must be put back unchanged (logins that
were saved or taken)."""
_NOT_IN_NAMES: Final = re.compile(r'[<>:"/\\|?*~]')
"""Characters that Chromium replaces by `_` in the name of a download."""

MOST_SEARCH_S: Final = 0.2
"""The processor time that one search through a file or a text may take."""

M = TypeVar("M", bound=BaseModel)
Clock = Callable[[], float]


class SearchTime:
    """The processor time that is left to a search, in the thread that makes it."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._ends_at = clock, clock() + MOST_SEARCH_S

    def check(self) -> None:
        """Raise ResourceExhausted if none is left."""
        if self._clock() > self._ends_at:
            raise ResourceExhausted(
                f"Searching it for named secrets took over {MOST_SEARCH_S * 1_000:.0f} ms, so that it is not given.",
                hint="Ask for less: a part of the page, a shorter time, without pictures or bodies. All of it is given "
                "only while a person keeps no secret (`browse-together secret list`).",
            )


class _Needle(NamedTuple):
    """A text to look for, and its mark. A quick search finds `anchor`, its longest part without blanks."""

    anchor: str
    text: str
    mark: str
    rest: int = 0
    """The characters of the secret after the text."""


class Concealment:
    """The texts to hide, in whatever encoding they stand; each is replaced by `«secret:NAME»`."""

    def __init__(self, appearances: Iterable[tuple[str, str]] = (), clock: Clock = time.thread_time) -> None:
        """`appearances` are pairs of a secret's name and a text by which it appears."""
        self._clock = clock
        known = [(f"«secret:{name}»", text) for name, text in appearances]
        lengths = [len(text) for _, text in known] or [0]
        self._numbers: dict[float, str] = {
            int(text): mark for mark, text in known if text.isdecimal() and int(text) >= _LEAST_NUMBER
        }
        self._needles = [_needle(form, mark) for mark, text in known for form in _forms(text)]
        self.hides_any = bool(self._needles)
        self._bytes = [_needle(form, mark) for mark, text in known for form in _said(text) | _wide(text)]
        """Those for what base64 encodes: fewer, because there are many ways to decode it."""
        self._heads = [_needle(each.text[:_KNOWN_BY], each.mark, len(each.text[_KNOWN_BY:])) for each in self._needles]
        self._least_base64 = min(lengths) * 4 // 3
        self._reach = _SPELLED * (max(lengths) + 1)

    def finds(self, value: JsonValue) -> bool:
        """Return whether a JSON value may have a secret in it."""
        text = "\n".join(_texts(value))
        return any(True for _ in self._places(text)) or any(str(number) in text for number in self._numbers)

    def time(self) -> SearchTime:
        """Return the time of a search that begins now, in this thread."""
        return SearchTime(self._clock)

    def in_time(self, text: str) -> str:
        """Return a long text without secrets. Raises ResourceExhausted if that takes too long."""
        return self.text(text, self.time())

    def text(self, text: str, time: SearchTime | None = None) -> str:
        """Return a text without secrets, the same object if it has none. Raises ResourceExhausted at the end of the
        search's time."""
        if not self._needles:
            return text
        shown, at = list[str](), 0
        for place in sorted(self._places(text, time), key=lambda place: (place.start, -place.end)):
            if place.start >= at:
                shown += (text[at : place.start], place.mark)
            at = max(at, place.end)
        return "".join([*shown, text[at:]]) if shown else text

    def message(self, message: M) -> M:
        """Return a message without secrets, the same object if it has none."""
        if not self.hides_any or not self.finds(shown := message.model_dump(mode="json", exclude={*_UNSHOWN})):
            return message
        kept = {name: getattr(message, name) for name in _UNSHOWN if name in type(message).model_fields}
        return type(message).model_validate(self.value(shown)).model_copy(update=kept)

    def across(self, text: str, at: int) -> SecretSpan | None:
        """Return the first secret that begins before position `at` of a text and ends after it, or None."""
        first = max(0, at - self._reach)
        places = self._within(text[first : at + self._reach], self._heads, first)
        return min((place for place in places if place.start < at < place.end), default=None)

    def value(self, value: JsonValue, *, of_page: bool = False) -> JsonValue:
        """Return a JSON value without secrets, keys included. Numbers are searched only in values that pages made."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item, of_page=of_page) for item in value]
        if isinstance(value, dict):
            return {
                self.text(key): self.value(item, of_page=of_page or key in _OF_PAGES) for key, item in value.items()
            }
        return self._numbers.get(value, value) if of_page and isinstance(value, int | float) else value

    def _places(self, text: str, time: SearchTime | None = None) -> Iterator[SecretSpan]:
        """Yield where a text has secrets. Pieces that overlap are decoded one after the other."""
        for at in range(0, len(text), _PIECE):
            if at and time is not None:
                time.check()
            yield from self._within(text[at : at + _PIECE + self._reach], self._needles, at)

    def _within(self, text: str, needles: list[_Needle], first: int) -> Iterator[SecretSpan]:
        """Yield where these stand in a part of a text that begins at `first`, in whatever encoding."""
        if not needles:
            return
        read = [*layers(text)]
        encoded = base64_layers(read[-1], self._least_base64)
        for layer, sought in chain(zip(read, repeat(needles)), zip(encoded, repeat(self._bytes))):
            for needle in sought:
                if needle.anchor in layer.text:
                    for found in _pattern(needle.text).finditer(layer.text):
                        start, end = layer.origin(found.start(), min(len(layer.text), found.end() + needle.rest))
                        yield SecretSpan(first + start, first + end, needle.mark)


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts, keys and numbers of a JSON value."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _needle(text: str, mark: str, rest: int = 0) -> _Needle:
    return _Needle(max(text.split() or [text], key=len), text, mark, rest)


@lru_cache(maxsize=1_000)
def _pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of a text, with blanks as HTML draws them and forms spell them."""
    return re.compile(r"[\s+]+".join(map(re.escape, text.split())) or re.escape(text))


def _forms(text: str) -> set[str]:
    """Return the texts by which a secret is known: as it is, in other case, as the name of a file, in hexadecimal, and
    without the backslash at its end that escapes what follows."""
    cased = {text, text.upper(), text.lower()} if len(text) >= _LEAST_CASELESS else {text}
    data = text.encode().hex()
    plain = _said(*cased, _NOT_IN_NAMES.sub("_", text), text.removesuffix("\\"))
    return plain | _wide(text) | {data, data.upper()}


def _said(*texts: str) -> set[str]:
    """Return texts, also as bytes, and what is left of them if parts of them look like escapes."""
    found = {layer.text for text in texts for layer in layers(text)}
    found |= {text.encode("utf-8", "replace").decode("latin-1") for text in found}
    return {text for text in found if len(text) >= LEAST_CHARACTERS}


def _wide(text: str) -> set[str]:
    return {text.encode(charset).decode("latin-1") for charset in ("utf-16-le", "utf-16-be")}
