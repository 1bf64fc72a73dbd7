"""Tests the calls that errors, hints and notices name: none is typed by hand, and each could be made."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from shared.catalogue import NAMES
from shared.next_calls import next_call

ROOT = Path(__file__).parents[3]
SOURCES = [
    path for folder in ("browser_service", "client", "mcp_gateway", "shared") for path in (ROOT / folder).rglob("*.py")
]
TYPED = re.compile(rf"(?<![\w.])({'|'.join(NAMES)}) (?:\{{|\0json)")
"""An action and its arguments, or the arguments that are put there as JSON."""
COMPUTED = {
    "browser_service/host/stages/explanation.py",
    "browser_service/spine/rendering/result.py",
}
"""Where the action is the caller's own, and no name stands there."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def hole(node: ast.AST) -> str:
    return "\0json" if "json.dumps" in ast.unparse(node) else "\0"


def texts(module: ast.AST) -> Iterator[str]:
    """Yield all strings except docstrings, each as a whole."""
    known: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Expr):
            known.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            known |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else hole(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in known:
            yield node.value


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
    assert any(map(TYPED.search, texts(ast.parse(code)))) is is_typed


def test_no_call_is_typed_by_hand() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in SOURCES
        for text in texts(tree(path))
        if (" {" in text or " \0json" in text) and TYPED.search(text)  # the first is quick, and rules out most
    }
    assert found == set()


@cache
def calls() -> list[tuple[str, ast.Call, ast.AST]]:
    """Find each call that is named, with its place, and the function or file around it."""
    return [
        (path.relative_to(ROOT).as_posix(), node, around)
        for path in SOURCES
        if "next_call(" in path.read_text("utf-8")
        for around in ast.walk(tree(path))
        if isinstance(around, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in within(around)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "next_call"
    ]


def within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from within(child)


def given(call: ast.Call, around: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Return the arguments of a call, also those from a mapping made in the same function."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
            continue
        name = ast.unparse(keyword.value)
        made = [node for node in ast.walk(around) if isinstance(node, ast.Assign | ast.AnnAssign) and bound(node, name)]
        assert made, f"{name} of {ast.unparse(call)} is made elsewhere"
        for node in made:
            for each in ast.walk(node):
                if isinstance(each, ast.Dict):
                    yield from (
                        (ast.literal_eval(key), value) for key, value in zip(each.keys, each.values, strict=True) if key
                    )


def bound(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(each, ast.Name) and each.id == name for target in targets for each in ast.walk(target))


def problem(name: str, value: ast.expr, fields: dict[str, FieldInfo]) -> str:
    """Return what is wrong with an argument. A computed value or a placeholder may be anything."""
    (written,) = json.loads(next_call("", **{name: 1}))
    field = next((field for field in fields.values() if field.alias == written), None)
    if field is None:
        return f"takes no {written}"
    try:
        plain = ast.literal_eval(value)
    except ValueError:
        return ""
    if "..." in str(plain) or "Ellipsis" in str(plain):
        return ""
    typed: Any = Annotated[field.annotation, None, *field.metadata]  # Any: it is made of a value
    TypeAdapter(typed).validate_python(plain)
    return ""


def test_each_call_names_an_action_and_arguments_that_it_takes() -> None:
    wrong = []
    computed = set()
    for place, call, around in calls():
        action = ast.literal_eval(call.args[0]) if isinstance(call.args[0], ast.Constant) else None
        if action is None:
            computed.add(place)
        elif action not in NAMES:
            wrong.append(f"{place}: there is no {action}")
        else:
            fields = NAMES[action].action.model_fields
            said = [problem(name, value, fields) for name, value in given(call, around)]
            wrong += [f"{place}: {action} {each}" for each in said if each]
    assert wrong == []
    assert computed == COMPUTED


def test_many_calls_are_checked() -> None:
    assert len(calls()) > 150


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
