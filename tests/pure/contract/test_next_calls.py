"""Tests how the calls are spelled that errors, hints and notices name."""

import ast
import json

import pytest

from browse_together.contract.next_calls import next_call
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
    assert made == text


def test_a_call_without_placeholders_is_json() -> None:
    name, _, arguments = next_call("press", selector='text="a\\b"', key="Enter").partition(" ")
    assert (name, json.loads(arguments)) == ("press", {"selector": 'text="a\\b"', "key": "Enter"})
