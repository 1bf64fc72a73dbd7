"""Tests actions that carry actions: each part is parsed, addressed and told like a call of its own."""

import pytest

from browse_together.contract.actions.base import AN_ACTION
from browse_together.contract.actions.combining import Batch
from browse_together.contract.actions.help import CallTool
from browse_together.contract.actions.traits import Batching, Effect
from browse_together.contract.catalogue import ACTIONS, parse
from browse_together.contract.errors import BrowseError, ServiceUnavailable
from browse_together.contract.schema import full_schema, properties_of
from browser_service.rules.partial import with_account
from browser_service.security.redaction import arguments
from tests.support.bodies import smallest
from tests.support.each import each
from tests.support.json import AnyJson

CLICK = {"action": "click", "selector": "#a"}


def batch(*steps: AnyJson, **beside: AnyJson) -> Batch:
    parsed = parse({"action": "batch", "steps": [*steps], **beside})
    assert isinstance(parsed, Batch)
    return parsed


def test_parts_are_actions_and_come_out_of_json_as_they_went_in() -> None:
    parsed = batch(CLICK, {"action": "evaluate", "params": {"script": "1"}}, {"action": "content"})
    assert [part.name() for part in parsed.parts()] == ["click", "evaluate_script", "content"]
    assert parse(parsed.wire_body()) == parsed
    assert parsed.wire_body()["steps"] == [
        CLICK,
        {"action": "evaluate_script", "expression": "1"},
        {"action": "content"},
    ]


def test_parts_are_listed_as_objects() -> None:
    steps = properties_of(full_schema(Batch))["steps"]
    assert (steps["type"], steps["maxItems"]) == ("array", 50)
    assert steps["items"] == {"type": "object", "description": AN_ACTION, "maxProperties": 200}


@pytest.mark.parametrize(
    ("actions", "effect"),
    [
        (["content", "snapshot"], Effect.READS),
        (["content", "reload_page"], Effect.ACTS),
        (["close_page", "content"], Effect.DESTROYS),
    ],
)
def test_a_batch_affects_others_as_much_as_its_strongest_part(actions: list[str], effect: Effect) -> None:
    assert batch(*({"action": action} for action in actions)).effect is effect
    assert Batch.effect is Effect.DESTROYS


@pytest.mark.parametrize(
    ("step", "field", "says"),
    [
        (1, "steps.1", "steps.1 of batch: Input should be an object"),
        ({}, "steps.1", 'steps.1: "action" is missing.'),
        ({"action": "clik"}, "steps.1", "steps.1: Unknown action: clik"),
        ({"action": "click"}, "steps.1.selector", "steps.1.selector: click needs 'selector'."),
        ({**CLICK, "modifiers": ["X"]}, "steps.1.modifiers.0", "steps.1.modifiers.0: "),
        ({**CLICK, "params": {"buton": "left"}}, "steps.1.buton", "steps.1.buton: Unknown argument 'buton'"),
        ({"action": "batch", "steps": [CLICK]}, "steps.1", "steps.1: batch cannot be done within batch."),
        ({"action": "batch", "params": {"steps": [CLICK]}}, "steps.1", "steps.1: batch cannot be done within batch."),
        (
            {"action": "request_human", "kind": "code"},
            "steps.1",
            "steps.1: request_human cannot be done within batch: it waits for a person.",
        ),
        ({"action": "login"}, "steps.1", "steps.1: login cannot be done within batch: it waits for a person."),
        (
            {"action": "call_tool", "name": "batch", "arguments": {"steps": [CLICK]}},
            "steps.1",
            "steps.1: batch cannot be done within batch.",
        ),
        (
            {"action": "wait_for_request", "during": {"action": "list_pages"}},
            "steps.1.during",
            "steps.1.during: list_pages cannot be done within wait_for_request.",
        ),
        (
            {"action": "wait_for_request", "during": {**CLICK, "pageId": "b"}, "pageId": "c"},
            "steps.1.during.pageId",
            "ste",
        ),
    ],
)
def test_the_error_of_a_part_names_its_place(step: AnyJson, field: str, says: str) -> None:
    with pytest.raises(BrowseError) as caught:
        batch(CLICK, step, pageId="a", sessionId="default")
    assert caught.value.message.startswith(says)
    assert caught.value.details["context"]["field"] == field  # type: ignore[index,call-overload] # an object
    assert caught.value.advice


