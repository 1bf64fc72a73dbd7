"""Describes the changes that an act caused, for a model, in one short line each: what appeared and what changed;
removed elements are mostly only counted. It is longer than 300 lines because each kind of change has words of its
own."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from browse_together.contract.cuts import shortened
from browser_service.host.reading.difference import Difference
from browser_service.host.reading.outline import counted
from browser_service.host.reading.tree import (
    ANNOUNCED,
    CHOICES,
    CONTROLS,
    FIELDS,
    HIDDEN,
    TICKED,
    Node,
    Tree,
    descendants,
    first_words,
)

_CONTAINERS: Final = frozenset(
    {
        *("generic", "list", "table", "grid", "rowgroup", "form", "main", "navigation", "region", "group", "banner"),
        *("contentinfo", "complementary", "search", "article", "dialog", "alertdialog", "tabpanel", "toolbar", "menu"),
        *("radiogroup", "tree", "tablist", "menubar", "iframe", "figure", "document", "application", "feed"),
    }
)
"""Roles of containers, whose content is reported by itself."""
_CHOSEN: Final = frozenset(
    {"menuitem", "menuitemcheckbox", "menuitemradio", "option", "treeitem", "tab", "radio", "link", "button"}
)
"""Roles whose elements are listed by name in one line if there are many."""
_ALIKE: Final = 4
_ALIKE_CONTROLS: Final = 9
"""From this number of siblings with one role, the first two represent all."""
_SHOWN_OF_ALIKE: Final = 2
_MOST_WITHIN: Final = 200
"""A larger new element is reported part by part, so that no page makes us search the same elements repeatedly."""
WINDOWS: Final = frozenset({"dialog", "alertdialog"})
_MESSAGES: Final = frozenset({"alert", "status"})
_MOST_NAMED: Final = 2
"""More removed elements than this are only counted."""
_LINE_CHARACTERS: Final = 160
_CHOICES_CHARACTERS: Final = 260
_NAME_CHARACTERS: Final = 40
_LABEL_CHARACTERS: Final = 60
_MOST_PHRASES: Final = 12
_NOTATION: Final = ("[ref=", " | ")


@dataclass
class Change:
    """An element that was added, removed or changed: its lines, its nodes, and its index in the new tree."""

    lines: list[str]
    nodes: list[Node]
    index: int
    announced: bool = False
    is_field_value: bool = False
    """True if the changed element is a field."""

    def has(self, text: str) -> bool:
        """Return whether one of its lines ends with a field's text. "" means a ticked box, which has the focus if the
        client and not the page ticked it."""
        if not text:
            return any(node.role in TICKED and "active" in node.marks for node in self.nodes)
        ends = (f": {text}", f': "{text}"')
        return any(node.line.endswith(ends) for node in self.nodes)

    def is_given_unseen(self, refs: frozenset[str]) -> bool:
        """Return whether it is one of these fields and shows no text to compare: a tick box, which the act has set if
        it changed, or a password."""
        field = self.nodes[0] if self.nodes else None
        return field is not None and field.ref in refs and (field.role in TICKED or field.words == HIDDEN)


@dataclass
class News:
    """The changes to report, and the number of similar ones that are only counted."""

    told: list[Change]
    alike: int = 0
    remade: int = 0
    """The number of controls that the page recreated unchanged, under new refs."""
    differs: bool = False
    """True if anything at all changed."""


def news(old: Tree, new: Tree) -> News:
    """Compare two trees of one document."""
    difference = Difference(old, new, covers=True)
    teller = _Teller(difference)
    changes = [*teller.appeared(), *teller.changed(), *teller.went(), *teller.windows(), *teller.said_again()]
    told = sorted(changes, key=lambda change: change.index)
    remade = sum(difference.after.node(ref).role in CONTROLS for ref in difference.remade)
    return News(told, teller.alike, remade, difference.differs)


class _Teller:
    """A writer of a difference, one line per change."""

    def __init__(self, difference: Difference) -> None:
        self._difference = difference
        self._before, self._after = difference.before, difference.after
        self._came = difference.came
        self.alike = 0
        self._siblings = Counter[tuple[str, str]]()

    def appeared(self) -> Iterator[Change]:
        counts = Counter(self._kind(ref) for ref in self._came)
        taken = set[int]()
        for ref, index in self._after.indexes.items():
            if ref not in self._came or index in taken:
                continue
            node = self._after.nodes[index]
            if node.role in _CONTAINERS and not node.is_control:
                yield from self._container(ref, index)
                continue
            within = [*islice(self._after.within(index), _MOST_WITHIN + 1)]
            if len(within) > _MOST_WITHIN:
                yield self._head(ref, index)
            else:
                yield from self._element(ref, index, within, taken, counts[self._kind(ref)])

    def _element(
        self, ref: str, index: int, within: list[tuple[int, Node, str]], taken: set[int], alike: int
    ) -> Iterator[Change]:
        """Report a new element with its new content, unless it is one of many alike."""
        node, kind = self._after.nodes[index], self._kind(ref)
        inner = [(i, n, owner) for i, n, owner in within if owner in self._came]
        whole = _on_one_line("+", [n for _, n, _ in inner])
        is_known = all(owner in self._difference.remade for _, n, owner in inner if n.label or n.is_control)
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
        """Report the choices of a long menu or list in one line."""
        nodes = [self._after.node(ref) for ref in self._after.children[kind[0]]]
        line, nodes, omitted = _choices_line(
            [node for node in nodes if node.role == kind[1] and node.ref in self._came]
        )
        self.alike += omitted
        return self._change(line, nodes, index)

    def _head(self, ref: str, index: int) -> Change:
        """Report an element and its own words, without its other content."""
        nodes = [self._after.nodes[index], *(n for n in self._after.own_texts(ref) if n.words)]
        return self._change(_cut_line("+", nodes), nodes, index)

    def _kind(self, ref: str) -> tuple[str, str]:
        return self._after.parents[ref], self._after.node(ref).role

    def _container(self, ref: str, index: int) -> Iterator[Change]:
        """Report a new container by its name and the words in it that belong to no inner element."""
        node = self._after.nodes[index]
        if ref in self._difference.remade:
            return
        texts = [n for n in self._after.own_texts(ref) if n.words]
        inner = islice(descendants(self._after.nodes, index), _MOST_WITHIN) if texts else ()
        labels = {each.name for each in inner if each.role in CONTROLS}
        texts = [n for n in texts if n.words not in labels]
        if node.role != "generic" and (node.name or node.role in ANNOUNCED):
            yield self._change(_cut_line("+", [node, *texts]), [node, *texts], index)
        elif words := [*([node] if node.words else []), *texts]:
            yield self._change(_words_line("+", node.ref, words), [node], index)

    def changed(self) -> Iterator[Change]:
        for ref, order in self._difference.changed():
            itself = [self._after.node(ref)] if ref else []
            known = {*self._before.content.get(ref, []), *self._difference.moved}
            texts = [n for n in self._after.own_texts(ref) if n.label and self._after.face(n) not in known]
            if lines := self._changed_lines(itself, texts, order):
                nodes = [*itself, *texts, *map(self._after.node, order)]
                announced, is_field = (any(n.role in roles for n in itself) for roles in (ANNOUNCED, FIELDS))
                index = self._after.indexes.get(ref, 0)
                yield Change(lines, nodes, index, announced=announced, is_field_value=is_field)

    @staticmethod
    def _changed_lines(itself: list[Node], texts: list[Node], order: list[str]) -> list[str]:
        node = itself[0] if itself else None
        if node is None or (node.role == "generic" and not node.is_control):
            words = [n for n in (*itself, *texts) if n.label]
            lines = [_words_line("~", node.ref if node else None, words)] if words else []
        else:
            lines = [_cut_line("~", [node, *(() if node.role in CHOICES and node.text else texts)])]
        return [*lines, *([f"~ in this order now: {', '.join(order)}"] if order else [])]

    def windows(self) -> Iterator[Change]:
        """Report added and removed dialogs that have no ref because they take no clicks themselves."""
        before, after = (
            {n.role_and_name for n in each.nodes if n.role in WINDOWS and n.name}
            for each in (self._before, self._after)
        )
        for index, node in enumerate(self._after.nodes):
            if not node.ref and node.role_and_name in after - before:
                yield self._change(f"+ {node.brief()}", [node], index)
        for node in self._before.nodes:
            if not node.ref and node.role_and_name in before - after:
                yield Change([f"- {node.role_and_name} is gone"], [], 0)

    def went(self) -> Iterator[Change]:
        """Report removed elements that nothing replaced: by name, or as a count."""
        tops = defaultdict[str, list[str]](list)
        for ref in self._difference.removed():
            if not self._is_unwrapped(ref):
                tops[self._before.parents[ref]].append(ref)
        replaced = {self._after.parents[ref] for ref in self._came}
        for parent, refs in tops.items():
            fewer = self._difference.fewer.get(parent)
            lines = [f"- {_counts_of(fewer)} fewer"] if fewer else []
            if lines := lines if parent in replaced else self._named(refs):
                yield Change(lines, [], self._after.indexes.get(parent, 0))

    def said_again(self) -> Iterator[Change]:
        """Report a message that the page wrote anew without a new word: the same again, or less than before."""
        remade = self._difference.remade
        for ref in dict.fromkeys(self._after.parents[each] for each in remade):
            index = self._after.indexes.get(ref)
            node = self._after.nodes[index] if index is not None and ref not in self._came else None
            if index is None or node is None or node.role not in _MESSAGES:
                continue
            if not any(child in self._came - remade for child in self._after.children[ref]):
                inner = islice(descendants(self._after.nodes, index), _MOST_PHRASES)
                words = [each for each in inner if each.label]
                yield self._change(_cut_line("~", [node, *words]), [node, *words], index)

    def _is_unwrapped(self, ref: str) -> bool:
        """Return whether only a box was removed, and its content is still there."""
        is_box = self._before.node(ref).role == "generic"
        return is_box and any(child not in self._difference.gone for child in self._before.children.get(ref, ()))

    def _named(self, refs: list[str]) -> list[str]:
        if len(refs) > _MOST_NAMED:
            roles = Counter(self._before.node(ref).role for ref in refs)
            return [f"- {_counts_of(roles)} are gone"]
        return [f"- {self._label(self._before.indexes[ref])} is gone" for ref in refs]

    def _label(self, index: int) -> str:
        node = self._before.nodes[index]
        name = node.label or first_words(descendants(self._before.nodes, index))
        role = "part" if node.role == "generic" else node.role
        return f'{role} "{shortened(name, _LABEL_CHARACTERS)}"' if name else role

    def _change(self, line: str, nodes: list[Node], index: int) -> Change:
        announced = any(node.role in ANNOUNCED for node in nodes[:1])
        return Change([line], nodes, index, announced=announced)


def _on_one_line(sign: str, nodes: list[Node]) -> str:
    """Return an element and its new content as one line; "" if that is too long or ambiguous."""
    head, *inner = nodes
    names = {head.name, *(node.name for node in inner if node.role in CONTROLS)}
    if len(inner) > _MOST_PHRASES and head.role in CHOICES:
        inner = [*[node for node in inner if "selected" in node.marks][:1], *inner[:_MOST_PHRASES]]
    said = [n for n in inner if n.role in FIELDS or (n.label and (n.is_control or not _is_said(n, head, names)))]
    phrases = [_phrase(node) for node in said]
    phrases = [head.text, *phrases] if head.text and not (phrases and head.role in CHOICES) else phrases
    line = f"{sign} {head.brief()}{': ' if phrases else ''}{' | '.join(phrases)}"
    unclear = any(mark in node.label for node in inner for mark in _NOTATION)
    return "" if unclear or len(line) > _LINE_CHARACTERS else line


def _is_said(node: Node, head: Node, names: set[str]) -> bool:
    """Return whether a name in the line already contains the node's words."""
    return node.label in names or (head.is_said_within and node.label in head.name)


