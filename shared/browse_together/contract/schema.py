"""Simplifies pydantic's JSON Schema: no $ref, no null unions, no root anyOf, nothing that clients reject."""

import re
from functools import cache
from typing import Final, cast

from pydantic import AliasChoices, JsonValue

from browse_together.contract.actions.arguments import MOST_TEXT
from browse_together.contract.actions.base import Action, PageAction, SessionAction
from browse_together.contract.actions.traits import Effect, Unaddressed

Schema = dict[str, JsonValue]

_NOISE = ("title", "$defs")
_HIDDEN = frozenset(
    {"pattern", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "propertyNames"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "properties", "additionalProperties", "required"}
)
"""Keywords that tool lists omit: descriptions explain formats and members better, and nobody reaches a limit by chance.
Extra properties are not forbidden, because clients refuse what a schema forbids."""


_RARER: Final = "Rarer options; help lists them."
_PAGE: Final = "Page to act on; a new name opens it."


def kebab(name: str) -> str:
    """Convert `fullPage` or `full_page` to `full-page`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("_", "-").lower()


def properties_of(node: Schema) -> dict[str, Schema]:
    """Return the members of an object, or the arguments of an action."""
    return cast("dict[str, Schema]", node.get("properties", {}))  # pydantic writes nothing else


def required_of(node: Schema) -> list[str]:
    """Return the names of the required members."""
    return cast("list[str]", node.get("required", []))  # as above


def plain(schema: Schema) -> Schema:
    """Return `schema` with references inlined, null unions dropped, `const` written as `enum`, and titles removed."""
    definitions = cast("dict[str, Schema]", schema.get("$defs", {}))  # as above
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
        simple.setdefault("maxLength", MOST_TEXT)  # the base class of all arguments does that
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
    """Return the schema of all arguments of an action: its own first, then the inherited ones. It is cached; do not
    change it."""
    schema = plain(cast("Schema", action.model_json_schema(by_alias=True)))  # a schema is JSON
    properties = properties_of(schema)
    inherited = inherited_names(action)
    ordered = [name for name in properties if name not in inherited] + [
        name for name in properties if name in inherited
    ]
    required = required_of(schema)
    strict = {*properties} if action.effect is Effect.DESTROYS else {*required, *action.id_fields}
    taken = {name: properties[name] if name in strict else _or_empty(properties[name]) for name in ordered}
    result: Schema = {"type": "object", "properties": {**taken}, **({"required": [*required]} if required else {})}
    return {**result, "additionalProperties": False}


def _or_empty(node: Schema) -> Schema:
    """Allow "" for a text that may be left out and cannot be empty: clients fill in what they do not mean to give.
    What destroys, and whom it concerns, is not widened by that."""
    is_text = node.get("type") == "string" and "pattern" not in node and "enum" not in node
    return {**node, "minLength": 0} if is_text and node.get("minLength") else node


def is_left_out(action: type[Action], name: str, value: JsonValue) -> bool:
    """Return whether a value stands for an argument that is left out. "" also stands for an id, a pattern or a choice:
    in what reads, and on a page unless the act would affect more without it. In schemas, these have their own forms
    alone."""
    schema = full_schema(action)
    if value != "" or name not in properties_of(schema) or name in required_of(schema):
        return False
    node, acts = properties_of(schema)[name], action.effect is Effect.ACTS and issubclass(action, PageAction)
    is_safe = action.effect is Effect.READS or (acts and name not in action.limiting_fields)
    return node.get("minLength") == 0 or (is_safe and ("pattern" in node or "enum" in node))


def listed_schema(action: type[Action]) -> Schema:
    """Return the schema for tool lists: required and everyday arguments, each as short as possible, and the page or
    session. Only `goto` describes `params` and `pageId`."""
    schema, twins = full_schema(action), second_names(action)
    properties, required = properties_of(schema), required_of(schema)
    address = _address(action)
    own = [name for name in properties if name not in {*inherited_names(action), address}]
    everyday = own if action.everyday is None else action.everyday
    shown = [name for name in own if name in {*required, *everyday}]
    listed: dict[str, JsonValue] = {name: _brief(properties[name]) for name in shown}
    describing = action.name() == "goto"
    for bag in {*action.option_bags} & {*everyday}:
        listed[bag] = {"type": "object", **({"description": _RARER} if describing else {})}
    if address:
        listed[address] = {"type": "string", **({"description": _PAGE} if describing else {})}
    named_once = [name for name in required if name not in twins]
    shape: Schema = {"type": "object", "properties": listed}
    return {**shape, "required": [*named_once]} if named_once else shape


def _address(action: type[Action]) -> str:
    """Return the argument that selects where the action runs; empty if there is none, or the action has its own
    page."""
    if issubclass(action, SessionAction):
        return "sessionId"
    is_named = issubclass(action, PageAction) and action.unaddressed is not Unaddressed.OWN_PAGE
    return "pageId" if is_named else ""


def _brief(node: Schema) -> Schema:
    """Shorten an argument for tool lists: omit an empty default, and a union of nearly all types."""
    brief = {key: value for key, value in node.items() if key not in _HIDDEN}
    if not brief.get("default"):
        brief.pop("default", None)
    if isinstance(items := brief.get("items"), dict):
        brief["items"] = _item(items)
    options = [_member(option) for option in cast("list[Schema]", brief.pop("anyOf", []))]  # a schema contains schemas
    if options and not {"string", "object", "array"} <= {option.get("type") for option in options}:
        brief["anyOf"] = [*options]
    return brief


def _item(node: Schema) -> Schema:
    """Shorten the schema of a list's items; of an object, keep the required members."""
    members, required = properties_of(node), node.get("required")
    if not isinstance(required, list):
        return _member(node)
    needed = {str(name): _member(members[str(name)]) for name in required}
    return {**_member(node), "properties": {**needed}, "required": required}


def _member(node: Schema) -> Schema:
    """Return only the type, because the argument's description explains its content."""
    return {key: value for key, value in _brief({**node, "default": None}).items() if key != "description"}


@cache
def second_names(action: type[Action]) -> dict[str, list[str]]:
    """Map the listed names of arguments to their other names."""
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
