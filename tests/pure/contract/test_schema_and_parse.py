"""Tests that what a schema allows is accepted, and what it forbids is refused: the two say the same."""

import string
from functools import cache
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from browse_together.contract.actions.base import AN_ACTION, Action
from browse_together.contract.actions.help import CallTool
from browse_together.contract.catalogue import ACTIONS, parse
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.filenames import safe_name
from browse_together.contract.schema import Schema, full_schema, properties_of, required_of
from browse_together.contract.wire import RESERVED_IDS
from tests.support.each import each

Arguments = dict[str, JsonValue]

WORDS = st.text(string.ascii_letters + string.digits, min_size=1, max_size=20).filter(
    lambda word: safe_name(word) == word
)
"""Words that may also name a file; Windows' device names, which no schema forbids, have their own test."""

ALSO_NEEDED = {"select_option": "value", "find": "text", "expect": "selector"}
"""One of several arguments, which a schema without `anyOf` at its root cannot ask for."""

_OF_PICTURES = (
    *(("selector", "clip"), ("selector", "fullPage"), ("type", "omitBackground")),
    *(("selector", "marks"), ("clip", "marks")),
)
EXCLUSIVE = {
    "content": (
        *(("query", "section"), ("query", "format"), ("section", "format")),
        *((other, "unseen") for other in ("query", "section", "format")),
    ),
    "expect": tuple(("selector", other) for other in ("url", "request", "status", "to", "value")),
    "find": (("queries", "text"), ("queries", "role"), ("queries", "name")),
    "screenshot": _OF_PICTURES,
    "get_screenshot_as_base64": _OF_PICTURES,
    "generate_pdf": (("format", "width"), ("format", "height")),
    "compare_screenshots": (("current", "selector"), ("current", "fullPage"), ("selector", "fullPage")),
}
"""Arguments of which the second may not accompany every value of the first; a schema cannot say so."""

OWN_NAMES = {name: action for name, action in ACTIONS.items() if action is not CallTool}
"""All but the one that becomes what it calls."""
every_action = each(OWN_NAMES)
a_few = settings(max_examples=5)
one = settings(max_examples=1)


CARRIED: list[Arguments] = [{"action": "content"}, {"action": "click", "selector": "#a"}]
"""Actions that carry others, whose arguments their schema does not describe."""

schema_of = cache(full_schema)


def allowed(node: Schema) -> st.SearchStrategy[JsonValue]:
    """Return a strategy of the values that a schema allows."""
    if isinstance(choices := node.get("enum"), list):
        return st.sampled_from(choices)
    if isinstance(options := node.get("anyOf"), list):
        return st.one_of(*(allowed(cast("Schema", option)) for option in options))
    return of_type(node)


def of_type(node: Schema) -> st.SearchStrategy[JsonValue]:
    values: st.SearchStrategy[JsonValue] = st.none() | st.booleans() | st.integers(-9, 9) | WORDS
    match node.get("type"):
        case "boolean":
            values = st.booleans()
        case "integer":
            values = st.integers(cast("int", node.get("minimum", -9)), cast("int", node.get("maximum", 9)))
        case "number":
            least = cast("float", node.get("exclusiveMinimum", node.get("minimum", -9)))
            most = cast("float", node.get("maximum", 99))
            values = st.floats(least, most, exclude_min="exclusiveMinimum" in node)
        case "string":
            values = st.from_regex(str(node["pattern"]), fullmatch=True) if "pattern" in node else WORDS
            values = values.filter(lambda text: text not in RESERVED_IDS)
        case "array":
            least = cast("int", node.get("minItems", 0))
            values = st.lists(allowed(cast("Schema", node["items"])), min_size=least, max_size=3).map(list)
        case "object" if "properties" in node:
            values = arguments(node).map(dict)
        case "object" if str(node.get("description")).startswith(AN_ACTION):
            values = st.sampled_from(CARRIED).map(dict)
        case "object" if "additionalProperties" in node:
            inner = allowed(cast("Schema", node["additionalProperties"]))
            values = st.dictionaries(WORDS, inner, min_size=cast("int", node.get("minProperties", 0)), max_size=3).map(
                dict
            )
        case "object":  # what is in it is not said
            values = st.just({})
    return values


