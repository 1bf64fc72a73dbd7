"""Makes pydantic's JSON Schema plain: no $ref, no null unions, no root anyOf, nothing that clients reject."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, cast

from pydantic import AliasChoices, JsonValue

from shared.actions.arguments import MOST_TEXT
from shared.actions.base import Action, PageAction, SessionAction
from shared.actions.traits import Unaddressed

Schema = dict[str, JsonValue]

_NOISE = ("title", "$defs")
_HIDDEN = frozenset(
    {"pattern", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "propertyNames"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "properties", "additionalProperties", "required"}
)
"""What tool lists leave out of an argument: descriptions say better how a text looks or what an object has, and
nobody meets a limit by chance. Nothing forbids extra properties, because clients refuse what a schema forbids."""


_RARER: Final = "Rarer options; help lists them."
_PAGE: Final = "Page to act on; a new name opens it."


def kebab(name: str) -> str:
    """Write `fullPage` and `full_page` as `full-page`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).replace("_", "-").lower()


def properties_of(node: Schema) -> dict[str, Schema]:
    """Return the members of an object, or the arguments of an action."""
    return cast("dict[str, Schema]", node.get("properties", {}))  # pydantic writes no other


def required_of(node: Schema) -> list[str]:
    """Return which of them must be there."""
    return cast("list[str]", node.get("required", []))  # as there


def plain(schema: Schema) -> Schema:
    """Return `schema` with references inlined, null unions dropped, `const` written as `enum`, and titles removed."""
    definitions = cast("dict[str, Schema]", schema.get("$defs", {}))  # as there
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
    schema = plain(cast("Schema", action.model_json_schema(by_alias=True)))  # a schema is JSON
    properties = properties_of(schema)
    inherited = inherited_names(action)
    ordered = [name for name in properties if name not in inherited] + [
        name for name in properties if name in inherited
    ]
    result: Schema = {"type": "object", "properties": {name: properties[name] for name in ordered}}
    if required := schema.get("required"):
        result["required"] = required
    return {**result, "additionalProperties": False}


def listed_schema(action: type[Action]) -> Schema:
    """Return what a tool list shows: the required and the everyday arguments, each as short as it can be understood,
    and what addresses the call. `goto` describes `params` and `pageId` for all."""
    schema, twins = full_schema(action), second_names(action)
    properties, required = properties_of(schema), required_of(schema)
    address = _address(action)
    own = [name for name in properties if name not in {*inherited_names(action), address}]
    everyday = own if action.everyday is None else action.everyday
    shown = [name for name in own if name in {*required, *everyday}]
    listed: dict[str, JsonValue] = {name: _brief(properties[name], twins.get(name, [])) for name in shown}
    describing = action.name() == "goto"
    for bag in {*action.option_bags} & {*everyday}:
        listed[bag] = {"type": "object", **({"description": _RARER} if describing else {})}
    if address:
        listed[address] = {"type": "string", **({"description": _PAGE} if describing else {})}
    named_once = [name for name in required if name not in twins]
    shape: Schema = {"type": "object", "properties": listed}
    return {**shape, "required": [*named_once]} if named_once else shape


def _address(action: type[Action]) -> str:
    """Return which argument says where the action is done; empty if none does, or the action has a page of its own."""
    if issubclass(action, SessionAction):
        return "sessionId"
    is_named = issubclass(action, PageAction) and action.unaddressed is not Unaddressed.OWN_PAGE
    return "pageId" if is_named else ""


def _brief(node: Schema, twins: Sequence[str] = ()) -> Schema:
    """Return an argument as a list shows it: without a default that is nothing, or a type that is nearly any."""
    brief = {key: value for key, value in node.items() if key not in _HIDDEN}
    if twins:
        brief["description"] = f"{brief.get('description', '')} Also `{'`, `'.join(twins)}`.".lstrip()
    if not brief.get("default"):
        brief.pop("default", None)
    if isinstance(items := brief.get("items"), dict):
        brief["items"] = _item(items)
    options = [_member(option) for option in cast("list[Schema]", brief.pop("anyOf", []))]  # a schema has schemas
    if options and not {"string", "object", "array"} <= {option.get("type") for option in options}:
        brief["anyOf"] = [*options]
    return brief


def _item(node: Schema) -> Schema:
    """Return what is in a list: of an object, the members that each must have."""
    members, required = properties_of(node), node.get("required")
    if not isinstance(required, list):
        return _member(node)
    needed = {str(name): _member(members[str(name)]) for name in required}
    return {**_member(node), "properties": {**needed}, "required": required}


def _member(node: Schema) -> Schema:
    """Return the type alone, because the argument's description says what goes in."""
    return {key: value for key, value in _brief({**node, "default": None}).items() if key != "description"}


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