def _choices_line(choices: list[Node]) -> tuple[str, list[Node], int]:
    """Return the names of choices as a line, the nodes whose refs the line shows, and how many choices did not fit."""
    start = f"+ {counted(len(choices), choices[0].role)}: "
    named = " | ".join(f"{shortened(node.label, _NAME_CHARACTERS)} [ref={node.ref}]" for node in choices)
    if len(named) <= _CHOICES_CHARACTERS:
        return f"{start}{named}", choices, 0
    names, room = list[str](), _CHOICES_CHARACTERS
    for node in choices:
        names.append(shortened(node.label, _NAME_CHARACTERS))
        room -= len(names[-1]) + 3
        if room < 0:
            names.pop()
            break
    return f"{start}{' | '.join(names)}", [], len(choices) - len(names)


def _phrase(node: Node) -> str:
    """Write a part of a line: plain words as they are, controls with their refs."""
    if node.role == "option" and not node.ref:  # a choice without a ref: the line already names the role
        return node.brief().removeprefix("option ")
    if node.is_control or node.role == "img":
        return f"{node.brief()}: {node.text}" if node.text else node.brief()
    return node.text or node.name


def _cut_line(sign: str, nodes: list[Node]) -> str:
    head, *texts = nodes
    words = " | ".join(filter(None, [head.text, *(_phrase(node) for node in texts)]))
    return shortened(f"{sign} {head.brief()}{f': {words}' if words else ''}", _LINE_CHARACTERS)


def _words_line(sign: str, ref: str | None, nodes: list[Node]) -> str:
    """Write the words of an element that has only words, with its ref, because a script may have made it a button."""
    head = f"{sign} text [ref={ref}]" if ref else f"{sign} text"
    return shortened(f"{head}: {' | '.join(node.text or node.name for node in nodes)}", _LINE_CHARACTERS)


def _counts_of(roles: Counter[str]) -> str:
    return ", ".join(counted(count, "part" if role == "generic" else role) for role, count in roles.most_common(3))
