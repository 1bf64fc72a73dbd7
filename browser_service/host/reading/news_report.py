"""Writes what changed within the room that a reply has: what matters most first, and the rest is counted."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Final

from browser_service.host.reading.changes import Change, common_depth, surroundings
from browser_service.host.reading.news import News
from browser_service.host.reading.outline import counted
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import CONTROLS, Node, Tree, ancestors, index_of

_OPENED: Final = frozenset({"menu", "listbox", "dialog", "alertdialog", "tooltip", "tree"})
_MOST_AROUND: Final = 20
_MOST_PLACED: Final = 100


@dataclass(frozen=True)
class NewsReport:
    text: str
    nodes: list[Node]
    omitted: int


def report(found: News, new: Tree, limit: int, acted_on: str | None) -> NewsReport:
    """Write the changes: those near the act first, without their place; the others below theirs."""
    acted_in, near = surroundings(new, acted_on), _near(new, acted_on)
    ranked = _unrepeated(sorted(found.told, key=lambda change: _rank(change, new, acted_in)))
    headings = {n.name for change in found.told for n in change.nodes if n.role == "heading"}
    names = Counter(node.role_and_name for node in new if node.name and node.role in CONTROLS)
    kept: list[tuple[str, Change]] = []
    room, omitted = limit, found.alike + len(ranked[_MOST_PLACED:])
    for change in ranked[:_MOST_PLACED]:
        head = change.nodes[0].role_and_name if change.nodes else ""
        where = "" if names[head] == 1 else _where(change, near, headings)
        size = sum(len(line.encode()) + 1 for line in change.lines) + len(where.encode()) + 2
        if size <= room:
            room -= size
            kept.append((where, change))
        else:
            omitted += 1
    kept.sort(key=lambda each: (bool(each[0]), each[1].index))
    lines, last = list[str](), ""
    for where, change in kept:
        lines += [f"{where}:"] if where and where != last and _name(where) != (_name(last) or where) else []
        lines += change.lines
        last = where
    if found.remade:
        lines.append(f"~ {counted(found.remade, 'control')} made anew: new refs")
    return NewsReport("\n".join(lines), [node for _, change in kept for node in change.nodes], omitted)


def _rank(change: Change, nodes: Tree, acted_in: frozenset[int]) -> tuple[bool, bool, int]:
    """Rank what the page announces first, then what it has opened, then what is near the act."""
    around = (change.index, *islice(ancestors(nodes, change.index), _MOST_AROUND)) if change.nodes else ()
    is_open = any(nodes[index].role in _OPENED for index in around)
    return not change.announced, not is_open, -common_depth(nodes, change.index, acted_in)


def _unrepeated(changes: list[Change]) -> list[Change]:
    """Leave out words that another change says, such as those that a page has for screen readers beside its own."""
    said, kept = set[str](), list[Change]()
    for change in changes:
        words = " ".join(node.label for node in change.nodes if node.label)
        is_words = bool(words) and not any(node.is_control for node in change.nodes)
        if not (is_words and words in said):
            kept.append(change)
        said |= {words} if is_words else set()
    return kept


def _where(change: Change, near: str | None, headings: set[str]) -> str:
    """Return the place of a change, if that is not where the act was, and no line says it."""
    where = "" if change.announced or not change.nodes else place(*change.position)
    role, name = where.partition(" ")[0], _name(where)
    said = name in headings or any(name in line for line in change.lines)
    return "" if where == near or role == "under" or (name and said) else where


def _name(where: str) -> str:
    """Return the name of a place: a region, and the heading in it, are one."""
    return where.partition(" ")[2].strip('"')


def _near(nodes: Tree, acted_on: str | None) -> str | None:
    """Return the place of what was acted on."""
    index = index_of(nodes, acted_on) if acted_on else None
    if index is None:
        index = next((i for i, node in enumerate(nodes) if "active" in node.marks), None)
    return None if index is None else place(nodes, index)
