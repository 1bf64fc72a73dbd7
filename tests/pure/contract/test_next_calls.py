"""Tests how errors, hints and notices name calls."""

import ast
import json

import pytest

from browse_together.contract.call_spellings import as_command, of_listed, on_page
from browse_together.contract.next_calls import calls_in, marked, next_call, plain, sent, spelled
from scripts.lint import calls


@pytest.mark.parametrize(
    ("code", "is_typed"),
    [
        ("x = 'Look: snapshot {}.'", True),
        ("x = f'Look: snapshot {{}}.'", True),
        ("f'{said}: goto {json.dumps(x)}'", True),
        ("f'goto {url} failed'", False),
        ("def f():\n    'Such as `snapshot {}`.'", False),
    ],
)
def test_a_call_that_is_typed_by_hand_is_found(code: str, is_typed: bool) -> None:  # noqa: FBT001 - a case of the test
    assert bool([*calls.typed(ast.parse(code))]) is is_typed


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (next_call("snapshot"), "snapshot {}"),
        (next_call("goto", page_id='"é"', url="..."), 'goto {"pageId": "\\"é\\"", "url": "..."}'),
        (next_call("claim_page", as_="cook", wait_seconds=30), 'claim_page {"as": "cook", "waitSeconds": 30}'),
        (next_call("check", ...), "check {...}"),
        (next_call("clear_cookies", ..., domain="a.org"), 'clear_cookies {"domain": "a.org", ...}'),
        (next_call("drop", files=[...], data={...}), 'drop {"files": [...], "data": {...}}'),
        (
            next_call("fetch", headers={"X-a": None}, body=[{"b": True}]),
            'fetch {"headers": {"X-a": null}, "body": [{"b": true}]}',
        ),
    ],
)
def test_a_call_is_spelled_as_it_is_made(made: str, text: str) -> None:
    assert plain(made) == text


def test_a_call_without_placeholders_is_json() -> None:
    (call,) = calls_in(next_call("press", selector='text="a\\b"', key="Enter"))
    assert (call.action, json.loads(call.written)) == ("press", {"selector": 'text="a\\b"', "key": "Enter"})
    assert call.arguments == json.loads(call.written)


def test_the_calls_in_a_text_are_those_that_we_name_and_nobody_elses_words() -> None:
    text = f"'goto {{}}' is missing: {next_call('find', text='}} goto {')}, or {next_call('check', ...)}."
    assert [(call.action, call.arguments) for call in calls_in(text)] == [
        ("find", {"text": "}} goto {"}),
        ("check", {"...": True}),
    ]
    assert spelled(text, lambda call: call.action) == "'goto {}' is missing: find, or check."
    assert spelled(f"{text[:-4]}…", str).endswith("or check {..…"), "what was cut stays cut"


def test_an_error_that_is_sent_has_its_calls_as_data_too_and_they_are_found_again() -> None:
    hint = f"Own copy: {next_call('open_page', url='...')}. All: {next_call('list_pages')}."
    error = sent({"code": "PAGE_OWNED", "message": "It is in use.", "hint": hint})
    assert error["hint"] == 'Own copy: open_page {"url": "..."}. All: list_pages {}.'
    assert error["calls"] == [
        {"action": "open_page", "arguments": {"url": "..."}, "text": 'open_page {"url": "..."}'},
        {"action": "list_pages", "arguments": {}, "text": "list_pages {}"},
    ]
    assert marked(error["hint"], [call["text"] for call in error["calls"]]) == hint
    assert "calls" not in sent({"code": "TIMEOUT", "message": "x", "hint": None})


@pytest.mark.parametrize(
    "forged", ["goto {oops}", "nonsense {}", "goto 5", 'click {"a": ' + "[" * 100_000 + "}", " {}"]
)
def test_what_a_page_marks_as_a_call_does_no_harm(forged: str) -> None:
    """Words of pages lose such characters where they are quoted; an error of a library may still have them."""
    text = f"It says \x02{forged}\x03."
    for spell in (as_command, lambda call: str(on_page(call, "cart")), lambda call: of_listed(call, {"call_tool"})):
        assert spelled(text, spell).endswith(".")
    assert sent({"code": "TIMEOUT", "message": text})["message"] == f"It says {forged}."


def test_a_text_that_a_page_has_made_long_is_spelled_without_delay() -> None:
    for text in ("\x02focus {" * 100_000, "\x02" * 1_000_000, "{" * 100_000_000):
        assert spelled(text, str) == text.replace("\x02", "")