def arguments(schema: Schema) -> st.SearchStrategy[Arguments]:
    """Return a strategy for objects with everything that a schema requires and some of what it allows."""
    required = required_of(schema)
    values = {name: allowed(node) for name, node in properties_of(schema).items()}
    return st.fixed_dictionaries(
        {name: value for name, value in values.items() if name in required},
        optional={name: value for name, value in values.items() if name not in required},
    )


@cache
def arguments_of(action: type[Action]) -> st.SearchStrategy[Arguments]:
    needed = {ALSO_NEEDED[action.name()]: WORDS} if action.name() in ALSO_NEEDED else {}
    chosen = st.builds(lambda some, more: {**some, **more}, arguments(schema_of(action)), st.fixed_dictionaries(needed))
    return chosen.map(lambda given: _compatible(action.name(), given))


def _compatible(name: str, given: Arguments) -> Arguments:
    out = {second for first, second in EXCLUSIVE.get(name, ()) if first in given}
    files = [{"name": "a.txt", **file} for file in cast("list[Arguments]", given.get("files", []))]
    named: Arguments = {"files": [*files]} if files else {}  # by a name or a path, which no schema can ask for
    if queries := [query or "x" for query in cast("list[Arguments | str]", given.get("queries", []))]:
        named |= {"queries": [*queries]}  # of what may be left out, one must be there
    return {key: value for key, value in (given | named).items() if key not in out}


@cache
def validator(action: type[Action]) -> Draft202012Validator:
    return Draft202012Validator(schema_of(action))


def asked(action: type[Action], given_arguments: Arguments) -> Action:
    return parse({"action": action.name(), **given_arguments})


@every_action
@given(data=st.data())
@a_few
def test_arguments_within_the_schema_are_accepted_and_survive_the_wire(
    action: type[Action], data: st.DataObject
) -> None:
    chosen = data.draw(arguments_of(action))
    validator(action).validate(chosen)
    parsed = asked(action, chosen)
    assert type(parsed) is action
    assert parse(parsed.wire_body()) == parsed
    assert parsed.wire_body().keys() == {"action", *chosen}


@pytest.mark.parametrize("name", ["NUL", "con", "lpt1.pdf"])
def test_a_file_name_that_windows_takes_for_a_device_is_refused(name: str) -> None:
    arguments_given: Arguments = {"filename": name}
    assert validator(ACTIONS["generate_pdf"]).is_valid(arguments_given)
    with pytest.raises(ValidationFailed, match=f"'{name}' is not the name of a file in the output directory"):
        asked(ACTIONS["generate_pdf"], arguments_given)


@every_action
@given(data=st.data())
@one
def test_an_empty_text_for_an_argument_that_may_be_left_out_and_cannot_be_empty_is_none(
    action: type[Action], data: st.DataObject
) -> None:
    chosen = data.draw(arguments_of(action))
    for name, node in properties_of(schema_of(action)).items():
        if node.get("minLength") == 0:
            rest = {key: value for key, value in chosen.items() if key != name}
            validator(action).validate({**rest, name: ""})
            if name != ALSO_NEEDED.get(action.name()):
                assert asked(action, {**rest, name: ""}) == asked(action, rest)


NONE = [("get_current_url", "pageId"), ("click", "button"), ("click", "reply"), ("scroll", "to")]
NONE += [("emulate", "colorScheme"), ("emulate", "locale"), ("fetch", "method"), ("get_cookies", "sessionId")]
NONE += [("get_network_log", "method"), ("list_flows", "name"), ("get_activity", "pageId"), ("open_page", "pageId")]
NONE += [("browser_click", "selectorType"), ("expect", "request"), ("expect", "status")]
OF_AN_ELEMENT = {"button", "request", "status", "reply", "selectorType"}


@pytest.mark.parametrize(("name", "argument"), NONE)
def test_an_empty_id_pattern_or_choice_is_none(name: str, argument: str) -> None:
    action = ACTIONS[name]
    needed: Arguments = {"url": "/a"} if name == "fetch" else {"selector": "#a"} if argument in OF_AN_ELEMENT else {}
    assert asked(action, {**needed, argument: ""}) == asked(action, needed)


