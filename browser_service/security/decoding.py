"""Decodes what a text says: percent escapes, HTML entities, the escapes of JSON and JavaScript, base64. Each span of a
decoded text is traced back to the span of the original that it came from."""

import binascii
import html
import json
import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

_MOST_LAYERS: Final = 5
_ESCAPE: Final = re.compile(
    r"""(%u[0-9a-fA-F]{4}
    |%[cdCD][0-9a-fA-F]%[89abAB][0-9a-fA-F]
    |%[eE][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){2}
    |%[fF][0-7](?:%[89abAB][0-9a-fA-F]){3}
    |%[0-9a-fA-F]{2}
    |&(?:\#[xX][0-9a-fA-F]{1,6}|\#[0-9]{1,7}|[a-zA-Z][a-zA-Z0-9]{1,31});
    |\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    |\\u[0-9a-fA-F]{4}
    |\\U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}
    |\\x[0-9a-fA-F]{2}
    |\\[^ux])""",
    re.VERBOSE | re.DOTALL,
)
_LINE: Final = 60
_LINE_BREAK: Final = re.compile(rf"(?<=[a-zA-Z0-9+/]{{{_LINE}}})(\s{{1,2}})(?=[a-zA-Z0-9+/])")
"""What is between the lines of base64 as mail has it."""
_ESCAPED_BLANKS: Final = "nrtfv"
_BASE64: Final = f"{string.ascii_letters}{string.digits}+/".encode()
_TO_BASE64: Final = bytes.maketrans(b"-_ ", b"+/A")
"""Makes both alphabets of base64 one, and every other character one that can be decoded."""
_OTHERS_BLANK: Final = bytes(sign if sign in _BASE64 + b"-_" else ord(" ") for sign in range(256))
_ALIKE: Final = bytes(ord(" ") if sign == ord(" ") else ord("A") for sign in range(256))


class Layer(NamedTuple):
    """A decoded text, and the function that returns the span of the original for a span of it."""

    text: str
    origin: Callable[[int, int], tuple[int, int]]


def layers(text: str) -> Iterator[Layer]:
    """Yield a text as it is, then with its escapes undone, then with those undone that were escaped, and so on."""
    return _unescaped(Layer(text, lambda start, end: (start, end)))


def base64_layers(below: Layer, least: int) -> Iterator[Layer]:
    """Yield what a text encodes in base64 of at least so many characters, wherever that begins, and the layers of that.
    Each byte is a character."""
    encoded = _base64_of(below.text)
    alike = encoded.translate(_ALIKE)
    if b"A" * least not in alike:
        return
    if b"A" * _LINE in alike:
        below = _replaced(below, _LINE_BREAK.split(below.text), lambda _: "")
        encoded = _base64_of(below.text)
    encoded = encoded.translate(_TO_BASE64)
    for shift in range(4):
        whole = encoded[shift : len(encoded) - (len(encoded) - shift) % 4]
        yield from _unescaped(_from_base64(below, whole, shift))


def _base64_of(text: str) -> bytes:
    """Return a text with blanks instead of what is not base64."""
    return text.encode("latin-1", "replace").translate(_OTHERS_BLANK)


def _unescaped(layer: Layer) -> Iterator[Layer]:
    yield layer
    for _ in range(_MOST_LAYERS):
        text = layer.text
        if not ("%" in text or "&" in text or "\\" in text) or len(pieces := _ESCAPE.split(text)) == 1:
            return
        layer = _replaced(layer, pieces, _said)
        yield layer


def _replaced(below: Layer, pieces: list[str], say: Callable[[str], str]) -> Layer:
    """Return the layer over one that was split into literal texts and, in turns, what is replaced."""
    said = [*pieces]
    said[1::2] = map(say, pieces[1::2])
    ends: list[list[int]] = []

    def origin(start: int, end: int) -> tuple[int, int]:
        if not ends:  # most texts need none
            ends.extend([*accumulate(map(len, texts))] for texts in (said, pieces))
        first, last = bisect_right(ends[0], start), bisect_right(ends[0], end - 1)
        begin = ends[1][first] - len(pieces[first]) + (0 if first % 2 else start - ends[0][first] + len(said[first]))
        return below.origin(begin, ends[1][last] - (0 if last % 2 else ends[0][last] - end))

    return Layer("".join(said), origin)


def _from_base64(below: Layer, encoded: bytes, shift: int) -> Layer:
    def origin(start: int, end: int) -> tuple[int, int]:
        """Return the span of all characters that have a bit of these bytes."""
        return below.origin(shift + start + start // 3, shift + end + 1 + (end - 1) // 3)

    return Layer(binascii.a2b_base64(encoded).decode("latin-1"), origin)


@lru_cache(maxsize=4_096)
def _said(escape: str) -> str:
    """Return what one escape stands for. Bytes that are not UTF-8 are read as browsers read ISO-8859-1."""
    sign, kind = escape[0], escape[1]
    if sign == "&":
        return html.unescape(escape)
    if kind == "u":
        text: str = json.loads(f'"{escape.replace("%", chr(92))}"')
        return text
    if len(escape) == len(r"\U0001f600"):
        return chr(int(escape[-6:], 16))
    if sign == "\\" and kind != "x":
        return " " if kind in _ESCAPED_BLANKS else kind
    data = bytes.fromhex(escape.replace("%", "").removeprefix("\\x"))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
