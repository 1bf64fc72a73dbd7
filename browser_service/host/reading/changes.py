"""Describes what changed between two trees of one document, in lines that make sense without the whole."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from browser_service.host.reading.places import place
from browser_service.host.reading.tree import FIELDS, HIDDEN, TICKED, Node, Tree, ancestors

ANNOUNCED_ROLES: Final = frozenset({"alert", "alertdialog", "dialog", "status", "log"})
"""A page shows these to be noticed."""


@dataclass
class Change:
    """Is one element that came, went, or changed: its lines, its place, and its index in the new tree."""

    lines: list[str]
    nodes: list[Node]
    """Are the nodes that the lines show, in their order."""
    position: tuple[Tree, int]
    index: int
    announced: bool = False
    is_field_value: bool = False
    """True if only the content of a field changed."""

    def has(self, text: str) -> bool:
        """Return whether a line of it ends with a field's text. "" stands for a tick, which the focus tells from one of
        the page's own."""
        if not text:
            return any(node.role in TICKED and "active" in node.marks for node in self.nodes)
        ends = (f": {text}", f': "{text}"')
        return any(node.line.endswith(ends) for node in self.nodes)

    def is_given_unseen(self, refs: frozenset[str]) -> bool:
        """Return whether it is one of these fields, and shows no text to compare: a tick, which can only be as given
        if it changed, or a password."""
        field = self.nodes[0] if self.nodes else None
        return field is not None and field.ref in refs and (field.role in TICKED or field.words == HIDDEN)


Face = tuple[str, str, tuple[str, ...], str, str]
"""Is what a node shows of itself: role, name, states, URL and text."""


@dataclass
class RefIndex:
    """Indexes a tree by its refs. A node without a ref belongs to the nearest one around it; "" is the page's own."""

    nodes: Tree
    indexes: dict[str, int] = field(default_factory=dict)
    content: dict[str, list[Face]] = field(default_factory=lambda: defaultdict(list))
    """Has what each ref's own nodes show."""
    children: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    parents: dict[str, str] = field(default_factory=dict)
    texts: dict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    """Has what is in each ref and has none of its own."""
    owners: list[str] = field(default_factory=list)
    """Has the nearest ref around each node."""

    def __post_init__(self) -> None:
        for index, node in enumerate(self.nodes):
            parent = "" if node.parent is None else self.nodes[node.parent].ref or self.owners[node.parent]
            self.owners.append(parent)
            self.content[node.ref or parent].append(self.face(node))
            if node.ref:
                self.indexes[node.ref], self.parents[node.ref] = index, parent
                self.children[parent].append(node.ref)
            else:
                self.texts[parent].append(node)

    def digests(self) -> dict[str, int]:
        """Return for each ref what tells it, with all that is in it, from others."""
        found: dict[str, int] = {}
        for ref in reversed(self.indexes):  # what is in an element comes after it
            found[ref] = hash((*self.content[ref], *(found[child] for child in self.children.get(ref, ()))))
        return found

    @staticmethod
    def face(node: Node) -> Face:
        return node.role, node.name, node.states, node.url, node.text

    def new_order(self, after: "RefIndex", ref: str) -> list[str]:
        """Return the refs that stayed in an element, in their order, if that changed."""
        old, new = self.children.get(ref, []), after.children.get(ref, [])
        if old == new:
            return []
        stayed = {*old} & {*new}
        order = [child for child in new if child in stayed]
        return order if order != [child for child in old if child in stayed] else []

    def within(self, index: int) -> Iterator[tuple[Node, str]]:
        """Yield an element and what is in it, each with the ref that it belongs to."""
        for number in range(index, len(self.nodes)):
            node = self.nodes[number]
            if number > index and node.depth <= self.nodes[index].depth:
                return
            yield node, node.ref or self.owners[number]

    def own_texts(self, ref: str) -> list[Node]:
        """Return what is in an element and has no ref of its own; for "" the page's nodes that no ref surrounds."""
        return self.texts.get(ref, [])


def changes(old: Tree, new: Tree) -> list[Change]:
    """Return the changes in the order of the page."""
    before, after = RefIndex(old), RefIndex(new)
    found = [*_added(before, after), *_changed(before, after), *_removed(before, after)]
    return sorted(found, key=lambda change: change.index)


