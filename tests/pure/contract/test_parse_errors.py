"""Tests that a body that cannot be understood is refused in words that name what is wrong and what to send instead."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from browse_together.contract.catalogue import ACTIONS, NAMES, parse
from browse_together.contract.errors import ErrorBody, InvalidRequest, ValidationFailed
from browse_together.contract.next_calls import next_call

Body = dict[str, JsonValue]

CLICK: Body = {"action": "click", "selector": "#buy"}
FILL: Body = {"action": "fill", "selector": "#name"}


def refused(body: Body) -> ErrorBody:
    with pytest.raises(ValidationFailed) as caught:
        parse(body)
    return caught.value.body()


def field(error: ErrorBody) -> JsonValue:
    context = error.details["context"]
    assert isinstance(context, dict)
    return context["field"]


@pytest.mark.parametrize(
    ("typo", "meant"),
    [("clik", "click"), ("go_to", "goto"), ("gotoo", "goto"), ("screen_shot", "screenshot"), ("Evaluate", "evaluate")],
)
def test_an_unknown_action_names_the_nearest(typo: str, meant: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse({"action": typo})
    error = caught.value.body()
    assert error.message == f"Unknown action: {typo}"
    assert meant in str(error.hint).partition("?")[0].replace(" or ", " ").split()
    assert error.details == {"context": {"availableActions": sorted(ACTIONS)}}


@pytest.mark.parametrize("body", [{"action": "clik" * 1_000_000}, {"action": "call_tool", "name": "clik" * 1_000_000}])
def test_a_name_that_is_none_is_quoted_by_its_beginning_where_it_is_long(body: dict[str, JsonValue]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(body)
    assert "clikclik… (4,000,000 characters)" in caught.value.message
    assert len(f"{caught.value.message}{caught.value.hint}") < 300


@given(st.text())
def test_only_names_in_the_catalogue_are_actions(name: str) -> None:
    if name in NAMES:
        return
    with pytest.raises(InvalidRequest, match="Unknown action"):
        parse({"action": name})


@pytest.mark.parametrize(
    ("action", "kind"),
    [(5, "a number"), (None, "null"), (True, "true or false"), (["goto"], "a list"), ({"name": "goto"}, "an object")],
)
def test_the_error_for_an_action_that_is_no_text_says_what_it_is(action: JsonValue, kind: str) -> None:
    with pytest.raises(InvalidRequest, match=f'"action" must be a name, not {kind}'):
        parse({"action": action})


def test_a_body_without_an_action_is_shown_one() -> None:
    with pytest.raises(InvalidRequest, match='"action" is missing') as caught:
        parse({"url": "https://example.com"})
    assert '"action": "goto"' in str(caught.value.advice)


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        *(("click_count", "clickCount"), ("ClickCount", "clickCount"), ("clickcount", "clickCount")),
        *(("butto", "button"), ("pageID", "pageId")),
    ],
)
def test_an_unknown_argument_suggests_the_nearest_and_where_all_are_listed(typo: str, meant: str) -> None:
    error = refused({**CLICK, typo: 1})
    assert error.message == f"Unknown argument {typo!r} for click."
    assert error.hint == f"Did you mean {meant!r}? All that it takes: {next_call('help', name='click')}."
    assert (error.details["tool"], field(error)) == ("click", typo)


@pytest.mark.parametrize(
    ("action", "typo", "meant"), [("click", "selctor", "selector"), ("goto", "ulr", "url"), ("press", "kee", "key")]
)
def test_a_misspelt_argument_is_named_though_the_one_that_was_meant_is_missing(
    action: str, typo: str, meant: str
) -> None:
    error = refused({"action": action, typo: "x"})
    assert error.message == f"Unknown argument {typo!r} for {action}."
    assert f"Did you mean {meant!r}?" in str(error.hint)
    assert field(error) == typo


def test_an_argument_that_is_like_none_of_a_tool_suggests_none_of_all_pages() -> None:
    error = refused({"action": "scroll", "direction": "down"})
    assert error.message == "Unknown argument 'direction' for scroll."
    assert str(error.hint).startswith("It takes: selector, ")


def test_a_tool_without_arguments_says_that_it_takes_nothing() -> None:
    assert refused({"action": "browser_quit", "pageId": "p"}).hint == "It takes: nothing."


@pytest.mark.parametrize(
    "body",
    [
        {"action": "click", "selector": "#buy", "ref": "e12"},
        {"action": "fill_form", "fields": [{"selector": "#name", "ref": "e12", "value": "x"}]},
    ],
)
def test_a_ref_in_a_place_where_it_is_not_understood_is_a_selector(body: Body) -> None:
    assert refused(body).hint == 'A ref is a selector too: {"selector": "e12"}.'


@pytest.mark.parametrize(
    "spelled", ["e12", "[ref=e12]", "ref=e12", "aria-ref=e12", "@e12", 'button "Log in" [ref=e12]', "button[ref=e12]"]
)
def test_a_ref_is_taken_as_a_snapshot_shows_it_and_as_other_tools_spell_it(spelled: str) -> None:
    assert parse({"action": "click", "selector": spelled}).aim.selector == "e12"


@pytest.mark.parametrize("selector", ["#e12", "[ref=x12]", '[ref="e12"]', "text=ref=e12", "text=[ref=e12] >> nth=0"])
def test_other_texts_than_refs_stay_unchanged(selector: str) -> None:
    assert parse({"action": "click", "selector": selector}).aim.selector == selector


@pytest.mark.parametrize("bag", [{"params": {"colour": "red"}}, {"colour": "red"}])
def test_an_unknown_option_is_refused_outside_and_inside_of_params(bag: Body) -> None:
    assert field(refused({**CLICK, **bag})) == "colour"


def test_an_unknown_part_of_an_argument_lists_the_parts_that_exist() -> None:
    error = refused({**CLICK, "position": {"x": 1, "y": 2, "z": 3}})
    assert error.message == "Unknown argument 'position.z' for click."
    assert error.hint == "position takes: x, y."


def test_a_bag_within_a_bag_is_refused_without_suggesting_itself() -> None:
    error = refused({**CLICK, "params": {"params": {"button": "right"}}})
    assert error.message == "Unknown argument 'params' for click."
    assert "Did you mean" not in str(error.hint)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"action": "screenshot", "path": "shots/a.png"}, "the reply says where they are"),
        ({"action": "fetch", "url": "/", "fetchOptions": {"signal": {}}}, "cancel_call"),
        ({"action": "upload_file", "selector": "#f", "path": "/a.txt"}, '"files": [{"path": "..."}]'),
    ],
)
def test_an_argument_that_cannot_cross_the_wire_says_what_to_do_instead(body: Body, reason: str) -> None:
    assert reason in str(refused(body).hint)


def test_a_missing_argument_is_named_and_described() -> None:
    error = refused({"action": "click"})
    assert error.message == "click needs 'selector'."
    assert str(error.hint).startswith("Add it: selector: Ref (e12)")


def test_one_of_several_arguments_is_asked_for() -> None:
    error = refused({"action": "select_option", "selector": "#size"})
    assert error.message == "select_option: needs 'value', 'label' or 'index'"
    assert error.details == {"tool": "select_option"}


def test_a_missing_argument_with_two_names_is_asked_for_by_the_listed_one() -> None:
    assert refused(FILL).message == "fill needs 'value'."


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ({**CLICK, "clickCount": "twice"}, "clickCount", "Input should be a valid integer"),
        ({**CLICK, "clickCount": 4}, "clickCount", "less than or equal to 3"),
        ({**CLICK, "button": "middel"}, "button", "'left', 'right' or 'middle'"),
        ({**CLICK, "modifiers": ["Alt", "Win"]}, "modifiers.1", "'Alt', 'Control'"),
        ({**CLICK, "position": 5}, "position", "Input should be an object"),
        ({**CLICK, "position": {"x": 1, "y": float("inf")}}, "position.y", "finite number"),
        ({**CLICK, "timeout": 1.5}, "timeout", "integer"),
        ({**CLICK, "timeout": 0}, "timeout", "greater than"),
        ({**CLICK, "timeout": 120_001}, "timeout", "less than or equal to 120000"),
        ({**CLICK, "position": [1, 2]}, "position", "Input should be an object"),
        ({"action": "click", "selector": 5}, "selector", "valid string"),
        ({**CLICK, "selector": "  "}, "selector", "at least 1 character"),
        ({**FILL, "text": 5}, "text", "valid string"),
        ({**FILL, "value": None}, "value", "valid string"),
        ({"action": "goto", "url": ["http://127.0.0.1"]}, "url", "valid string"),
        ({"action": "goto", "url": "http://127.0.0.1", "waitUntil": "idle"}, "waitUntil", "'networkidle'"),
        ({"action": "content", "format": "pdf"}, "format", "'markdown'"),
        ({"action": "content", "budget": 0}, "budget", "greater than"),
        ({"action": "select_option", "selector": "#a", "value": 5}, "value", "valid string"),
        ({"action": "fetch", "url": "/", "headers": {"X-A": 1}}, "headers.X-A", "valid string"),
    ],
)
def test_a_wrong_value_is_refused_with_the_argument_that_has_it(body: Body, where: str, said: str) -> None:
    error = refused(body)
    assert error.message.startswith(f"{where} of {body['action']}: ")
    assert said in error.message
    assert field(error) == where
    assert len(str(error.hint).split()) > 2


@pytest.mark.parametrize("second", ["x", "y"])
@pytest.mark.parametrize("place", ["beside", "in params"])
def test_two_names_of_one_argument_cannot_be_used_together(second: str, place: str) -> None:
    twin: Body = {"text": second} if place == "beside" else {"params": {"text": second}}
    error = refused({**FILL, "value": "x", **twin})
    assert error.message == "value and text of fill are the same argument."
    assert error.hint == "Give value alone."


def test_an_option_with_two_values_is_refused() -> None:
    error = refused({**CLICK, "button": "left", "params": {"button": "right"}})
    assert error.message == "button is given twice with different values: beside params, and in it."
    assert field(error) == "button"
    assert parse({**CLICK, "button": "right", "params": {"button": "right"}}) == parse({**CLICK, "button": "right"})


def test_the_page_cannot_be_changed_by_an_option() -> None:
    assert field(refused({**CLICK, "pageId": "cart", "params": {"pageId": "mine"}})) == "pageId"


@pytest.mark.parametrize(("bag", "kind"), [("x", "text"), ([1], "a list"), (5, "a number"), (False, "true or false")])
def test_params_that_are_no_object_are_refused(bag: JsonValue, kind: str) -> None:
    error = refused({**CLICK, "params": bag})
    assert error.message == f"params of click must be an object of options, not {kind}."
    assert '{"params": {' in str(error.hint)


def test_an_action_without_options_takes_no_params() -> None:
    assert field(refused({"action": "list_pages", "params": {}})) == "params"


def test_a_body_nested_too_deeply_is_refused() -> None:
    nested: JsonValue = []
    for _ in range(20_000):
        nested = [nested]
    assert refused({"action": "evaluate", "expression": "x", "arg": nested}).message == "The body is nested too deeply."


@pytest.mark.parametrize(
    "body",
    [
        {"action": "\ud800"},
        {**CLICK, "\udfff": 1},
        {**CLICK, "params": {"\ud800": 1}},
        {"action": "evaluate", "expression": "x", "arg": ["\ud83d"]},
    ],
)
def test_half_a_character_is_refused_in_words_that_can_be_sent(body: Body) -> None:
    error = refused(body)
    assert "half of a surrogate pair" in error.message
    assert ErrorBody.model_validate_json(error.model_dump_json()) == error


@pytest.mark.parametrize(
    ("body", "name", "value"),
    [
        ({"action": "batch"}, "steps", [{"action": "click", "selector": "[name=go]"}]),
        ({"action": "fill_form"}, "fields", [{"selector": "#a", "value": "x"}]),
        (CLICK, "params", {"clickCount": 2, "modifiers": ["Shift"]}),
        (CLICK, "position", {"x": 1, "y": 2}),
        (CLICK, "modifiers", ["Shift"]),
        ({"action": "find"}, "queries", ["Tea", {"role": "row"}]),
        ({"action": "upload_file", "selector": "#f"}, "files", [{"name": "a", "text": "b"}]),
    ],
)
def test_a_list_or_object_that_a_host_sends_as_text_is_parsed(body: Body, name: str, value: JsonValue) -> None:
    assert parse({**body, name: json.dumps(value)}) == parse({**body, name: value})


def test_a_word_is_a_list_of_one_where_a_list_of_words_is_taken() -> None:
    logged = {"action": "get_console_messages"}
    assert parse({**logged, "types": "error"}) == parse({**logged, "types": ["error"]})
    assert parse({**CLICK, "modifiers": "Shift"}) == parse({**CLICK, "modifiers": ["Shift"]})
    assert refused({**logged, "types": "shout"}).message.startswith("types.0 of get_console_messages: Input should be")


def test_a_text_that_looks_like_json_stays_a_text_where_texts_are_taken() -> None:
    assert parse({**FILL, "value": '["a"]'}).model_dump()["value"] == '["a"]'
    assert parse({"action": "click", "selector": "[name=a]"}).aim.selector == "[name=a]"


def test_a_text_of_json_holds_no_half_of_a_surrogate_pair() -> None:
    error = refused({"action": "fill_form", "fields": r'[{"selector": "#a", "value": "\ud800"}]'})
    assert "half of a surrogate pair" in error.message


def test_a_list_whose_text_is_broken_is_refused_as_no_list() -> None:
    assert (
        refused({"action": "batch", "steps": '[{"action": '}).message == "steps of batch: Input should be a valid list"
    )


def test_an_unknown_name_in_one_of_several_forms_is_called_by_its_place_and_gets_the_names_of_that_form() -> None:
    error = refused({"action": "find", "queries": ["Tea", {"selector": "#a"}]})
    assert error.message == "Unknown argument 'queries.1.selector' for find."
    assert error.hint == "queries.1 takes: text, role, name."
