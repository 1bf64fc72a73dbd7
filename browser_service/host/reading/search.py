"""Searches the tree of a page by its words, by role and name."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from browser_service.host.reading.places import place
from browser_service.host.reading.tree import Node, Tree, above, within, words
from shared.model import Json

_NEAREST: Final = 5
_ALIKE: Final = 0.5
_CHARACTERS: Final = 200


@dataclass(frozen=True)
class Match:
    """Is an element that was found: its index, and the words that matched if they are not its name."""

    index: int
    node: Node
    said: str = ""


def search(nodes: Tree, *, text: str = "", role: str = "", name: str = "") -> list[Match]:
    """Return all matches: exact names first, then what can be acted on, then the rest in the page's order."""
    wanted = name or text
    found = _by_role(nodes, role, name, text) if role or name else _by_text(nodes, text)
    return sorted(found, key=lambda m: (_rank(m, wanted), m.index))


def _rank(match: Match, wanted: str) -> tuple[bool, bool]:
    exact = wanted.casefold() in {match.node.name.casefold(), words(match.node.text).casefold()}
    return (not exact, not match.node.acts)


def _by_role(nodes: Tree, role: str, name: str, text: str) -> Iterator[Match]:
    for index, node in enumerate(nodes):
        if not node.ref or (role and node.role != role) or not _in(node.name, name):
            continue
        if not text or any(_has(inner, text) for inner in (node, *within(nodes, index))):
            yield Match(index, node)


def _by_text(nodes: Tree, text: str) -> Iterator[Match]:
    """Yield the innermost elements that have the words: rows and links repeat what is in them."""
    taken: set[int] = set()
    for index in range(len(nodes) - 1, -1, -1):
        if index in taken or not _has(nodes[index], text):
            continue
        outers = [*above(nodes, index)]
        taken.update(outers)
        named = next((n for n in (index, *outers) if nodes[n].ref), None)
        if named is not None:
            said = "" if named == index else _said(nodes[index])
            yield Match(named, nodes[named], said)


def _has(node: Node, text: str) -> bool:
    return _in(node.name, text) or _in(words(node.text), text)


def _in(said: str, text: str) -> bool:
    return text.casefold() in said.casefold()


def _said(node: Node) -> str:
    return node.name or words(node.text)


def nearest(nodes: Tree, wanted: str, role: str = "") -> list[str]:
    """Return the names on the page that are most like one that is missing."""
    names = {node.name.casefold(): node for node in nodes if node.name and node.ref and (not role or node.role == role)}
    close = difflib.get_close_matches(wanted.casefold(), [*names], _NEAREST, _ALIKE) if wanted else []
    return [names[name].what for name in close] or [node.what for node in [*names.values()][:_NEAREST]]


def line(nodes: Tree, match: Match) -> str:
    """Write a match for a model."""
    said = f": {_short(match.said)}" if match.said and match.said != words(match.node.text) else ""
    where = place(nodes, match.index)
    return f"{match.node.line.removesuffix(':')}{said}{f' · {where}' if where else ''}"


def row(nodes: Tree, match: Match) -> Json:
    """Write a match for programs."""
    node = match.node
    told: Json = {"ref": node.ref, "role": node.role, "name": node.name}
    if value := match.said or words(node.text):
        told["text"] = _short(value)
    if node.states:
        told["states"] = [*node.states]
    if where := place(nodes, match.index):
        told["in"] = where
    return told


def _short(said: str) -> str:
    return said if len(said) <= _CHARACTERS else f"{said[:_CHARACTERS]}…"
