"""What a page's tool has to take, for whoever calls it again: the part of its schema that given arguments need, and
what the schema that it has by now says against them."""

import json
from collections.abc import Iterator
from itertools import chain, islice
from types import NoneType
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract.json_lines.strict import check_size
from browse_together.contract.model import Json, object_at
from browse_together.contract.quoting import quoted

_FACTS: Final = ("type", "format")
_ELSEWHERE: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
"""Where a schema has in another place what it says of a value."""
_KINDS: Final[dict[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    NoneType: "null",
}
_MOST_CHARACTERS: Final = 4_000
_MOST_CHANGES: Final = 3


def needed(schema: str, given: Json, *, consequential: bool) -> Json | None:
    """Return what a schema, as JSON, says of given arguments, without its words; None if it does not name them all,
    does not fit them, or cannot be kept in a flow."""
    told = read(schema)
    known = object_at(told, "properties") if told is not None else {}
    if told is None or given.keys() - known.keys() or _refusals(told, given):
        return None
    kinds = {name: {"type": _KINDS[type(value)]} for name, value in given.items()}
    part: Json = {"type": "object", "properties": {name: {**kinds[name], **_plain(known[name])} for name in given}}
    part |= {"consequential": True} if consequential else {}
    text = json.dumps(part)
    return part if len(text) <= _MOST_CHARACTERS and "{{" not in text else None


def read(schema: str) -> Json | None:
    """Return a schema; None if its text is not whole, or so deep that nothing could pass it on."""
    try:
        check_size(schema.encode())
        told = json.loads(schema or "{}")
    except ValueError:
        return None
    return told if isinstance(told, dict) else {}


def changes(known: Json, now: Json, given: Json, *, consequential: bool) -> list[str]:
    """Say why a tool is not called with arguments that it took: it does not take them any more, or they may mean
    something else by now."""
    graver = ["it is consequential now"] if consequential and not known.get("consequential") else []
    return [*islice(chain(graver, _differences(known, now, ""), _refusals(now, given)), _MOST_CHANGES)]


def typed(given: Json, schema: Json) -> Json:
    """Return the arguments, with what JSON texts say in place of those that the schema does not want as texts."""
    return {name: _typed(value, object_at(object_at(schema, "properties"), name)) for name, value in given.items()}


def wants_text(schema: Json) -> bool:
    """Return whether a property may be a text."""
    kinds = schema.get("type", "string")
    return "string" in kinds if isinstance(kinds, str | list) else True


def _refusals(schema: Json, given: Json) -> list[str]:
    from browser_service.rules.schema_checks import refusals  # noqa: PLC0415 - 90 ms, and most services never need it

    return refusals(schema, given, _MOST_CHANGES)


def _typed(value: JsonValue, schema: Json) -> JsonValue:
    if not isinstance(value, str) or wants_text(schema):
        return value
    try:
        return cast("JsonValue", json.loads(value))
    except (ValueError, RecursionError):
        return value


def _plain(schema: object) -> Json:
    """Return which properties a schema names, and of what type and format they are."""
    if not isinstance(schema, dict):
        return {}
    part: Json = {name: schema[name] for name in _FACTS if _is_text(schema.get(name))}
    if known := object_at(schema, "properties"):
        part["properties"] = {name: _plain(each) for name, each in known.items()}
    if items := object_at(schema, "items"):
        part["items"] = _plain(items)
    return part


def _is_text(fact: object) -> bool:
    return isinstance(fact, str) or (isinstance(fact, list) and all(isinstance(each, str) for each in fact))


def _differences(known: Json, now: Json, where: str) -> Iterator[str]:
    """Say which names are gone, and which formats are others: a schema may well let both pass."""
    if now.keys() & _ELSEWHERE:
        return
    if known.get("format") != now.get("format") and where:
        yield f"{quoted(where)} has the format {_said(now.get('format'))}, and had {_said(known.get('format'))}"
    there = object_at(now, "properties")
    for name in object_at(known, "properties"):
        inner = f"{where}.{name}" if where else name
        if name not in there:
            yield f"{quoted(inner)} is not there any more"
        else:
            yield from _differences(object_at(object_at(known, "properties"), name), object_at(there, name), inner)
    if "items" in known:
        yield from _differences(object_at(known, "items"), object_at(now, "items"), f"{where}[]")


def _said(fact: object) -> str:
    return quoted(json.dumps(fact)) if fact is not None else "none"
