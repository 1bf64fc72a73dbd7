"""Tells what a model needs to know of an act's changes: what appeared, and what is otherwise; what went is counted."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from browser_service.host.reading.changes import ANNOUNCED_ROLES, Change, RefIndex, common_depth
from browser_service.host.reading.outline import counted
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import CONTROLS, FIELDS, Node, Tree, descendants, first_words, index_of
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
_CHOICES: Final = frozenset({"combobox", "listbox"})
_LINE_CHARACTERS: Final = 160
_ALIKE: Final = 4
_ALIKE_CONTROLS: Final = 9
"""From this many siblings of one role on, the first two stand for all."""
_SHOWN_OF_ALIKE: Final = 2
_MOST_NAMED: Final = 2
"""More than this many elements that went are only counted."""
_MOST_PHRASES: Final = 12
_NOTATION: Final = ("[ref=", " | ")


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
    def remade(self) -> frozenset[str]:
        """Return the new refs of what was made anew, as it was, where it was."""
        faces = Counter(_face(self.before, ref, self.gone) for ref in self.before.indexes if ref in self.gone)
        found = set[str]()
        for ref in self.after.indexes:
            if ref in self.new and faces[face := _face(self.after, ref, self.new)] > 0:
                faces[face] -= 1
                found.add(ref)
        return frozenset(found)

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
            inner = [(i, n, owner) for i, n, owner in self._inner(index) if owner in self.new]
            saying = [each for each in inner if each[1].label] or inner
            if all(owner in self.remade for _, _, owner in saying):
                taken.update(i for i, _, _ in inner)
                continue
            whole = _on_one_line("+", [n for _, n, _ in inner])
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
                own = [n for n in self.after.own_texts(ref) if n.words]
                yield self._change(_cut_line("+", [node, *own]), [node, *own], index)

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
            yield self._change(f"+ {node.head()}", [node], index)
        labels = {each.name for each in descendants(self.after.nodes, index) if each.role in CONTROLS}
        words = [n for n in (node, *self.after.own_texts(ref)) if n.words and n.words not in labels]
        if words:
            yield self._change(_words_line("+", node.ref, words), [node], index)

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
            texts = [n for n in self.after.own_texts(ref) if n.label and self.after.face(n) not in former]
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
            lines = [_words_line("~", node.ref if node else None, words)] if words else []
        else:
            if node.role in _CHOICES:
                texts = [n for n in texts if "selected" in n.marks] or texts
            lines = [_cut_line("~", [node, *texts])]
        return [*lines, *([f"~ in this order now: {', '.join(order)}"] if order else [])]

    def went(self) -> Iterator[Change]:
        """Tell what went and was not replaced: by its name, or as a count."""
        tops = defaultdict[str, list[str]](list)
        for ref in self.before.indexes:
            if ref in self.gone and (parent := self.before.parents[ref]) not in self.gone:
                tops[parent].append(ref)
        replaced = {self.after.parents[ref] for ref in self.new}
        for parent, refs in tops.items():
            lines = self._fewer(parent) if parent in replaced else self._named(refs)
            if lines:
                index = self.after.indexes.get(parent, 0)
                yield Change(lines, [], (self.after.nodes, index), index)

    def _named(self, refs: list[str]) -> list[str]:
        if len(refs) > _MOST_NAMED:
            roles = Counter(self.before.nodes[self.before.indexes[ref]].role for ref in refs)
            return [f"- {_counts(roles)} are gone"]
        return [f"- {self._label(self.before.indexes[ref])} is gone" for ref in refs]

    def _label(self, index: int) -> str:
        node = self.before.nodes[index]
        name = node.label or first_words(descendants(self.before.nodes, index))
        role = "part" if node.role == "generic" else node.role
        return f'{role} "{shortened(name, 60)}"' if name else role

    def _fewer(self, parent: str) -> list[str]:
        """Return what a list that was made anew has no more."""
        remade = {*self._roles(self.after, self.remade, parent)}
        if not remade:
            return []
        lost = Counter(self._roles(self.before, self.gone, parent))
        lost -= Counter(self._roles(self.after, self.new, parent))
        items = Counter({role: count for role, count in lost.items() if role in _ITEMS & remade})
        return [f"- {_counts(items)} fewer"] if items else []

    def _roles(self, index: RefIndex, refs: frozenset[str], parent: str) -> Iterator[str]:
        for ref in refs:
            role = index.nodes[index.indexes[ref]].role
            if role in _ITEMS and _survivor(index, ref, self.new | self.gone) == parent:
                yield role

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
    ranked = sorted(found.told, key=lambda change: (not change.announced, -common_depth(new, change.index, acted_on)))
    near = _near(new, acted_on)
    headings = {n.name for change in found.told for n in change.nodes if n.role == "heading"}
    kept: list[tuple[str, Change]] = []
    room, omitted = limit, found.alike
    for change in ranked:
        where = _where(change, near, headings)
        size = sum(len(line.encode()) + 1 for line in change.lines) + len(where.encode()) + 2
        if size <= room:
            room -= size
            kept.append((where, change))
        else:
            omitted += 1
    kept.sort(key=lambda each: (bool(each[0]), each[1].index))
    lines, last = list[str](), ""
    for where, change in kept:
        lines += [f"{where}:"] if where and where != last else []
        lines += change.lines
        last = where
    if found.remade:
        lines.append(f"~ {counted(found.remade, 'control')} made anew: new refs")
    return NewsReport("\n".join(lines), [node for _, change in kept for node in change.nodes], omitted)


def _where(change: Change, near: str | None, headings: set[str]) -> str:
    """Return the place of a change, if that is not where the act was, and no line says it."""
    where = "" if change.announced or not change.nodes else place(*change.position)
    role, _, name = where.partition(" ")
    name = name.strip('"')
    said = name in headings or any(name in line for line in change.lines)
    return "" if where == near or role == "under" or (name and said) else where


def _near(nodes: Tree, acted_on: str | None) -> str | None:
    """Return the place of what was acted on."""
    index = index_of(nodes, acted_on) if acted_on else None
    if index is None:
        index = next((i for i, node in enumerate(nodes) if "active" in node.marks), None)
    return None if index is None else place(nodes, index)


def _face(index: RefIndex, ref: str, changed: frozenset[str]) -> tuple[str, ...]:
    return (_survivor(index, ref, changed), *index.content[ref])


def _survivor(index: RefIndex, ref: str, changed: frozenset[str]) -> str:
    """Return the nearest ref around one that was and is there."""
    while ref in changed:
        ref = index.parents[ref]
    return ref


def _on_one_line(sign: str, nodes: list[Node]) -> str:
    """Return an element and all that is new in it as a line; "" if that is too long, or not clear."""
    head, *inner = nodes
    names = {node.name for node in inner if node.role in CONTROLS}
    if len(inner) > _MOST_PHRASES and head.role in _CHOICES:
        inner = [*[node for node in inner if "selected" in node.marks][:1], *inner[:_MOST_PHRASES]]
    phrases = [_phrase(node) for node in inner if node.label and not (node.role == "text" and node.words in names)]
    phrases = [head.text, *phrases] if head.text else phrases
    line = f"{sign} {head.head()}{': ' if phrases else ''}{' | '.join(phrases)}"
    unclear = any(mark in node.label for node in inner for mark in _NOTATION)
    return "" if unclear or len(line) > _LINE_CHARACTERS else line


def _phrase(node: Node) -> str:
    """Write a part of a line: words by themselves, what can be acted on with its ref."""
    if node.is_control or node.role == "img":
        return f"{node.head()}: {node.text}" if node.text else node.head()
    return node.text or node.name


def _cut_line(sign: str, nodes: list[Node]) -> str:
    head, *texts = nodes
    words = " | ".join(filter(None, [head.text, *(_phrase(node) for node in texts)]))
    return shortened(f"{sign} {head.head()}{f': {words}' if words else ''}", _LINE_CHARACTERS)


def _words_line(sign: str, ref: str | None, nodes: list[Node]) -> str:
    """Write words of an element that is nothing but these; its ref, since a script may make anything a button."""
    head = f"{sign} text [ref={ref}]" if ref else f"{sign} text"
    return shortened(f"{head}: {' | '.join(node.text or node.name for node in nodes)}", _LINE_CHARACTERS)


def _counts(roles: Counter[str]) -> str:
    return ", ".join(counted(count, "part" if role == "generic" else role) for role, count in roles.most_common(3))
