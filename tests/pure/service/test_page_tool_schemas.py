"""Tests what of a page's tool must be as it was for a flow to call it again, and that no schema takes long."""

import json
import time
from itertools import product

import pytest
from pydantic import JsonValue

from browse_together.contract.model import Json
from browser_service.rules import tool_schemas

GIVEN: Json = {"size": "M", "count": 3, "to": {"street": "Elm", "days": [1, 2]}}
PROPERTIES: Json = {
    "size": {"enum": ["S", "M", "L"]},
    "count": {"type": "integer", "minimum": 1, "maximum": 5},
    "to": {
        "type": "object",
        "properties": {"street": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}},
    },
}
TO = PROPERTIES["to"]
WAS: Json = {"type": "object", "properties": PROPERTIES, "required": ["size"]}
UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
MOST_S = 1.0
"""Far below what the hostile schemas would take, and above what a busy machine needs for the allowed share."""


def changed(now: Json, *, consequential: bool = False) -> list[str]:
    known = tool_schemas.needed(json.dumps(WAS), GIVEN, consequential=False)
    assert known is not None
    return tool_schemas.changes(known, now, GIVEN, consequential=consequential)


def with_property(name: str, schema: JsonValue) -> Json:
    return {**WAS, "properties": {**PROPERTIES, name: schema}}


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (with_property("size", {"enum": ["S", "L"]}), """'size' does not fit enum '["S", "L"]'"""),
        (with_property("size", {"const": "S"}), "'size' does not fit const '\"S\"'"),
        (with_property("size", {"pattern": "^[0-9]+$"}), "'size' does not fit pattern '\"^[0-9]+$\"'"),
        (with_property("size", {"pattern": UUID}), "'size' does not fit pattern"),
        (with_property("size", {"type": "string", "maxLength": 0}), "'size' does not fit maxLength '0'"),
        (with_property("count", {"type": "string"}), "'count' does not fit type '\"string\"'"),
        (with_property("count", {"type": "integer", "maximum": 2}), "'count' does not fit maximum '2'"),
        (with_property("count", {"anyOf": [{"type": "null"}, {"minimum": 9}]}), "'count' does not fit anyOf"),
        (with_property("count", {"oneOf": [{"minimum": 1}, {"maximum": 9}]}), "'count' does not fit oneOf"),
        (with_property("count", {"$ref": "#/$defs/none"}), "its schema cannot be checked"),
        (with_property("count", {"not": {}}), "'count' does not fit not '{}'"),
        (with_property("to", {"properties": {"road": {}, "days": {}}}), "'to.street' is not there any more"),
        (
            with_property("to", {"properties": {"street": {}, "days": {"items": {"maximum": 1}}}}),
            "'to.days.1' does not fit maximum '1'",
        ),
        (
            with_property("to", {"required": ["no"], "properties": {"street": {}, "days": {}}}),
            "'to.no' is required now",
        ),
        ({**WAS, "required": ["size", "colour"]}, "'colour' is required now"),
        (with_property("to", {"properties": {"street": {"format": "uri"}, "days": {}}}), "'to.street' has the format"),
        ({**WAS, "maxProperties": 2}, "what is given does not fit maxProperties '2'"),
        ({"properties": {"size": {}, "to": TO}}, "'count' is not there any more"),
    ],
)
def test_a_change_that_refuses_a_value_or_gives_it_another_meaning_stops_a_flow(now: Json, why: str) -> None:
    (change,) = changed(now)
    assert change.startswith(why)


def test_each_name_that_is_required_by_now_is_told() -> None:
    now: Json = {**WAS, "required": ["size", "colour", "weight"]}
    assert changed(now) == ["'colour' is required now", "'weight' is required now"]


