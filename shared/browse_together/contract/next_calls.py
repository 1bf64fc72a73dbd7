"""Spells the calls that errors, hints and notices name: `goto {"url": "..."}`, and reads them back.

It looks nothing up, because actions name calls too; a test holds every call against the catalogue. It does not import
pydantic, because a gateway answers with such calls before it has loaded that."""

import json
import re
from collections.abc import Mapping
from types import EllipsisType
from typing import Final

_DOTS: Final = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=, )(\.\.\.)(?=\}$)|\{\.\.\.\}|\[\.\.\.\]|\.\.\.')
"""A string, or dots outside of strings, which mean further arguments, an object, items or a value."""
_ARGUMENT_CHARACTERS: Final = 2_000
"""The most characters searched for the end of arguments."""


def next_call(action: str, *more: EllipsisType, **given: object) -> str:
    """Return a call in words, such as `next_call("snapshot")` or `next_call("goto", page_id="cart", url="...")`.

    Argument names are those that callers use, in snake case, and `as_` for `as`. An Ellipsis stands for a value that
    the caller fills in: after the action for further arguments, as `[...]` for items, as `{...}` for an object.
    """
    arguments = [f'"{_camel(name.removesuffix("_"))}": {_spelled(value)}' for name, value in given.items()]
    return f"{action} {{{', '.join([*arguments, *map(_spelled, more)])}}}"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return "".join([first, *(word.capitalize() for word in others)])


def _spelled(value: object) -> str:
    if value is ...:
        return "..."
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{json.dumps(name)}: {_spelled(item)}' for name, item in value.items())}}}"
    if isinstance(value, set):
        return f"{{{', '.join(map(_spelled, value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_spelled, value))}]"
    return json.dumps(value, ensure_ascii=False)


def end_of_arguments(text: str, start: int) -> int | None:
    """Return the end of the object that begins at `start`. It may be JSON, or contain placeholders such as `{...}`."""
    depth, quoted, escaped = 0, False, False
    for place in range(start, min(len(text), start + _ARGUMENT_CHARACTERS)):
        character = text[place]
        if quoted:
            quoted, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return place + 1
    return None


def given_in(arguments: str) -> dict[str, object] | None:
    """Parse the arguments of a spelled call; None if they are none. What the caller must fill in stays three dots, and
    the key `...` stands for further arguments."""
    if arguments == "{...}":
        return {"...": True}
    try:
        given: dict[str, object] = json.loads(_DOTS.sub(_quoted_dots, arguments))
    except ValueError:
        return None
    return given


def _quoted_dots(found: re.Match[str]) -> str:
    """Return dots for a value to fill in as JSON; keep a string."""
    if found[1]:
        return found[1]
    return '"...": true' if found[2] else f'"{found[0]}"'
