"""Tests that every schema is plain enough for every client, and says all that a model needs."""

import re
from collections.abc import Iterator
from typing import cast

from jsonschema import Draft202012Validator

from browse_together.contract.actions.base import Action, PageAction, SessionAction
from browse_together.contract.actions.traits import Effect, Unaddressed
from browse_together.contract.catalogue import ACTIONS, NAMES
from browse_together.contract.peer_calls import CONVERTED
from browse_together.contract.peers import TOOLS
from browse_together.contract.schema import (
    Schema,
    full_schema,
    inherited_names,
    listed_schema,
    properties_of,
    required_of,
    second_names,
)
from browse_together.contract.toolsets import annotations
from tests.support.bodies import smallest
from tests.support.each import each

DESCRIPTION_LENGTH = 300

every_action = each(ACTIONS)


def properties(schema: Schema) -> dict[str, Schema]:
    return properties_of(schema)


def nodes(schema: Schema) -> Iterator[Schema]:
    """Yield the schema and every schema in it."""
    yield schema
    inner: list[object] = [*properties(schema).values(), schema.get("items"), schema.get("additionalProperties")]
    inner += cast("list[object]", schema.get("anyOf", []))
    for node in inner:
        if isinstance(node, dict):
            yield from nodes(node)


@every_action
def test_a_schema_is_valid_json_schema(action: type[Action]) -> None:
    Draft202012Validator.check_schema(full_schema(action))
    Draft202012Validator.check_schema(listed_schema(action))


@every_action
def test_a_schema_has_no_references_nulls_or_constants(action: type[Action]) -> None:
    for node in nodes(full_schema(action)):
        assert not node.keys() & {"$ref", "$defs", "oneOf", "allOf", "const", "title"}
        assert node.get("type") != "null"
        assert node.get("default", "given") is not None


@every_action
def test_a_schema_is_an_object_that_takes_nothing_unknown(action: type[Action]) -> None:
    for schema in (full_schema(action), listed_schema(action)):
        assert schema["type"] == "object"
        assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "if", "enum"}
    for node in nodes(full_schema(action)):
        if "properties" in node:
            assert node["additionalProperties"] is False


@every_action
def test_every_argument_is_described_and_named_in_camel_case(action: type[Action]) -> None:
    for node in nodes(full_schema(action)):
        for name, argument in properties(node).items():
            assert re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name), name
            assert str(argument.get("description", "")).strip(), f"{name} has no description"


@every_action
def test_an_action_is_described_within_a_few_lines(action: type[Action]) -> None:
    assert 0 < len(action.description()) <= DESCRIPTION_LENGTH
    assert action.description().endswith(".")
    assert re.fullmatch(r"[a-z]+(_[a-z][a-z0-9]*)*", action.name())


@every_action
def test_an_actions_own_arguments_come_before_the_inherited_ones(action: type[Action]) -> None:
    names = [*properties(full_schema(action))]
    inherited = inherited_names(action)
    assert [name in inherited for name in names] == sorted(name in inherited for name in names)


@every_action
def test_a_listed_schema_shows_what_is_required_and_everyday_and_of_the_inherited_arguments_the_page(
    action: type[Action],
) -> None:
    listed = properties(listed_schema(action)).keys()
    whole = full_schema(action)
    own = properties(whole).keys() - inherited_names(action)
    everyday = own if action.everyday is None else {*required_of(whole), *action.everyday}
    named = issubclass(action, PageAction) and action.unaddressed is not Unaddressed.OWN_PAGE
    address = {"pageId"} if named else {"sessionId"} if issubclass(action, SessionAction) else set()
    assert listed == everyday | address


@every_action
def test_required_arguments_are_listed(action: type[Action]) -> None:
    schema = listed_schema(action)
    assert set(required_of(schema)) <= properties(schema).keys()


@every_action
def test_a_client_that_validates_by_the_list_can_send_whatever_is_accepted(action: type[Action]) -> None:
    """Each argument, listed or not, by each of its names, and each bag of options."""
    listed, whole = Draft202012Validator(listed_schema(action)), full_schema(action)
    assert all(node.get("additionalProperties") is not False for node in nodes(listed_schema(action)))
    plainest = smallest(action)
    values = {name: plainest.get(name, sample(node)) for name, node in properties(whole).items()}
    for name, value in values.items():
        for written in (name, *second_names(action).get(name, [])):
            given = {key: value for key, value in plainest.items() if key != name} | {written: value}
            listed.validate(given)
    for bag in action.option_bags:
        listed.validate({**plainest, bag: {"timeout": 100}})


def sample(node: Schema) -> object:
    """Return a value of the kind."""
    node = cast("list[Schema]", node.get("anyOf", [node]))[0]
    required = {name: properties(node)[name] for name in required_of(node)}
    kinds: dict[str, object] = {
        "integer": max(cast("int", node.get("minimum", 1)), 1),
        "number": max(cast("int", node.get("minimum", 1)), 1),
        "boolean": True,
        "array": [sample(cast("Schema", node["items"]))] if node.get("minItems") else [],
        "object": {name: sample(inner) for name, inner in required.items()} or {"x": "x"},
    }
    return cast("list[object]", node.get("enum", [kinds.get(str(node.get("type")), "x")]))[0]


def test_an_argument_of_two_names_is_listed_by_one_and_the_client_may_send_either() -> None:
    schema = listed_schema(ACTIONS["fill"])
    assert schema["required"] == ["selector"]
    assert "value" in properties(schema)
    for name in ("value", "text"):
        Draft202012Validator(schema).validate({"selector": "#a", name: "x"})


@every_action
def test_the_effect_is_announced_where_clients_would_assume_another(action: type[Action]) -> None:
    told = {"readOnlyHint": False, "destructiveHint": True} | annotations(action)
    assert told["readOnlyHint"] is (action.effect is Effect.READS)
    assert told["readOnlyHint"] or told["destructiveHint"] is (action.effect is Effect.DESTROYS)
    taken_for_granted = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
    assert not annotations(action).items() & taken_for_granted.items()


def test_no_name_is_used_twice() -> None:
    aliases = [alias.name for action in ACTIONS.values() for alias in (*action.aliases, *TOOLS.get(action.name(), ()))]
    assert len(NAMES) == len(ACTIONS) + len(aliases) + len(CONVERTED)
