"""Parses JSON as the standard has it, which Python's own module goes beyond."""

import json
import math
from collections.abc import Callable


def loads(text: bytes, parse_float: Callable[[str], float] = float) -> object:
    """Return the value that a text is. Raises ValueError for broken UTF-8, for numbers that JSON does not have, and for
    nesting without end."""
    try:
        return json.loads(text.decode(), parse_constant=_refuse, parse_float=parse_float)
    except RecursionError as error:
        raise ValueError(str(error)) from None


def check_text(value: object, text: bytes) -> None:
    """Raise ValueError for half a surrogate pair in a value that a text is: it could never be sent on."""
    try:
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError(str(error)) from None


def _refuse(literal: str) -> None:
    raise ValueError(f"{literal} is not JSON")


def finite(literal: str) -> float:
    """Parse a float. Raises ValueError for one that would become infinite, and be no JSON any more."""
    number = float(literal)
    if math.isinf(number):
        raise ValueError(f"{literal[:20]} is too large")
    return number
