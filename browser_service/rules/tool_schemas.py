"""What a page's tool has to take, for whoever calls it again: the part of its schema that given arguments need."""

import json
from collections.abc import Iterator
from typing import Final, cast

from pydantic import JsonValue

from browse_together.contract.json_lines.strict import check_size
from browse_together.contract.model import Json, list_at, object_at
from browse_together.contract.quoting import quoted

_FACTS: Final = ("type", "format")
_MOST_CHARACTERS: Final = 4_000
_MOST_CHANGES: Final = 3


def needed(schema: str, given: Json) -> Json | None:
    """Return what a schema, as JSON, says of given arguments, without its words; None if it does not name them all, or
    cannot be kept in a flow."""
    told = read(schema)
    known = object_at(told, "properties") if told is not None else {}
    if told is None or given.keys() - known.keys():
        return None
    part: Json = {"type": "object", "properties": {name: _plain(known[name]) for name in given}}
    part["required"] = [name for name in _required(told) if name in given]
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


def changes(known: Json, now: Json, given: Json) -> list[str]:
    """Say why a tool does not take what it took."""
    missing = [f"{quoted(name)} is required now" for name in _required(now) if name not in given]
    same: Json = {"type": "object", "required": []}  # of all tools, whether their schemas say so or not
    return [*missing, *_differences({**known, **same}, {**now, **same}, "")][:_MOST_CHANGES]


def typed(given: Json, schema: Json) -> Json:
    """Return the arguments, with what JSON texts say in place of those that the schema does not want as texts."""
    return {name: _typed(value, object_at(object_at(schema, "properties"), name)) for name, value in given.items()}


def wants_text(schema: Json) -> bool:
    """Return whether a property may be a text."""
    kinds = schema.get("type", "string")
    return "string" in kinds if isinstance(kinds, str | list) else True


def _typed(value: JsonValue, schema: Json) -> JsonValue:
    if not isinstance(value, str) or wants_text(schema):
        return value
    try:
        return cast("JsonValue", json.loads(value))
    except (ValueError, RecursionError):
        return value


def _plain(schema: object) -> Json:
    """Return what a schema says, without descriptions and examples."""
    if not isinstance(schema, dict):
        return {}
    part: Json = {name: schema[name] for name in _FACTS if _is_text(schema.get(name))}
    if known := object_at(schema, "properties"):
        part |= {"properties": {name: _plain(each) for name, each in known.items()}}
        part["required"] = [*_required(schema)]
    if items := object_at(schema, "items"):
        part["items"] = _plain(items)
    return part


def _required(schema: Json) -> list[str]:
    return [name for name in list_at(schema, "required") if isinstance(name, str)]


def _is_text(fact: object) -> bool:
    return isinstance(fact, str) or (isinstance(fact, list) and all(isinstance(each, str) for each in fact))


def _differences(known: Json, now: Json, where: str) -> Iterator[str]:
    name = quoted(where) if where else "it"
    for fact in _FACTS:
        if known.get(fact) != now.get(fact):
            yield f"{name} has the {fact} {_said(now.get(fact))}, and had {_said(known.get(fact))}"
    there = object_at(now, "properties")
    for each, before in object_at(known, "properties").items():
        inner = f"{where}.{each}" if where else each
        if each not in there:
            yield f"{quoted(inner)} is not there any more"
        elif isinstance(before, dict):
            yield from _differences(before, _plain(there[each]), inner)
    for needs in _required(now):
        if needs not in _required(known):
            yield f"{quoted(f'{where}.{needs}')} is required now"
    if "items" in known:
        yield from _differences(object_at(known, "items"), object_at(now, "items"), f"{where}[]")


def _said(fact: object) -> str:
    return quoted(json.dumps(fact)) if fact is not None else "none"
