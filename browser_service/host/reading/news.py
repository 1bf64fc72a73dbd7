"""Tells what a model needs to know of an act's changes: what appeared, and what is otherwise; what went is counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import filterfalse, islice
from typing import Final

from browser_service.host.reading.changes import ANNOUNCED_ROLES, Change, Face, RefIndex
from browser_service.host.reading.news_lines import choices_line, counts_of, cut_line, on_one_line, words_line
from browser_service.host.reading.tree import (
    CHOICES,
    CONTROLS,
    FIELDS,
    Node,
    Tree,
    descendants,
    first_words,
)
from shared.cuts import shortened

_CONTAINERS: Final = frozenset(
    {
        *("generic", "list", "table", "grid", "rowgroup", "form", "main", "navigation", "region", "group", "banner"),
        *("contentinfo", "complementary", "search", "article", "dialog", "alertdialog", "tabpanel", "toolbar", "menu"),
        *("radiogroup", "tree", "tablist", "menubar", "iframe", "figure", "document", "application", "feed"),
    }
)
"""What is in these is told by itself."""
_ITEMS: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})
_CHOSEN: Final = frozenset({"menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem", "tab", "radio"})
"""These are told by their names, where there are many."""
_ALIKE: Final = 4
_ALIKE_CONTROLS: Final = 9
"""From this many siblings of one role on, the first two stand for all."""
_SHOWN_OF_ALIKE: Final = 2
_MOST_WITHIN: Final = 200
"""An element with more in it than this is told by its parts, so that no page has them looked at again and again."""
_MOST_NAMED: Final = 2
"""More than this many elements that went are only counted."""


@dataclass
class News:
    """Holds what changed: told a line each, and how many are alike to these and only counted."""

    told: list[Change]
    alike: int = 0
    remade: int = 0
    """Counts the controls that were made anew as they were: their refs are others."""
    differs: bool = False
    """True if anything at all changed."""


@dataclass
class _Comparison:
    before: RefIndex
    after: RefIndex
    new: frozenset[str]
    gone: frozenset[str]
    moved: frozenset[Face]
    """Words of elements that only lost their refs, because something covers them, or have them again."""
    alike: int = 0
    _siblings: Counter[tuple[str, str]] = field(default_factory=Counter)

    @cached_property
    def before_in(self) -> dict[str, str]:
        return _survivors(self.before, self.gone)

    @cached_property
    def after_in(self) -> dict[str, str]:
        return _survivors(self.after, self.new)

    @cached_property
    def remade(self) -> frozenset[str]:
        """Return the new refs of what was made anew, as it was, where it was: first what is the same with all in
        it, so that of a list with a new item on top the others are not told."""
        if not (self.gone and self.new):
            return frozenset()
        before, after = self.before.digests(), self.after.digests()
        wholes = Counter((self.before_in[ref], before[ref]) for ref in self.gone)
        faces = Counter((self.before_in[ref], (*self.before.content[ref],)) for ref in self.gone)
        new = [ref for ref in self.after.indexes if ref in self.new]  # those around come first
        found, left = set[str](), list[tuple[str, tuple[str, tuple[Face, ...]]]]()
        for ref in new:
            whole, face = (self.after_in[ref], after[ref]), (self.after_in[ref], (*self.after.content[ref],))
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
        """Return the items that lists which were made anew have no more, by the list and their roles."""
        remade, now = _items(self.after, self.remade, self.after_in), _items(self.after, self.new, self.after_in)
        fewer = dict[str, Counter[str]]()
        for parent, counts in _items(self.before, self.gone, self.before_in).items():
            lost = counts - now.get(parent, Counter())
            fewer[parent] = Counter({role: n for role, n in lost.items() if role in remade.get(parent, ())})
        return fewer

    def appeared(self) -> Iterator[Change]:
        counts = Counter(self._kind(ref) for ref in self.new)
        taken = set[int]()
        for ref, index in self.after.indexes.items():
            if ref not in self.new or index in taken:
                continue
            node = self.after.nodes[index]
            if node.role in _CONTAINERS and not node.is_control:
                yield from self._container(ref, index)
                continue
            within = [*islice(self._inner(index), _MOST_WITHIN + 1)]
            if len(within) > _MOST_WITHIN:
                yield self._head(ref, index)
            else:
                yield from self._element(ref, index, within, taken, counts[self._kind(ref)])

    def _element(
        self, ref: str, index: int, within: list[tuple[int, Node, str]], taken: set[int], alike: int
    ) -> Iterator[Change]:
        """Tell an element with what is in it, if that is new and not one of many alike ones."""
        node, kind = self.after.nodes[index], self._kind(ref)
        inner = [(i, n, owner) for i, n, owner in within if owner in self.new]
        whole = on_one_line("+", [n for _, n, _ in inner])
        is_known = all(owner in self.remade for _, n, owner in inner if n.label or n.is_control)
        is_listed = not is_known and alike >= (_ALIKE_CONTROLS if node.role in CONTROLS else _ALIKE)
        if is_known or is_listed or whole:
            taken.update(i for i, _, _ in inner)
        if is_listed:
            self._siblings[kind] += 1
            if node.role in _CHOSEN:
                if self._siblings[kind] == 1:
                    yield self._choices(kind, index)
                return
            if self._siblings[kind] > _SHOWN_OF_ALIKE or not whole:
                self.alike += 1
                return
        if not is_known:
            yield self._change(whole, [n for _, n, _ in inner], index) if whole else self._head(ref, index)

    def _choices(self, kind: tuple[str, str], index: int) -> Change:
        """Tell the choices of a long menu or list in one line."""
        nodes = [self.after.nodes[self.after.indexes[ref]] for ref in self.after.children[kind[0]]]
        line, nodes, omitted = choices_line([node for node in nodes if node.role == kind[1] and node.ref in self.new])
        self.alike += omitted
        return self._change(line, nodes, index)

    def _head(self, ref: str, index: int) -> Change:
        """Tell an element by itself and its own words."""
        nodes = [self.after.nodes[index], *(n for n in self.after.own_texts(ref) if n.words)]
        return self._change(cut_line("+", nodes), nodes, index)

    def _kind(self, ref: str) -> tuple[str, str]:
        return self.after.parents[ref], self.after.nodes[self.after.indexes[ref]].role

    def _inner(self, index: int) -> Iterator[tuple[int, Node, str]]:
        for number, (node, owner) in enumerate(self.after.within(index), index):
            yield number, node, owner

    def _container(self, ref: str, index: int) -> Iterator[Change]:
        """Tell a new container by its name and the words in it that are no element's own."""
        node = self.after.nodes[index]
        if ref in self.remade:
            return
        texts = [n for n in self.after.own_texts(ref) if n.words]
        inner = islice(descendants(self.after.nodes, index), _MOST_WITHIN) if texts else ()
        labels = {each.name for each in inner if each.role in CONTROLS}
        texts = [n for n in texts if n.words not in labels]
        if node.role != "generic" and (node.name or node.role in ANNOUNCED_ROLES):
            yield self._change(cut_line("+", [node, *texts]), [node, *texts], index)
        elif words := [*([node] if node.words else []), *texts]:
            yield self._change(words_line("+", node.ref, words), [node], index)

    def changed(self) -> Iterator[Change]:
        for ref, content in self.after.content.items():
            if ref in self.new or (ref and ref not in self.before.indexes):
                continue
            former = self.before.content.get(ref, [])
            order = self.before.new_order(self.after, ref)
            moved = self.moved
            if [*filterfalse(moved.__contains__, content)] == [*filterfalse(moved.__contains__, former)] and not order:
                continue
            index = self.after.indexes.get(ref, 0)
            itself = [self.after.nodes[index]] if ref else []
            known = {*former, *moved}
            texts = [n for n in self.after.own_texts(ref) if n.label and self.after.face(n) not in known]
            if lines := self._changed_lines(itself, texts, order):
                nodes = [*itself, *texts, *(self.after.nodes[self.after.indexes[child]] for child in order)]
                announced, is_field = (any(n.role in roles for n in itself) for roles in (ANNOUNCED_ROLES, FIELDS))
                position = (self.after.nodes, index)
                yield Change(lines, nodes, position, index, announced=announced, is_field_value=is_field)

    @staticmethod
    def _changed_lines(itself: list[Node], texts: list[Node], order: list[str]) -> list[str]:
        node = itself[0] if itself else None
        if node is None or (node.role == "generic" and not node.is_control):
            words = [n for n in (*itself, *texts) if n.label]
            lines = [words_line("~", node.ref if node else None, words)] if words else []
        else:
            lines = [cut_line("~", [node, *(() if node.role in CHOICES and node.text else texts)])]
        return [*lines, *([f"~ in this order now: {', '.join(order)}"] if order else [])]

    def went(self) -> Iterator[Change]:
        """Tell what went and was not replaced: by its name, or as a count."""
        tops = defaultdict[str, list[str]](list)
        for ref in self.before.indexes:
            if ref in self.gone and (parent := self.before.parents[ref]) not in self.gone:
                if self._is_unwrapped(ref):
                    continue
                tops[parent].append(ref)
        replaced = {self.after.parents[ref] for ref in self.new}
        for parent, refs in tops.items():
            fewer = self.fewer.get(parent)
            lines = [f"- {counts_of(fewer)} fewer"] if fewer else []
            if lines := lines if parent in replaced else self._named(refs):
                index = self.after.indexes.get(parent, 0)
                yield Change(lines, [], (self.after.nodes, index), index)

    def _is_unwrapped(self, ref: str) -> bool:
        """Say if only a box went from around what is still there."""
        is_box = self.before.nodes[self.before.indexes[ref]].role == "generic"
        return is_box and any(child not in self.gone for child in self.before.children.get(ref, ()))

    def _named(self, refs: list[str]) -> list[str]:
        if len(refs) > _MOST_NAMED:
            roles = Counter(self.before.nodes[self.before.indexes[ref]].role for ref in refs)
            return [f"- {counts_of(roles)} are gone"]
        return [f"- {self._label(self.before.indexes[ref])} is gone" for ref in refs]

    def _label(self, index: int) -> str:
        node = self.before.nodes[index]
        name = node.label or first_words(descendants(self.before.nodes, index))
        role = "part" if node.role == "generic" else node.role
        return f'{role} "{shortened(name, 60)}"' if name else role

    def _change(self, line: str, nodes: list[Node], index: int) -> Change:
        announced = any(node.role in ANNOUNCED_ROLES for node in nodes[:1])
        return Change([line], nodes, (self.after.nodes, index), index, announced=announced)