def _added(before: RefIndex, after: RefIndex) -> Iterator[Change]:
    new = after.indexes.keys() - before.indexes.keys()
    for ref, index in after.indexes.items():
        if ref in new and after.parents[ref] not in new:
            nodes = [node for node, owner in after.within(index) if owner in new]
            top = after.nodes[index].depth
            lines = [f"+ {'  ' * (node.depth - top)}{node.line.removeprefix('- ')}" for node in nodes]
            announced = any(node.role in ANNOUNCED_ROLES for node in nodes)
            yield Change(lines, nodes, (after.nodes, index), index, announced=announced)


def _changed(before: RefIndex, after: RefIndex) -> Iterator[Change]:
    for ref, content in after.content.items():
        order = before.new_order(after, ref)
        if (ref and ref not in before.indexes) or (content == before.content.get(ref, []) and not order):
            continue
        index = after.indexes.get(ref, 0)
        itself = [after.nodes[index]] if ref else []
        texts = after.own_texts(ref)
        lines = [f"~ {node.line.removeprefix('- ').removesuffix(':')}" for node in itself]
        lines += [f"~   {node.line.removeprefix('- ')}" for node in texts]
        if order:
            lines.append(f"~   in this order now: {', '.join(order)}")
        nodes = [*itself, *texts, *(after.nodes[after.indexes[child]] for child in order)]
        announced, is_field = (any(node.role in roles for node in itself) for roles in (ANNOUNCED_ROLES, FIELDS))
        yield Change(lines, nodes, (after.nodes, index), index, announced=announced, is_field_value=is_field)


def _removed(before: RefIndex, after: RefIndex) -> Iterator[Change]:
    gone = before.indexes.keys() - after.indexes.keys()
    for ref, index in before.indexes.items():
        if ref in gone and (parent := before.parents[ref]) not in gone:
            lines = [f"- {before.nodes[index].role_and_name} [ref={ref}] is gone"]
            yield Change(lines, [], (before.nodes, index), after.indexes.get(parent, 0))


@dataclass(frozen=True)
class ChangeReport:
    """Holds changes in words, the nodes that these show, and the number of changes that did not fit."""

    text: str
    nodes: list[Node]
    omitted: int


def report(found: list[Change], new: Tree, limit: int = sys.maxsize, acted_on: str | None = None) -> ChangeReport:
    """Describe the changes in the order of the page. If not all fit, the announced and the near ones come first."""
    near = surroundings(new, acted_on)
    ranked = sorted(found, key=lambda change: (not change.announced, -common_depth(new, change.index, near)))
    reported: list[tuple[Change, str, int]] = []
    room, omitted = limit, 0
    for change in ranked:
        where = place(*change.position)
        around = len(where.encode()) + 2
        sizes = [size for size in accumulate(len(line.encode()) + 1 for line in change.lines) if size + around <= room]
        omitted += len(sizes) < len(change.lines)
        if sizes:
            room -= sizes[-1] + around
            reported.append((change, where, len(sizes)))
    lines, nodes = list[str](), list[Node]()
    last = ""
    for change, where, count in sorted(reported, key=lambda each: each[0].index):
        lines += [f"{where}:"] if where and where != last else []
        lines += change.lines[:count]
        nodes += change.nodes if count == len(change.lines) else change.nodes[:count]
        last = where
    return ChangeReport("\n".join(lines), nodes, omitted)


def surroundings(nodes: Tree, ref: str | None) -> frozenset[int]:
    """Return what was acted on, and the elements around it."""
    acted = next((i for i, node in enumerate(nodes) if (node.ref == ref if ref else "active" in node.marks)), None)
    return frozenset() if acted is None else frozenset({acted, *ancestors(nodes, acted)})


def common_depth(nodes: Tree, index: int, acted_in: frozenset[int]) -> int:
    """Return the depth of the element that holds both a change and what was acted on."""
    if not acted_in:
        return 0
    return next((nodes[i].depth + 1 for i in (index, *ancestors(nodes, index)) if i in acted_in), 0)