def test_a_tool_that_says_that_it_is_consequential_by_now_stops_a_flow_that_did_not_know() -> None:
    assert changed(WAS, consequential=True) == ["it is consequential now"]
    known = tool_schemas.needed(json.dumps(WAS), GIVEN, consequential=True)
    assert known is not None
    assert tool_schemas.changes(known, WAS, GIVEN, consequential=True) == []


@pytest.mark.parametrize(
    "now",
    [
        with_property("size", {"enum": ["XS", "S", "M", "L"], "description": "Now with XS.", "default": "S"}),
        with_property("size", {"type": ["string", "null"], "pattern": "^[A-Z]"}),
        with_property("size", {"type": "string", "pattern": "(?<a>x)\\k<a"}),
        with_property("count", {"type": "number", "maximum": 100}),
        with_property("count", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        with_property("more", {"type": "string"}),
        {**WAS, "properties": {**PROPERTIES, "to": {"$ref": "#/$defs/to"}}, "$defs": {"to": TO}},
        {**WAS, "patternProperties": {"^c": {}}, "additionalProperties": False},
        {**WAS, "additionalProperties": False, "$schema": "http://json-schema.org/draft-07/schema#"},
    ],
)
def test_a_change_by_which_a_value_means_the_same_stops_no_flow(now: Json) -> None:
    assert changed(now) == []


def test_a_text_of_a_run_is_read_as_what_was_given_where_the_schema_names_no_type() -> None:
    was: Json = {"properties": {"count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "size": {}}}
    known = tool_schemas.needed(json.dumps(was), {"count": 3, "size": "1"}, consequential=False)
    assert known is not None
    assert tool_schemas.typed({"count": "4", "size": "2"}, known) == {"count": 4, "size": "2"}


TWICE: Json = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(60)}
DIALECT = "https://json-schema.org/draft/2020-12/schema"
VALUES: list[JsonValue] = ["a" * 60 + "b", 7, {"a" * 60 + "b": "x"}, [*range(5_000), *"ab"]]
HOSTILE: list[JsonValue] = [
    {"$ref": "#/properties/a"},
    {"anyOf": [{"$ref": "#/properties/a"}, {"$ref": "#/properties/a"}]},
    {"$ref": "#/$defs/d0"},
    {"$schema": DIALECT, "$ref": "#/$defs/d0"},
    {"pattern": "^(a|aa)+$"},
    {"$schema": DIALECT, "pattern": "^(a|aa)+$"},
    {"pattern": "(" * 200},
    {"pattern": "((((a{20}){20}){20}){20}){20}"},
    {"allOf": [{"pattern": f"^(a|aa)+{number}$"} for number in range(200)]},
    {"patternProperties": {"^(a|aa)+$": {}}, "additionalProperties": False},
    {"enum": [str(number) for number in range(1_200)]},
    {"$ref": "http://127.0.0.1:9/schema.json"},
    {"multipleOf": 0},
    {"required": [{}], "properties": 1},
    {"type": "nothing"},
    {"minimum": "a", "enum": 5, "items": [[]]},
    {"$id": "http://[", "$ref": "#x"},
    {"propertyNames": {"pattern": "^(a|aa)+$"}},
    {"dependentSchemas": {"a" * 40: {"$ref": "#/$defs/d0"}}},
    {"not": {"$ref": "#/$defs/d0"}},
    {"if": {"$ref": "#/$defs/d0"}},
    {"contains": {"$ref": "#/$defs/d0"}},
    {"unevaluatedProperties": False, "allOf": [{"$ref": "#/$defs/d0"}]},
    {"$dynamicRef": "#/properties/a"},
]


@pytest.mark.thorough
def test_no_schema_takes_long() -> None:
    for schema, value in product(HOSTILE, VALUES):
        now: Json = {"properties": {"a": schema}, "$defs": {**TWICE, "d60": {}}}
        began = time.thread_time()
        tool_schemas.changes({"properties": {"a": {}}}, now, {"a": value}, consequential=False)
        assert time.thread_time() - began < MOST_S, schema
