"""Tells what a model needs to know of an act's changes: what appeared, and what is otherwise; what went is counted."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Final

from browser_service.host.reading.changes import ANNOUNCED_ROLES, Change, Face, RefIndex, common_depth, surroundings
from browser_service.host.reading.news_lines import counts_of, cut_line, on_one_line, words_line
from browser_service.host.reading.outline import counted
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import CHOICES, CONTROLS, FIELDS, Node, Tree, descendants, first_words, index_of
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
_ALIKE: Final = 4
_ALIKE_CONTROLS: Final = 9
"""From this many siblings of one role on, the first two stand for all."""
_SHOWN_OF_ALIKE: Final = 2
_MOST_WITHIN: Final = 200
"""An element with more in it than this is told by its parts, so that no page has them looked at again and again."""
_MOST_PLACED: Final = 100
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
            node, kind = self.after.nodes[index], self._kind(ref)
            if node.role in _CONTAINERS and not node.is_control:
                yield from self._container(ref, index)
                continue
            within = [*islice(self._inner(index), _MOST_WITHIN + 1)]
            if len(within) > _MOST_WITHIN:
                yield self._head(ref, index)
                continue
            inner = [(i, n, owner) for i, n, owner in within if owner in self.new]
            saying = [each for each in inner if each[1].label] or inner
            if all(owner in self.remade for _, _, owner in saying):
                taken.update(i for i, _, _ in inner)
                continue
            whole = on_one_line("+", [n for _, n, _ in inner])
            if counts[kind] >= (_ALIKE_CONTROLS if node.role in CONTROLS else _ALIKE):
                self._siblings[kind] += 1
                taken.update(i for i, _, _ in inner)
                if self._siblings[kind] > _SHOWN_OF_ALIKE or not whole:
                    self.alike += 1
                    continue
            if whole:
                taken.update(i for i, _, _ in inner)
                yield self._change(whole, [n for _, n, _ in inner], index)
            else:
                yield self._head(ref, index)

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
        """Tell a new container by its name, and the words in it that are no element's own."""
        node = self.after.nodes[index]
        if ref in self.remade:
            return
        if node.role != "generic" and (node.name or node.role in ANNOUNCED_ROLES):
            yield self._change(f"+ {node.brief()}", [node], index)
        words = [n for n in (node, *self.after.own_texts(ref)) if n.words]
        inner = islice(descendants(self.after.nodes, index), _MOST_WITHIN) if words else ()
        labels = {each.name for each in inner if each.role in CONTROLS}
        if words := [n for n in words if n.words not in labels]:
            yield self._change(words_line("+", node.ref, words), [node], index)

    def changed(self) -> Iterator[Change]:
        for ref, content in self.after.content.items():
            if ref in self.new:
                continue
            former = self.before.content.get(ref, [])
            order = self.before.new_order(self.after, ref)
            if content == former and not order:
                continue
            index = self.after.indexes.get(ref, 0)
            itself = [self.after.nodes[index]] if ref else []
            known = {*former}
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
                tops[parent].append(ref)
        replaced = {self.after.parents[ref] for ref in self.new}
        for parent, refs in tops.items():
            fewer = self.fewer.get(parent)
            lines = [f"- {counts_of(fewer)} fewer"] if fewer else []
            if lines := lines if parent in replaced else self._named(refs):
                index = self.after.indexes.get(parent, 0)
                yield Change(lines, [], (self.after.nodes, index), index)

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
    both = _Comparison(before, after, frozenset(came), frozenset(went))
    told = sorted([*both.appeared(), *both.changed(), *both.went()], key=lambda change: change.index)
    remade = sum(after.nodes[after.indexes[ref]].role in CONTROLS for ref in both.remade)
    return News(told, both.alike, remade, bool(came or went or before.content != after.content))


@dataclass(frozen=True)
class NewsReport:
    text: str
    nodes: list[Node]
    omitted: int


def report(found: News, new: Tree, limit: int, acted_on: str | None) -> NewsReport:
    """Write the changes: those near the act first, without their place; the others below theirs."""
    acted_in, near = surroundings(new, acted_on), _near(new, acted_on)
    ranked = sorted(found.told, key=lambda change: (not change.announced, -common_depth(new, change.index, acted_in)))
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