@pytest.mark.parametrize(
    ("name", "needed", "argument"),
    [
        ("mock_response", {"pattern": "*"}, "method"),  # it would answer all
        ("share_session", {"sessionId": "a"}, "access"),  # it would let others in
        ("set_cookies", {"cookies": [{"name": "a", "value": "b", "url": "http://localhost"}]}, "sessionId"),
        ("close_page", {}, "pageId"),
        ("clear_storage", {}, "kind"),
        ("wait_for_request", {"pattern": "*"}, "method"),
    ],
)
def test_an_empty_id_or_choice_without_which_more_would_be_affected_is_refused(
    name: str, needed: Arguments, argument: str
) -> None:
    asked(ACTIONS[name], needed)
    with pytest.raises(ValidationFailed, match=argument):
        asked(ACTIONS[name], {**needed, argument: ""})


@pytest.mark.parametrize(("name", "argument"), [("fill", "value"), ("type", "text"), ("select_option", "value")])
def test_an_empty_text_that_means_something_is_kept(name: str, argument: str) -> None:
    body = asked(ACTIONS[name], {"selector": "#a", argument: ""}).wire_body()
    assert body[argument] == ""


@pytest.mark.parametrize(
    "body",
    [
        {"action": "find", "text": "", "role": ""},
        {"action": "click", "selector": ""},
        {"action": "clear_cookies", "domain": ""},
        {"action": "halt_agent", "how": "stop", "to": ""},
    ],
)
def test_an_empty_text_is_neither_what_an_action_needs_nor_all_that_it_could_destroy_or_concern(
    body: Arguments,
) -> None:
    with pytest.raises(ValidationFailed):
        parse(body)


@every_action
@given(data=st.data(), stranger=WORDS)
@one
def test_an_argument_that_the_schema_lacks_is_refused(action: type[Action], data: st.DataObject, stranger: str) -> None:
    chosen = {**data.draw(arguments_of(action)), f"un{stranger}": 1}
    assert not validator(action).is_valid(chosen)
    with pytest.raises(ValidationFailed, match=f"Unknown argument 'un{stranger}'"):
        asked(action, chosen)


@every_action
@given(data=st.data())
@one
def test_a_missing_required_argument_is_refused(action: type[Action], data: st.DataObject) -> None:
    chosen = data.draw(arguments_of(action))
    for name in required_of(schema_of(action)):
        with pytest.raises(ValidationFailed, match=f"{action.name()} needs '{name}'"):
            asked(action, {key: value for key, value in chosen.items() if key != name})


def beyond(node: Schema) -> list[JsonValue]:
    """Return a strategy of the values just outside what a schema allows."""
    outside: list[JsonValue] = ["never-a-choice"] if "enum" in node else []
    outside += [cast("float", node["minimum"]) - 1] if "minimum" in node else []
    outside += [cast("float", node["maximum"]) + 1] if "maximum" in node else []
    outside += [""] if node.get("minLength") and "pattern" not in node else []  # for a pattern, it may stand for none
    outside += ["x" * (cast("int", node["maxLength"]) + 1)] if "maxLength" in node else []
    outside += [["x"] * (cast("int", node["maxItems"]) + 1)] if "maxItems" in node else []
    too_many = range(cast("int", node.get("maxProperties", 0)) + 1)
    outside += [{f"x{number}": "x" for number in too_many}] if "additionalProperties" in node and too_many[1:] else []
    outside += ["-"] if "pattern" in node and "minLength" not in node else []
    return outside


@every_action
@given(data=st.data())
@one
def test_the_limits_that_a_schema_states_are_kept(action: type[Action], data: st.DataObject) -> None:
    chosen = data.draw(arguments_of(action))
    for name, node in properties_of(schema_of(action)).items():
        for value in beyond(node):
            assert not validator(action).is_valid({**chosen, name: value})
            with pytest.raises(ValidationFailed, match=name):
                asked(action, {**chosen, name: value})
