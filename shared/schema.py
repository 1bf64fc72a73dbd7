"""Makes pydantic's JSON Schema plain: no $ref, no null unions, no root anyOf, nothing that clients reject."""

import re
from functools import cache
from typing import cast

from pydantic import AliasChoices, JsonValue

from shared.actions.arguments import MOST_TEXT
from shared.actions.base import Action, PageAction
from shared.actions.traits import Unaddressed

Schema = dict[str, JsonValue]

_NOISE = ("title", "$defs")
_UNSAID: tuple[tuple[str, JsonValue], ...] = (
    ("minLength", 1),
    ("additionalProperties", False),
    ("additionalProperties", {}),
)


_HIDDEN = frozenset({"pattern", "maxLength", "maxItems", "maxProperties", "propertyNames"})
"""Names what tool lists leave out: descriptions say better how a text looks, and nobody meets a limit by chance."""


def kebab(name: str) -> str:
    """Write `fullPage` and `full_page` as `full-page`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("_", "-").lower()


def plain(schema: Schema) -> Schema:
    """Return `schema` with references inlined, null unions dropped, `const` written as `enum`, and titles removed."""
    definitions = cast("dict[str, Schema]", schema.get("$defs", {}))
    return cast("Schema", _plain(schema, definitions))


def _plain(node: JsonValue, definitions: dict[str, Schema]) -> JsonValue:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    node = _without_null(node)
    if isinstance(reference := node.get("$ref"), str):
        target = definitions[reference.removeprefix("#/$defs/")]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    simple: Schema = {}
    for key, value in node.items():
        if key == "properties" and isinstance(value, dict):
            simple[key] = {name: _plain(child, definitions) for name, child in value.items()}
        elif key == "const":
            simple["enum"] = [value]
        elif key not in _NOISE:
            simple[key] = _plain(value, definitions)
    if simple.get("type") == "string" and "enum" not in simple:
        simple.setdefault("maxLength", MOST_TEXT)  # which the base of all arguments sees to
    return simple


def _without_null(node: Schema) -> Schema:
    """Drop null from a union: `int | None` is an int that may be left out."""
    node = {key: value for key, value in node.items() if not (key == "default" and value is None)}
    options = node.get("anyOf")
    if not isinstance(options, list):
        return node
    real = [option for option in options if option != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    if len(real) == 1 and isinstance(real[0], dict):
        return {**real[0], **rest}
    return {**rest, "anyOf": real}


@cache
def full_schema(action: type[Action]) -> Schema:
    """Return the schema of every argument of an action: its own first, then what it inherits. It is cached; do not
    change it."""
    schema = plain(cast("Schema", action.model_json_schema(by_alias=True)))
    properties = cast("dict[str, Schema]", schema.get("properties", {}))
    inherited = inherited_names(action)
    ordered = [name for name in properties if name not in inherited] + [
        name for name in properties if name in inherited
    ]
    result: Schema = {"type": "object", "properties": {name: properties[name] for name in ordered}}
    if required := schema.get("required"):
        result["required"] = required
    return {**result, "additionalProperties": False}


def listed_schema(action: type[Action]) -> Schema:
    """Return what a tool list shows: of the inherited arguments `pageId` only, because each costs tokens on every tool.

    An action that has a page of its own shows none."""
    schema = full_schema(action)
    properties = cast("dict[str, Schema]", schema["properties"])
    shown = set() if action.unaddressed is Unaddressed.OWN_PAGE else {"pageId"}
    hidden = inherited_names(action) - shown
    listed = {name: _brief(value) for name, value in properties.items() if name not in hidden}
    required = cast("list[str]", schema.get("required", []))
    for name, others in second_names(action).items():
        if name in required and name in listed:
            listed[name]["description"] = f"Required, also as {' or '.join(others)}. {listed[name]['description']}"
    named_once = [name for name in required if name not in second_names(action)]
    shape: Schema = {"type": "object", "properties": {**listed}}
    return {**shape, "required": [*named_once]} if named_once else shape


def _brief(node: Schema) -> Schema:
    """Drop what a description says better, or goes without saying; the service checks it all the same. Nothing forbids
    extra properties, because clients refuse what a schema forbids."""
    brief = {key: value for key, value in node.items() if (key, value) not in _UNSAID and key not in _HIDDEN}
    for key in ("items", "additionalProperties"):
        if isinstance(inner := brief.get(key), dict):
            brief[key] = _brief(inner)
    if isinstance(inner := brief.get("properties"), dict):
        brief["properties"] = {name: _brief(cast("Schema", value)) for name, value in inner.items()}
    if isinstance(options := brief.get("anyOf"), list):
        brief["anyOf"] = [_brief_option(cast("Schema", option)) for option in options]
    return brief


def _brief_option(option: Schema) -> Schema:
    """Name an object that stands for a text by its type alone: the argument's description shows one."""
    return {"type": "object"} if "properties" in option else _brief(option)


@cache
def second_names(action: type[Action]) -> dict[str, list[str]]:
    """Map the listed name of an argument to its other names, if it has any."""
    return {
        str(choices.choices[0]): [str(choice) for choice in choices.choices[1:]]
        for field in action.model_fields.values()
        if isinstance(choices := field.validation_alias, AliasChoices)
    }


def inherited_names(action: type[Action]) -> frozenset[str]:
    """Return the wire names of the arguments that all page actions share."""
    if not issubclass(action, PageAction):
        return frozenset()
    return frozenset(field.alias or name for name, field in PageAction.model_fields.items())
