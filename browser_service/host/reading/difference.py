"""Compares two trees of one document by the refs of their elements (which were added, removed or changed), and writes
the changes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import filterfalse
from typing import Final, NamedTuple

from browser_service.host.reading.places import place
from browser_service.host.reading.tree import Node, Tree

_ITEMS: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})

Face = tuple[str, str, tuple[str, ...], str, str]
"""A node's role, name, states, URL and text."""


@dataclass
class RefIndex:
    """A tree indexed by refs. A node without a ref belongs to the nearest ref around it, or to "", the page itself."""

    nodes: Tree
    indexes: dict[str, int] = field(default_factory=dict)
    content: dict[str, list[Face]] = field(default_factory=lambda: defaultdict(list))
    """The faces of the nodes that belong to each ref."""
    children: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    parents: dict[str, str] = field(default_factory=dict)
    texts: dict[str, list[Node]] = field(default_factory=lambda: defaultdict(list))
    """The nodes without a ref that belong to each ref; under "", those outside of all refs."""
    owners: list[str] = field(default_factory=list)

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
        """Yield an element and its descendants: index, node, and the ref that each belongs to."""
        for number in range(index, len(self.nodes)):
            node = self.nodes[number]
            if number > index and node.depth <= self.nodes[index].depth:
                return
            yield number, node, node.ref or self.owners[number]

    def digests(self) -> dict[str, int]:
        """Return for each ref a hash of its element and everything inside."""
        found: dict[str, int] = {}
        for ref in reversed(self.indexes):  # descendants come later
            found[ref] = hash((*self.content[ref], *(found[child] for child in self.children.get(ref, ()))))
        return found

    def survivors(self, changed: frozenset[str]) -> dict[str, str]:
        """Return for each ref the nearest unchanged ref around it, or the ref itself if it is unchanged."""
        found = {"": ""}
        for ref, parent in self.parents.items():  # ancestors come first
            found[ref] = found[parent] if ref in changed else ref
        return found

    @staticmethod
    def face(node: Node) -> Face:
        return node.role, node.name, node.states, node.url, node.text


