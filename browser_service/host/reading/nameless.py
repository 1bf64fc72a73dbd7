"""Reads what our script gives Playwright as the name of a field without one: the field's type and its `name`."""

import re
from json.encoder import encode_basestring
from typing import Final

_SIGN: Final = "\u2063"
_GIVEN: Final = re.compile(f"{_SIGN}([a-z-]*) ([^{_SIGN}]*){_SIGN}")
_PLAIN: Final = re.compile(r"[\w.-]+")
_NAME: Final = "name="


def read(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a name without what our script gave, and the marks that this makes if it is the whole name."""
    if _SIGN not in name:
        return name, ()
    if (found := _GIVEN.fullmatch(name)) is None:  # the name of a row repeats what is in it
        return " ".join(_GIVEN.sub("", name).split()), ()
    type_, own = found.groups()
    written = own if _PLAIN.fullmatch(own) else encode_basestring(own)
    return "", (*([f"type={type_}"] if type_ else []), *([f"{_NAME}{written}"] if own else []))


def own_name(marks: tuple[str, ...]) -> str:
    """Return the `name` among a field's marks."""
    return next((mark.removeprefix(_NAME).strip('"') for mark in marks if mark.startswith(_NAME)), "")


def without_name(marks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(mark for mark in marks if not mark.startswith(_NAME))
