"""Spells the calls that errors, hints and notices name: `goto {"url": "..."}`.

It looks nothing up, because actions name calls too; a test holds every call against the catalogue. It does not import
pydantic, because a gateway answers with such calls before it has loaded that."""

import json
from collections.abc import Mapping
from types import EllipsisType


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
