"""Writes what changed within the space that a reply has: the most important changes first, the rest as a count."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from browser_service.host.reading.news import Change, News
from browser_service.host.reading.outline import counted
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import CONTROLS, WORDS, Node, Tree, ancestors, index_of

_OPENED: Final = frozenset({"menu", "listbox", "dialog", "alertdialog", "tooltip", "tree"})
_NAMING: Final = frozenset({"heading", "dialog", "alertdialog"})
_PROSE: Final = WORDS - {"heading"}
_CHOICES: Final = frozenset({"menu", "listbox"})
_BETWEEN: Final = " | "
_CUT: Final = "…"
_MOST_AROUND: Final = 20
_MOST_PLACED: Final = 100


@dataclass(frozen=True)
class NewsReport:
    """The written changes, the nodes that they show, and the number of changes that did not fit."""

    text: str
    nodes: list[Node]
    omitted: int


def report(found: News, new: Tree, limit: int, acted_on: str | None) -> NewsReport:
    """Write the changes: those near the act first and without a place; the others below their places."""
    acted = _acted_on(new, acted_on)
    acted_in = frozenset() if acted is None else frozenset({acted, *ancestors(new, acted)})
    near = None if acted is None else place(new, acted)
    ranked = _unrepeated(sorted(found.told, key=lambda change: _rank(change, new, acted_in)))
    headings = {n.name for change in found.told for n in change.nodes if n.role in _NAMING}
    names = Counter(node.role_and_name for node in new if node.name and node.role in CONTROLS)
    kept: list[tuple[str, Change]] = []
    room, omitted = limit, found.alike + len(ranked[_MOST_PLACED:])
    for whole in ranked[:_MOST_PLACED]:
        head = whole.nodes[0].role_and_name if whole.nodes else ""
        where = "" if names[head] == 1 else _where(whole, new, near, headings)
        space = room - len(where.encode()) - 2
        change = whole if kept else _fitted(whole, space)
        size = _size(change.lines)
        omitted += change is not whole or size > space
        if change.lines and size <= space:
            room = space - size
            kept.append((where, change))
    kept.sort(key=lambda each: (bool(each[0]), each[1].index))
    lines, last = list[str](), ""
    for where, change in kept:
        lines += [f"{where}:"] if where and where != last and _name(where) != (_name(last) or where) else []
        lines += change.lines
        last = where
    if found.remade:
        lines.append(f"~ {counted(found.remade, 'control')} made anew: new refs")
    return NewsReport("\n".join(lines), [node for _, change in kept for node in change.nodes], omitted)


def _size(lines: list[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _fitted(change: Change, space: int) -> Change:
    """Return the change, or as many parts of its first line as fit."""
    if _size(change.lines) <= space:
        return change
    parts = change.lines[0].split(_BETWEEN)
    count = next((n for n in range(len(parts) - 1, 0, -1) if _size([_BETWEEN.join([*parts[:n], _CUT])]) <= space), 0)
    lines = [_BETWEEN.join([*parts[:count], _CUT])] if count else []
    return replace(change, lines=lines, nodes=[n for n in change.nodes if lines and f"[ref={n.ref}]" in lines[0]])


def _rank(change: Change, nodes: Tree, acted_in: frozenset[int]) -> tuple[bool, bool, bool, bool, int]:
    """Rank new choices first, then what the page announces, then what it has opened (its controls before its prose),
    then changes near the act."""
    is_there = not change.lines[0].startswith("-")
    around = (change.index, *islice(ancestors(nodes, change.index), _MOST_AROUND)) if is_there else ()
    roles = {nodes[index].role for index in around}
    offers = bool(roles & _CHOICES) and change.lines[0].startswith("+")
    is_opened = bool(roles & _OPENED)
    is_control = any(node.is_control for node in change.nodes) and change.nodes[0].role not in _PROSE
    is_prose = is_opened and not is_control
    return not offers, not change.announced, not is_opened, is_prose, -_common_depth(nodes, change.index, acted_in)


def _unrepeated(changes: list[Change]) -> list[Change]:
    """Drop words that an earlier change already shows, such as a page's copy for screen readers."""
    said, kept = set[str](), list[Change]()
    for change in changes:
        words = " ".join(node.label for node in change.nodes if node.label)
        is_words = bool(words) and not any(node.is_control for node in change.nodes)
        if not (is_words and words in said):
            kept.append(change)
        said |= {words} if is_words else set()
    return kept


def _where(change: Change, nodes: Tree, near: str | None, headings: set[str]) -> str:
    """Return the place of a change; "" if that is where the act was, or a line already names it."""
    where = "" if change.announced or not change.nodes else place(nodes, change.index)
    role, name = where.partition(" ")[0], _name(where)
    said = name in headings or any(name in line for line in change.lines)
    return "" if where == near or role == "under" or (name and said) else where


def _name(where: str) -> str:
    """Return the name of a place, without its role: a region and its heading count as one place."""
    return where.partition(" ")[2].strip('"')


def _acted_on(nodes: Tree, ref: str | None) -> int | None:
    """Return the index of the element acted on; without a ref, or if it is gone, that of the focused element."""
    index = index_of(nodes, ref) if ref else None
    if index is None:
        index = next((i for i, node in enumerate(nodes) if "active" in node.marks), None)
    return index


def _common_depth(nodes: Tree, index: int, acted_in: frozenset[int]) -> int:
    """Return the depth of the innermost element around both the change and the act, plus one; 0 if there is none."""
    if not acted_in:
        return 0
    return next((nodes[i].depth + 1 for i in (index, *ancestors(nodes, index)) if i in acted_in), 0)
