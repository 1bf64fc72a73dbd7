"""Compares two trees of one document by the refs of their elements: what came, what went, and what is otherwise."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import filterfalse
from typing import Final

from browser_service.host.reading.tree import Node, Tree

_ITEMS: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})

Face = tuple[str, str, tuple[str, ...], str, str]
"""What a node shows of itself: role, name, states, URL and text."""


@dataclass
class RefIndex:
    """A tree by its refs. A node without a ref belongs to the nearest one around it; "" is the page's own."""

    nodes: Tree
    indexes: dict[str, int] = field(default_factory=dict)
    content: dict[str, list[Face]] = field(default_factory=lambda: defaultdict(list))
    """What the nodes of each ref show."""
    children: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    parents: dict[str, str] = field(default_factory=dict)
    texts: dict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    """The nodes in each ref that have none of their own; for "" those that no ref surrounds."""
    owners: list[str] = field(default_factory=list)
    """The nearest ref around each node."""

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

    def node(self, ref: str) -> Node:
        return self.nodes[self.indexes[ref]]

    def own_texts(self, ref: str) -> list[Node]:
        return self.texts.get(ref, [])

    def within(self, index: int) -> Iterator[tuple[int, Node, str]]:
        """Yield an element and what is in it: the index, the node, and the ref that it belongs to."""
        for number in range(index, len(self.nodes)):
            node = self.nodes[number]
            if number > index and node.depth <= self.nodes[index].depth:
                return
            yield number, node, node.ref or self.owners[number]

    def digests(self) -> dict[str, int]:
        """Return for each ref what tells it, with all that is in it, from others."""
        found: dict[str, int] = {}
        for ref in reversed(self.indexes):  # what is in an element comes after it
            found[ref] = hash((*self.content[ref], *(found[child] for child in self.children.get(ref, ()))))
        return found

    def survivors(self, changed: frozenset[str]) -> dict[str, str]:
        """Return for each ref the nearest one around it, or itself, that has not changed."""
        found = {"": ""}
        for ref, parent in self.parents.items():  # those around come first
            found[ref] = found[parent] if ref in changed else ref
        return found

    @staticmethod
    def face(node: Node) -> Face:
        return node.role, node.name, node.states, node.url, node.text


class Difference:
    """The difference between two trees of one document."""

    def __init__(self, old: Tree, new: Tree, *, covers: bool = False) -> None:
        """With `covers`, an element that only lost its ref because something covers it, or has it again, neither came
        nor went."""
        before, after = self.before, self.after = RefIndex(old), RefIndex(new)
        came, gone = after.indexes.keys() - before.indexes.keys(), before.indexes.keys() - after.indexes.keys()
        self.differs = bool(came or gone or before.content != after.content)
        covered = _refless(before, after, gone) if covers else set[str]()
        uncovered = _refless(after, before, came) if covers else set[str]()
        self.came, self.gone = frozenset(came - uncovered), frozenset(gone - covered)
        self.moved = {face for ref in covered for face in before.content[ref]}
        self.moved |= {face for ref in uncovered for face in after.content[ref]}
        """What covered elements show."""

    def added(self) -> Iterator[str]:
        """Yield the elements that came, without those in them."""
        return (ref for ref in self.after.indexes if ref in self.came and self.after.parents[ref] not in self.came)

    def removed(self) -> Iterator[str]:
        """Yield the elements that went, without those that were in them."""
        return (ref for ref in self.before.indexes if ref in self.gone and self.before.parents[ref] not in self.gone)

    def changed(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each element that stayed and is otherwise, and what is in it in its new order, if that changed."""
        for ref, content in self.after.content.items():
            if ref in self.came or (ref and ref not in self.before.indexes):
                continue
            order, former = self._new_order(ref), self.before.content.get(ref, [])
            if order or (content != former and self._lasting(content) != self._lasting(former)):
                yield ref, order

    def _lasting(self, content: list[Face]) -> list[Face]:
        return [*filterfalse(self.moved.__contains__, content)]

    def _new_order(self, ref: str) -> list[str]:
        """Return the refs that stayed in an element, in their order, if that changed."""
        old, new = self.before.children.get(ref, []), self.after.children.get(ref, [])
        if old == new:
            return []
        stayed = {*old} & {*new}
        order = [child for child in new if child in stayed]
        return order if order != [child for child in old if child in stayed] else []

    @cached_property
    def _before_in(self) -> dict[str, str]:
        return self.before.survivors(self.gone)

    @cached_property
    def _after_in(self) -> dict[str, str]:
        return self.after.survivors(self.came)

    @cached_property
    def remade(self) -> frozenset[str]:
        """The new refs of what was made anew, as it was, where it was: first what is the same with all in it, so that
        of a list with a new item on top the others are not told."""
        if not (self.gone and self.came):
            return frozenset()
        before, after = self.before.digests(), self.after.digests()
        wholes = Counter((self._before_in[ref], before[ref]) for ref in self.gone)
        faces = Counter((self._before_in[ref], (*self.before.content[ref],)) for ref in self.gone)
        found, left = set[str](), list[tuple[str, tuple[str, tuple[Face, ...]]]]()
        for ref in filter(self.came.__contains__, self.after.indexes):  # those around come first
            whole, face = (self._after_in[ref], after[ref]), (self._after_in[ref], (*self.after.content[ref],))
            if self.after.parents[ref] in found or wholes[whole] > 0:
                wholes[whole] -= 1
                faces[face] -= 1
                found.add(ref)
            else:
                left.append((ref, face))
        for ref, face in left:
            if faces[face] > 0:
                faces[face] -= 1
                found.add(ref)
        return frozenset(found)

    @cached_property
    def fewer(self) -> dict[str, Counter[str]]:
        """The items that lists which were made anew have no more, by the list and their roles."""
        remade = _items(self.after, self.remade, self._after_in)
        now = _items(self.after, self.came, self._after_in)
        fewer = dict[str, Counter[str]]()
        for parent, counts in _items(self.before, self.gone, self._before_in).items():
            lost = counts - now.get(parent, Counter())
            fewer[parent] = Counter({role: n for role, n in lost.items() if role in remade.get(parent, ())})
        return fewer


def _refless(index: RefIndex, other: RefIndex, refs: set[str]) -> set[str]:
    """Return those of the refs whose elements are in the other tree as well, without a ref."""
    if not refs:
        return set()
    here, there = (Counter(map(_self, (n for n in each.nodes if not n.ref))) for each in (index, other))
    without, found = there - here, set[str]()
    for ref in reversed(index.indexes):  # what is in an element comes after it, and tells it where it has no name
        node = index.node(ref)
        is_told = bool(node.label) or any(child in found for child in index.children.get(ref, ()))
        if ref in refs and is_told and without[_self(node)] > 0:
            without[_self(node)] -= 1
            found.add(ref)
    return found


def _self(node: Node) -> tuple[str, str, str, bool]:
    """Return what tells an element from others, whatever covers it."""
    return node.role, node.name, node.text, node.has_children


def _items(index: RefIndex, refs: frozenset[str], within: dict[str, str]) -> dict[str, Counter[str]]:
    """Count the items among these refs, by what they are in and their roles."""
    counts = defaultdict[str, Counter[str]](Counter)
    for ref in refs:
        if (role := index.node(ref).role) in _ITEMS:
            counts[within[ref]][role] += 1
    return counts