def news(old: Tree, new: Tree) -> News:
    """Compare two trees of one document."""
    before, after = RefIndex(old), RefIndex(new)
    came, went = after.indexes.keys() - before.indexes.keys(), before.indexes.keys() - after.indexes.keys()
    covered, uncovered = _refless(before, after, went), _refless(after, before, came)
    moved = {face for ref in covered for face in before.content[ref]}
    moved |= {face for ref in uncovered for face in after.content[ref]}
    both = _Comparison(before, after, frozenset(came - uncovered), frozenset(went - covered), frozenset(moved))
    told = sorted([*both.appeared(), *both.changed(), *both.went()], key=lambda change: change.index)
    remade = sum(after.nodes[after.indexes[ref]].role in CONTROLS for ref in both.remade)
    return News(told, both.alike, remade, bool(came or went or before.content != after.content))


def _refless(index: RefIndex, other: RefIndex, refs: Iterable[str]) -> set[str]:
    """Return those of the refs whose elements are in the other tree as well, without a ref."""
    asked = {*refs}
    if not asked:
        return set()
    here, there = (Counter(map(_self, (n for n in each.nodes if not n.ref))) for each in (index, other))
    without, found = there - here, set[str]()
    for ref in reversed(index.indexes):  # what is in an element comes after it, and tells it where it has no name
        node = index.nodes[index.indexes[ref]]
        is_told = bool(node.label) or any(child in found for child in index.children.get(ref, ()))
        if ref in asked and is_told and without[_self(node)] > 0:
            without[_self(node)] -= 1
            found.add(ref)
    return found


def _self(node: Node) -> tuple[str, str, str, bool]:
    """Return what tells an element from others, whatever covers it."""
    return node.role, node.name, node.text, node.has_children


def _survivors(index: RefIndex, changed: frozenset[str]) -> dict[str, str]:
    """Return for each ref the nearest one around it, or itself, that was and is there."""
    found = {"": ""}
    for ref, parent in index.parents.items():  # those around come first
        found[ref] = found[parent] if ref in changed else ref
    return found


def _items(index: RefIndex, refs: frozenset[str], within: dict[str, str]) -> dict[str, Counter[str]]:
    """Count the items among these refs, by what they are in and their roles."""
    counts = defaultdict[str, Counter[str]](Counter)
    for ref in refs:
        if (role := index.nodes[index.indexes[ref]].role) in _ITEMS:
            counts[within[ref]][role] += 1
    return counts