@pytest.mark.parametrize("steps", ["x", None, CLICK, [], [CLICK] * 51])
def test_steps_are_a_list_of_one_to_fifty(steps: AnyJson) -> None:
    with pytest.raises(BrowseError, match="steps of batch: "):
        parse({"action": "batch", "steps": steps})


BESIDES = [name for name, action in ACTIONS.items() if not action.asks_person and action not in (Batch, CallTool)]


@each({name: name for name in BESIDES})
def test_every_action_can_be_a_step_except_batches_and_waits_for_people(name: str) -> None:
    step = {"action": name, **smallest(ACTIONS[name])}
    parsed = batch(step, CLICK)
    assert [part.name() for part in parsed.steps] == [name, "click"]
    assert parse(parsed.wire_body()) == parsed
    called = batch({"action": "call_tool", "name": name, "arguments": smallest(ACTIONS[name])}, CLICK)
    assert called == parsed


@pytest.mark.parametrize(
    ("steps", "beside", "apart"),
    [
        ([CLICK, {**CLICK, "pageId": "a"}], {}, False),
        ([CLICK, {**CLICK, "pageId": "a"}], {"pageId": "a"}, False),
        ([CLICK, {"action": "close_page"}], {}, False),
        ([CLICK, {**CLICK, "pageId": "b"}], {"pageId": "a"}, True),
        ([{**CLICK, "pageId": "a"}, {**CLICK, "pageId": "b"}], {}, True),
        ([CLICK, {**CLICK, "sessionId": "b"}], {"sessionId": "a"}, True),
        ([CLICK, {"action": "list_pages"}], {}, True),
        ([CLICK, {"action": "handle_dialog", "accept": True}], {}, True),
        ([{"action": "open_page"}, CLICK], {}, True),
        ([{"action": "wait_for_request", "during": CLICK}], {}, True),
        ([{"action": "wait_for_request", "pattern": "*"}], {}, False),
        ([{"action": "set_extra_headers", "sessionId": "a", "headers": {"x": "y"}}], {}, True),
    ],
)
def test_steps_that_are_not_all_of_one_pages_turn_are_calls_of_their_own(
    steps: AnyJson,
    beside: AnyJson,
    *,
    apart: bool,
) -> None:
    assert (batch(*steps, **beside).batching is Batching.SEPARATE_CALLS) is apart


def test_expectations_of_a_page_are_not_ignored_if_steps_span_several_pages() -> None:
    for expected in ({"ifRevision": 3}, {"expectUrl": "*"}):
        assert batch(CLICK, **expected).batching is Batching.ONE_TURN
        with pytest.raises(BrowseError, match="its steps are not all of one page: give ifRevision and expectUrl"):
            batch(CLICK, {"action": "list_pages"}, **expected)


def test_a_page_that_only_the_parts_name_is_the_page_of_all() -> None:
    parsed = batch(CLICK, {**CLICK, "pageId": "a"}, {"action": "content"}, pageId=None)
    assert parsed.page_id == "a"
    assert parsed.touches().pages == {"a"}


def test_a_part_reveals_no_more_than_the_action_by_itself() -> None:
    fill = {"action": "fill", "selector": "#card", "value": "4111 1111"}
    evaluate = {"action": "evaluate_script", "expression": "secret()"}
    assert arguments(batch(CLICK, fill, evaluate)) == {
        "steps": [CLICK, {**fill, "value": "(9 characters)"}, {**evaluate, "expression": "(8 characters)"}]
    }


def test_finished_parts_are_not_repeated_after_the_service_ended() -> None:
    """A gateway sends again what an ending service says it did not do."""
    ending = ServiceUnavailable("It ends.", details={"context": {"ending": True}})
    parsed = batch({"action": "content"}, CLICK, {"action": "content"})
    assert with_account(parsed, [{}], 1, ending).details["context"]["ending"] is True  # type: ignore[index,call-overload] # an object
    failed = with_account(parsed, [{}, {"observed": "clicked"}], 2, ending)
    assert "ending" not in failed.details["context"]  # type: ignore[operator] # as above
    assert failed.advice is not None
    assert "do what is left: not all again" in failed.advice
