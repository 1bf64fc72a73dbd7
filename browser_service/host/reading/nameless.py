"""Reads what our script gives Playwright as the name of a field: the type and the `name` of one without a name, and
whether nobody can see it because it is off the page."""

import re
from json.encoder import encode_basestring
from typing import Final

_SIGN: Final = "\u2063"
_AWAY: Final = "\u2064"
_SIDES: Final = 2
_GIVEN: Final = re.compile(f"{_SIGN}([a-z-]*) ([^{_SIGN}]*){_SIGN}")
_PLAIN: Final = re.compile(r"[\w.-]+")
_NAME: Final = "name="


def read(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a name without what our script gave, and the marks that this makes if it is of the element itself. The
    name of a row repeats what is in it."""
    is_away = name.startswith(_AWAY) and name.endswith(_AWAY) and name.count(_AWAY) == _SIDES
    name, away = name.replace(_AWAY, "").strip(), ("off-page",) if is_away else ()
    if _SIGN not in name:
        return name, away
    found = _GIVEN.search(name) if away else _GIVEN.fullmatch(name)
    said = " ".join(_GIVEN.sub("", name).split())
    if found is None:
        return said, away
    type_, own = found.groups()
    written = own if _PLAIN.fullmatch(own) else encode_basestring(own)
    return said, (*([f"type={type_}"] if type_ else []), *([f"{_NAME}{written}"] if own else []), *away)


def own_name(marks: tuple[str, ...]) -> str:
    """Return the `name` among a field's marks."""
    return next((mark.removeprefix(_NAME).strip('"') for mark in marks if mark.startswith(_NAME)), "")


def without_name(marks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(mark for mark in marks if not mark.startswith(_NAME))
