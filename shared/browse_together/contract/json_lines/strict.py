"""Parses standard JSON, which Python's own module extends, and limits it first: while a text is parsed and its values
are checked, the whole process waits."""

import json
import math
from typing import Final

MOST_VALUES: Final = 20_000
"""The most values in a text's lists and objects, at any depth."""
MOST_DEPTH: Final = 64
_MOST_FIGURES: Final = 40
_AROUND: Final = 20
_NO_BRACKETS: Final = bytes(sorted({*range(256)} - {*b"[]{}"}))


class TooMuch(ValueError):
    """Raised for a text that is not parsed, because of how many values it has."""


class HalfCharacter(ValueError):
    """Raised for a text with half of a surrogate pair, such as half an emoji, which UTF-8 cannot carry."""


def loads(text: bytes, most_values: int = MOST_VALUES) -> object:
    """Parse a text. Raises ValueError for broken UTF-8, deep nesting, duplicate keys, and numbers that JSON does not
    have or that are out of range; TooMuch for too many values."""
    check_size(text, most_values)
    return json.loads(
        text.decode("utf-8-sig"),
        object_pairs_hook=distinct,
        parse_constant=_refuse,
        parse_float=finite,
        parse_int=_whole,
    )


def check_size(text: bytes, most_values: int = MOST_VALUES) -> None:
    """Raise TooMuch for a text with too many values to parse while others wait, and ValueError for deep nesting.
    Strings may have any length."""
    opened = text.count(b"[") + text.count(b"{")
    if opened <= MOST_DEPTH and opened + text.count(b",") <= most_values:
        return
    outside, depth = _outside_strings(text, most_values), 0
    for bracket in outside.translate(None, _NO_BRACKETS)[: 2 * most_values]:
        depth = depth + 1 if bracket in b"[{" else max(depth - 1, 0)
        if depth > MOST_DEPTH:
            raise ValueError(f"it is nested deeper than {MOST_DEPTH} levels")
    if outside.count(b",") + outside.count(b"[") + outside.count(b"{") > most_values:
        raise _too_many(most_values)


def check_text(value: object, text: bytes) -> None:
    """Raise HalfCharacter, with the surrounding text, for half a surrogate pair in a text's value."""
    if b"\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        around = error.object[max(error.start - _AROUND, 0) : error.start + _AROUND]
        words = f"{json.dumps(error.object[error.start])} is half of a character; send the whole character. It is here"
        raise HalfCharacter(f"{words}: {json.dumps(around)[1:-1]}") from None


def _outside_strings(text: bytes, most_values: int) -> bytes:
    """Return the text without its strings. Each step takes as long as reading the text once."""
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    if unescaped.count(b'"') > 4 * most_values + 2:  # two for each value, and two for its key
        raise _too_many(most_values)
    return b"".join(unescaped.split(b'"')[::2])


def _too_many(most: int) -> TooMuch:
    return TooMuch(f"it has more than {most:,} values")


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object. Raises ValueError for duplicate keys: parsers disagree on which value counts, so the checked
    value might not be the used one."""
    made = dict[str, object]()
    for name, value in pairs:
        if name in made:
            raise ValueError(f"an object has the key {name[:100]!r} twice")
        made[name] = value
    return made


def _refuse(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")


def finite(literal: str) -> float:
    """Parse a float. Raises ValueError if it is infinite, which JSON cannot express."""
    number = float(literal)
    if math.isinf(number):
        raise ValueError(f"{literal[:20]} is too large")
    return number


def _whole(literal: str) -> int:
    if len(literal) > _MOST_FIGURES:
        raise ValueError(f"{literal[:20]}… is too large")
    return int(literal)
