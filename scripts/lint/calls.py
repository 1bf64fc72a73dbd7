"""Checks the calls that errors, hints and notices name: none is typed by hand, and each could be made."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from browse_together.contract.catalogue import NAMES
from browse_together.contract.next_calls import next_call, plain
from scripts.lint.sources import CLIENT, CONTRACT, files, place, tree

SOURCES: Final = files("browser_service", "mcp_gateway", CLIENT, CONTRACT)
TYPED: Final = re.compile(rf"(?<![\w.])({'|'.join(NAMES)}) (?:\{{|\0json)")
"""An action and its arguments, or the arguments that are put there as JSON."""
COMPUTED: Final = {
    "browser_service/host/stages/explanation.py",
    "browser_service/spine/rendering/result.py",
    f"{CONTRACT}/help_text.py",
}
"""Where the action is the caller's own, and no name stands there."""


def _hole(node: ast.AST) -> str:
    return "\0json" if "json.dumps" in ast.unparse(node) else "\0"


def _texts(module: ast.AST) -> Iterator[str]:
    """Yield all strings except docstrings, each as a whole."""
    known: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Expr):
            known.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            known |= {id(part) for part in node.values}
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else _hole(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in known:
            yield node.value


def typed(module: ast.AST) -> Iterator[str]:
    """Yield the strings in which a call is typed by hand."""
    for text in _texts(module):
        if (" {" in text or " \0json" in text) and TYPED.search(text):  # the first is quick, and rules out most
            yield text


def by_hand() -> Iterator[str]:
    for path in SOURCES:
        for text in typed(tree(path)):
            yield f"{place(path)}: write this call with next_call: {text!r}"


def _within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _within(child)


def _calls() -> Iterator[tuple[str, ast.Call, ast.AST]]:
    """Yield each call that is named, with its place, and the function or file around it."""
    for path in SOURCES:
        if "next_call(" in path.read_text("utf-8"):
            for around in ast.walk(tree(path)):
                if isinstance(around, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    for node in _within(around):
                        if (
                            isinstance(node, ast.Call)
                            and isinstance(node.func, ast.Name)
                            and node.func.id == "next_call"
                        ):
                            yield f"{place(path)}:{node.lineno}", node, around


def _given(call: ast.Call, around: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments of a call, also those from a mapping made in the same function."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
            continue
        name = ast.unparse(keyword.value)
        for node in ast.walk(around):
            if isinstance(node, ast.Assign | ast.AnnAssign) and _binds(node, name):
                for made in ast.walk(node):
                    if isinstance(made, ast.Dict):
                        pairs = zip(made.keys, made.values, strict=True)
                        yield from ((ast.literal_eval(key), value) for key, value in pairs if key)


def _binds(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(each, ast.Name) and each.id == name for target in targets for each in ast.walk(target))


def _problem(name: str, value: ast.expr, fields: dict[str, FieldInfo]) -> str:
    """Return what is wrong with an argument. A computed value or a placeholder may be anything."""
    (written,) = json.loads(plain(next_call("", **{name: 1})).strip())
    field = next((field for field in fields.values() if field.alias == written), None)
    if field is None:
        return f"takes no {written}"
    try:
        constant = ast.literal_eval(value)
    except ValueError:
        return ""
    if "..." in str(constant) or "Ellipsis" in str(constant):
        return ""
    kind: Any = Annotated[field.annotation, None, *field.metadata]  # Any: it is made of a value
    try:
        TypeAdapter(kind).validate_python(constant)
    except ValidationError as error:
        return f"{written}: {error.errors()[0]['msg']}"
    return ""


def arguments() -> Iterator[str]:
    for where, call, around in _calls():
        action = ast.literal_eval(call.args[0]) if isinstance(call.args[0], ast.Constant) else None
        if action is None:
            if where.partition(":")[0] not in COMPUTED:
                yield f"{where}: name the action of this call"
        elif action not in NAMES:
            yield f"{where}: there is no action {action}"
        else:
            fields = NAMES[action].action.model_fields
            for name, value in _given(call, around):
                if problem := _problem(name, value, fields):
                    yield f"{where}: {action} {problem}"


CHECKS: Final = (by_hand, arguments)
