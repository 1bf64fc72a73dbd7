"""Reads the calls that a reply names, so that a test can make them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from browse_together.contract.catalogue import NAMES
from tests.support.json import AnyJson

_NAMED: Final = re.compile(rf"(?<![\w\"'])({'|'.join(sorted(NAMES, key=len, reverse=True))}) (?=\{{)")
_DOTS: Final = re.compile(r'("(?:[^"\\]|\\.)*")|, \.\.\.(?=\})|\{\.\.\.\}|\.\.\.')
_OPEN: Final[tuple[AnyJson, ...]] = ("...", ["..."], {})


def named_calls(said: str, given: Mapping[str, AnyJson]) -> Iterator[tuple[str, dict[str, AnyJson]]]:
    """Yield the calls that a text names; what they leave to the caller is taken from what is `given`."""
    for named in _NAMED.finditer(said):
        spelled, _ = json.JSONDecoder().raw_decode(_DOTS.sub(_as_json, said[named.end() :]))
        yield named[1], {name: _filled(name, value, given) for name, value in spelled.items()}


def _filled(name: str, value: AnyJson, given: Mapping[str, AnyJson]) -> AnyJson:
    if value in _OPEN:
        return given[name]
    if isinstance(value, dict):
        return {inner: _filled(inner, each, given) for inner, each in value.items()}
    return [_filled(name, each, given) for each in value] if isinstance(value, list) else value


def _as_json(dots: re.Match[str]) -> str:
    return dots[1] or {"{...}": "{}", ", ...": ""}.get(dots[0], '"..."')
