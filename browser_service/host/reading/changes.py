"""Describes what changed between two trees of one document, in lines that make sense without the whole."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from browser_service.host.reading.places import place
from browser_service.host.reading.tree import FIELDS, Node, Tree, above

_LOUD: Final = frozenset({"alert", "alertdialog", "dialog", "status", "log"})
"""A page shows these to be noticed."""


@dataclass
class Change:
    """Is one element that came, went, or changed: its lines, its place, and its index in the new tree."""

    lines: list[str]
    nodes: list[Node]
    """Are the nodes that the lines show, in their order."""
    at: tuple[Tree, int]
    index: int
    loud: bool = False
    field_details: bool = False
    """True if only the content of a field changed."""


@dataclass
class _Side:
    """Indexes a tree by its refs: the own text of each, and the refs inside it."""

    nodes: Tree
    at: dict[str, int] = field(default_factory=dict)
    own: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inner: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    outer: dict[str, str] = field(default_factory=dict)
    owners: list[str] = field(default_factory=list)
    """Has the nearest ref around each node."""

    def __post_init__(self) -> None:
        for index, node in enumerate(self.nodes):
            above_it = node.parent
            outer = "" if above_it is None else self.nodes[above_it].ref or self.owners[above_it]
            self.owners.append(outer)
            self.own[node.ref or outer].append(_key(node))
            if node.ref:
                self.at[node.ref], self.outer[node.ref] = index, outer
                self.inner[outer].append(node.ref)

    def inside(self, index: int) -> Iterator[tuple[Node, str]]:
        """Yield an element and what is in it, each with the ref that it belongs to."""
        for number in range(index, len(self.nodes)):
            node = self.nodes[number]
            if number > index and node.depth <= self.nodes[index].depth:
                return
            yield node, node.ref or self.owners[number]

    def texts(self, ref: str) -> list[Node]:
        """Return what is in an element and has no ref of its own; for "" the page's nodes that no ref surrounds."""
        inner = self.inside(self.at[ref]) if ref else ((n, self.owners[i]) for i, n in enumerate(self.nodes))
        return [node for node, owner in inner if not node.ref and owner == ref]


def _key(node: Node) -> str:
    """Return a node's line without its place on the screen, and without the focus."""
    return f"{node.what} {node.states} {node.url} {node.text}"


def changes(old: Tree, new: Tree) -> list[Change]:
    """Return the changes in the order of the page."""
    before, after = _Side(old), _Side(new)
    found = [*_added(before, after), *_changed(before, after), *_removed(before, after)]
    return sorted(found, key=lambda change: change.index)


def _added(before: _Side, after: _Side) -> Iterator[Change]:
    new = after.at.keys() - before.at.keys()
    for ref, index in after.at.items():
        if ref in new and after.outer[ref] not in new:
            shown = [node for node, owner in after.inside(index) if owner in new]
            top = after.nodes[index].depth
            lines = [f"+ {'  ' * (node.depth - top)}{node.line.removeprefix('- ')}" for node in shown]
            yield Change(lines, shown, (after.nodes, index), index, loud=any(node.role in _LOUD for node in shown))


def _changed(before: _Side, after: _Side) -> Iterator[Change]:
    for ref, own in after.own.items():
        moved = _moved(before, after, ref)
        if (ref and ref not in before.at) or (own == before.own.get(ref, []) and not moved):
            continue
        index = after.at.get(ref, 0)
        itself = [after.nodes[index]] if ref else []
        shown = [*itself, *after.texts(ref)]
        lines = [f"~ {node.line.removeprefix('- ').removesuffix(':')}" for node in itself]
        lines += [f"~   {node.line.removeprefix('- ')}" for node in shown[len(itself) :]]
        if moved:
            lines.append(f"~   in this order now: {', '.join(moved)}")
            shown += [after.nodes[after.at[inner]] for inner in moved]
        loud, field_details = (any(node.role in roles for node in itself) for roles in (_LOUD, FIELDS))
        yield Change(lines, shown, (after.nodes, index), index, loud=loud, field_details=field_details)


def _moved(before: _Side, after: _Side, ref: str) -> list[str]:
    """Return the refs that stayed in an element, in their order, if that changed."""
    stayed = {*before.inner.get(ref, [])} & {*after.inner.get(ref, [])}
    old = [inner for inner in before.inner.get(ref, []) if inner in stayed]
    new = [inner for inner in after.inner.get(ref, []) if inner in stayed]
    return new if new != old else []


def _removed(before: _Side, after: _Side) -> Iterator[Change]:
    gone = before.at.keys() - after.at.keys()
    for ref, index in before.at.items():
        if ref in gone and (outer := before.outer[ref]) not in gone:
            lines = [f"- {before.nodes[index].what} [ref={ref}] is gone"]
            yield Change(lines, [], (before.nodes, index), after.at.get(outer, 0))


@dataclass(frozen=True)
class ChangeReport:
    """Holds changes in words, the nodes that these show, and the number of changes that did not fit."""

    text: str
    shown: list[Node]
    left: int


def report(found: list[Change], new: Tree, limit: int = sys.maxsize, acted_on: str | None = None) -> ChangeReport:
    """Describe the changes in the order of the page. If not all fit, the loud and the near ones come first."""
    ranked = sorted(found, key=lambda change: (not change.loud, -_shared(new, change.index, acted_on)))
    taken: list[tuple[Change, str, int]] = []
    room, left = limit, 0
    for change in ranked:
        where = place(*change.at)
        fits = [size for size in accumulate(len(line) + 1 for line in change.lines) if size + len(where) + 2 <= room]
        left += len(fits) < len(change.lines)
        if fits:
            room -= fits[-1] + len(where) + 2
            taken.append((change, where, len(fits)))
    lines, last = [], ""
    for change, where, count in sorted(taken, key=lambda one: one[0].index):
        lines += [f"{where}:"] if where and where != last else []
        lines += change.lines[:count]
        last = where
    return ChangeReport("\n".join(lines), [node for change, _, count in taken for node in _shown(change, count)], left)


def _shown(change: Change, count: int) -> list[Node]:
    return change.nodes if count == len(change.lines) else change.nodes[:count]


def _shared(nodes: Tree, index: int, ref: str | None) -> int:
    """Return the depth of the element that holds both a change and what was acted on."""
    acted = next((i for i, node in enumerate(nodes) if (node.ref == ref if ref else "active" in node.marks)), None)
    if acted is None:
        return 0
    round_it = {acted, *above(nodes, acted)}
    return next((nodes[i].depth + 1 for i in (index, *above(nodes, index)) if i in round_it), 0)
