"""The part of Handlebars that the prompts' templates use: values by path, `#each`, `#if` with `else` and `else if`."""

import re
from typing import Final, NamedTuple

from pydantic import JsonValue

_ALONE: Final = re.compile(r"^[ \t]*(\{\{(?:[#/]|else\b)[^{}]*\}\})[ \t]*(?:\n|\Z)", re.MULTILINE)
_TAG: Final = re.compile(r"\{\{([^{}]*)\}\}")


class Branch(NamedTuple):
    """Nodes, and on what they are rendered: `if pagination`, `each fields`, or `else`."""

    condition: str
    nodes: "list[Node]"


class Value(NamedTuple):
    path: str


Block = list[Branch]
Node = str | Value | Block


def render(template: str, context: JsonValue) -> str:
    """The text of a template; a tag alone on its line takes the line with it. Nothing is escaped: no HTML is made."""
    return _rendered(_parsed(template), context)


def _parsed(template: str) -> list[Node]:
    root: list[Node] = []
    open_blocks: list[Block] = []
    nodes = root
    for number, piece in enumerate(_TAG.split(_ALONE.sub(r"\1", template))):
        tag = piece.strip() if number % 2 else ""
        if not tag:
            nodes.append(piece)
        elif tag.startswith("#"):
            block: Block = [Branch(tag[1:], [])]
            nodes.append(block)
            open_blocks.append(block)
            nodes = block[-1].nodes
        elif tag.startswith("/"):
            open_blocks.pop()
            nodes = open_blocks[-1][-1].nodes if open_blocks else root
        elif tag.split()[0] == "else":
            open_blocks[-1].append(Branch(tag.removeprefix("else").strip() or "else", []))
            nodes = open_blocks[-1][-1].nodes
        else:
            nodes.append(Value(tag))
    return root


def _rendered(nodes: list[Node], context: JsonValue) -> str:
    return "".join(_node(node, context) for node in nodes)


def _node(node: Node, context: JsonValue) -> str:
    if isinstance(node, str):
        return node
    if isinstance(node, Value):
        return _written(_at(node.path, context))
    for condition, nodes in node:
        kind, _, path = condition.partition(" ")
        value = _at(path, context) if path else True
        if kind == "each" and isinstance(value, list) and value:
            return "".join(_rendered(nodes, item) for item in value)
        if kind != "each" and (value not in ([], "", None, False, 0)):
            return _rendered(nodes, context)
    return ""


def _at(path: str, context: JsonValue) -> JsonValue:
    for name in path.split("."):
        context = context.get(name) if isinstance(context, dict) else None
    return context


def _written(value: JsonValue) -> str:
    """As JavaScript writes it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ",".join(map(_written, value))
    return "[object Object]" if isinstance(value, dict) else str(value)