class Difference:
    """The difference between two trees of one document."""

    def __init__(self, old: Tree, new: Tree, *, covers: bool = False) -> None:
        """Compare two trees. With `covers`, an element that only lost its ref because something covers it, or got the
        ref back, counts as neither added nor removed."""
        before, after = self.before, self.after = RefIndex(old), RefIndex(new)
        came, gone = after.indexes.keys() - before.indexes.keys(), before.indexes.keys() - after.indexes.keys()
        self.differs = bool(came or gone or before.content != after.content)
        covered = _refless(before, after, gone) if covers else set[str]()
        uncovered = _refless(after, before, came) if covers else set[str]()
        self.came, self.gone = frozenset(came - uncovered), frozenset(gone - covered)
        self.moved = {face for ref in covered for face in before.content[ref]}
        self.moved |= {face for ref in uncovered for face in after.content[ref]}
        """The faces of elements that lost or regained their ref because of a cover."""

    def added(self) -> Iterator[str]:
        """Yield the added elements, without those inside another added one."""
        return (ref for ref in self.after.indexes if ref in self.came and self.after.parents[ref] not in self.came)

    def removed(self) -> Iterator[str]:
        """Yield the removed elements, without those inside another removed one."""
        return (ref for ref in self.before.indexes if ref in self.gone and self.before.parents[ref] not in self.gone)

    def changed(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each element that stayed but changed, with the new order of its children if that changed."""
        for ref, content in self.after.content.items():
            if ref in self.came or (ref and ref not in self.before.indexes):
                continue
            order, former = self._new_order(ref), self.before.content.get(ref, [])
            if order or (content != former and self._lasting(content) != self._lasting(former)):
                yield ref, order

    def _lasting(self, content: list[Face]) -> list[Face]:
        return [*filterfalse(self.moved.__contains__, content)]

    def _new_order(self, ref: str) -> list[str]:
        """Return the children that stayed in an element, in their new order; empty if the order is the same."""
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
        """The new refs of elements that the page recreated unchanged in the same place. Elements that are equal with
        all their content are matched first, so that a new item on top of a list does not make the other items news."""
        if not (self.gone and self.came):
            return frozenset()
        before, after = self.before.digests(), self.after.digests()
        wholes = Counter((self._before_in[ref], before[ref]) for ref in self.gone)
        faces = Counter((self._before_in[ref], (*self.before.content[ref],)) for ref in self.gone)
        found, left = set[str](), list[tuple[str, tuple[str, tuple[Face, ...]]]]()
        for ref in filter(self.came.__contains__, self.after.indexes):  # ancestors come first
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
        """By list and role, how many items fewer a recreated list has."""
        remade = _items(self.after, self.remade, self._after_in)
        now = _items(self.after, self.came, self._after_in)
        fewer = dict[str, Counter[str]]()
        for parent, counts in _items(self.before, self.gone, self._before_in).items():
            lost = counts - now.get(parent, Counter())
            fewer[parent] = Counter({role: n for role, n in lost.items() if role in remade.get(parent, ())})
        return fewer


def _refless(index: RefIndex, other: RefIndex, refs: set[str]) -> set[str]:
    """Return those of the refs whose elements are also in the other tree, without a ref."""
    if not refs:
        return set()
    here, there = (Counter(map(_self, (n for n in each.nodes if not n.ref))) for each in (index, other))
    without, found = there - here, set[str]()
    for ref in reversed(index.indexes):  # descendants come later; they identify an element without a name
        node = index.node(ref)
        is_told = bool(node.label) or any(child in found for child in index.children.get(ref, ()))
        if ref in refs and is_told and without[_self(node)] > 0:
            without[_self(node)] -= 1
            found.add(ref)
    return found


def _self(node: Node) -> tuple[str, str, str, bool]:
    """Return what identifies an element even while something covers it."""
    return node.role, node.name, node.text, node.has_children


def _items(index: RefIndex, refs: frozenset[str], within: dict[str, str]) -> dict[str, Counter[str]]:
    """Count the items among these refs, by their container and role."""
    counts = defaultdict[str, Counter[str]](Counter)
    for ref in refs:
        if (role := index.node(ref).role) in _ITEMS:
            counts[within[ref]][role] += 1
    return counts


class _Change(NamedTuple):
    order: int
    nodes: Tree
    at: int
    """Index in `nodes`, which is the old tree for removed elements."""
    lines: list[str]


def written(old: Tree, new: Tree, is_shown: Callable[[Tree, int], bool]) -> str:
    """Write the changes in page order, each below its place, for elements that `is_shown` accepts."""
    difference = Difference(old, new)
    found = [*_added(difference), *_changed(difference), *_removed(difference)]
    lines, last = list[str](), ""
    for change in sorted(found, key=lambda each: each.order):
        if is_shown(change.nodes, change.at):
            where = place(change.nodes, change.at)
            lines += [f"{where}:"] if where and where != last else []
            lines += change.lines
            last = where
    return "\n".join(lines)


def _added(difference: Difference) -> Iterator[_Change]:
    after = difference.after
    for ref in difference.added():
        index = after.indexes[ref]
        top = after.nodes[index].depth
        nodes = [node for _, node, owner in after.within(index) if owner in difference.came]
        lines = [f"+ {'  ' * (node.depth - top)}{node.line.removeprefix('- ')}" for node in nodes]
        yield _Change(index, after.nodes, index, lines)


def _changed(difference: Difference) -> Iterator[_Change]:
    after = difference.after
    for ref, order in difference.changed():
        lines = [f"~ {after.node(ref).line.removeprefix('- ').removesuffix(':')}"] if ref else []
        lines += [f"~   {node.line.removeprefix('- ')}" for node in after.own_texts(ref)]
        lines += [f"~   in this order now: {', '.join(order)}"] if order else []
        lines = lines or ["- text is gone"]  # text outside of all elements
        index = after.indexes.get(ref, 0)
        yield _Change(index, after.nodes, index, lines)


def _removed(difference: Difference) -> Iterator[_Change]:
    before = difference.before
    for ref in difference.removed():
        index = difference.after.indexes.get(before.parents[ref], 0)
        lines = [f"- {before.node(ref).role_and_name} [ref={ref}] is gone"]
        yield _Change(index, before.nodes, before.indexes[ref], lines)
