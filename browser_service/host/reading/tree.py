"""Parses a page's accessibility tree from Playwright's text, selects parts of it, and writes it."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from json.encoder import encode_basestring
from typing import Final

from browse_together.contract.cuts import shortened
from browser_service.host.reading import nameless

_ITEM: Final = "- "
_QUOTED_KEY: Final = re.compile(r"^'(?P<key>(?:[^']|'')*)'(?P<tail>:.*)?$")
_KEY: Final = re.compile(
    r"""^(?P<role>[a-z]+)(?: (?P<name>"(?:[^"\\]|\\.)*"))?(?: \[(?P<marks>[^\]]*(?:\] \[[^\]]*)*)\])?(?P<tail>:.*)?$"""
)
"""Marks stand between the name and the text. What looks like a mark inside the page's own words is none."""
_PROPERTY: Final = re.compile(r"^/(?P<property>[a-z]+): (?P<value>.*)$")
_REF: Final = re.compile(r"ref=(?:f\d+)?e\d+")
_FONTS: Final = "[\ue000-\uf8ff\U000f0000-\U0010ffff]+"
_ICONS: Final = re.compile(f"{_FONTS} | ?{_FONTS}")
"""Private-use characters, which fonts use for icons, with a space beside them."""
_URL_CHARACTERS: Final = 80
_NO_STATES: Final = ("box=", "cursor=", "active")
HIDDEN: Final = "••••"
LEAST_SECRET: Final = 4
"""Shorter secrets are not searched in names: they would match everywhere."""
_BETWEEN: Final = "\0"
_MOST_AROUND: Final = 20

CONTROLS: Final = frozenset(
    {
        *("button", "link", "textbox", "searchbox", "checkbox", "radio", "switch", "combobox", "listbox", "option"),
        *("slider", "spinbutton", "tab", "treeitem", "menuitem", "menuitemcheckbox", "menuitemradio"),
    }
)
WORDS: Final = frozenset(
    {
        *("alert", "status", "log", "timer", "heading", "paragraph", "caption", "blockquote", "term", "definition"),
        *("emphasis", "strong", "code", "mark", "time", "subscript", "superscript"),
    }
)
"""Roles that nobody acts on: their controls have refs of their own, and their words find them again."""
ANNOUNCED: Final = frozenset({"alert", "alertdialog", "dialog", "status", "log"})
"""Roles that a page uses to get attention."""
FIELDS: Final = frozenset(
    {"textbox", "searchbox", "checkbox", "radio", "switch", "combobox", "listbox", "slider", "spinbutton"}
)
TICKED: Final = frozenset({"checkbox", "radio", "switch"})
VALUED: Final = FIELDS - TICKED
CELLS: Final = frozenset({"cell", "gridcell", "rowheader", "columnheader"})
CHOICES: Final = frozenset({"combobox", "listbox"})


@dataclass(slots=True, eq=False)
class Node:
    """One line of the tree. `parent` is an index in the whole tree; `text` is as Playwright writes it."""

    depth: int
    role: str
    name: str
    ref: str | None
    marks: tuple[str, ...]
    text: str
    url: str = ""
    parent: int | None = None
    has_children: bool = False
    is_said_within: bool = False
    """True if its name, or a field's value, only repeats the elements inside."""

    @property
    def role_and_name(self) -> str:
        """Return `role "name"`, which identifies the element of a ref."""
        return f"{self.role} {encode_basestring(self.name)}" if self.name else self.role

    @property
    def states(self) -> tuple[str, ...]:
        """Return its marks without position, cursor and focus: the state that a person would see."""
        return tuple(mark for mark in self.marks if not mark.startswith(_NO_STATES)) if self.marks else ()

    @property
    def words(self) -> str:
        """Return the page's own words in its text."""
        return _unquoted(self.text)

    @property
    def label(self) -> str:
        """Return its name, else its words."""
        return self.name or self.words

    @property
    def is_control(self) -> bool:
        """Return whether acts can use it: by its role, or because the page shows a pointer over it."""
        return self.role in CONTROLS or "cursor=pointer" in self.marks

    def head(self, *, ref: bool = True, name: bool = True) -> str:
        """Write its line without its text."""
        return self._written([*self.marks], self.url, ref=ref, name=name)

    def _written(self, marks: list[str], url: str, *, ref: bool, name: bool = True) -> str:
        if self.role in CONTROLS and "cursor=pointer" in marks:  # every link and button has it
            marks.remove("cursor=pointer")
        marks += [f"ref={self.ref}"] if self.ref and ref else []
        marks += [f"url={shortened(url, _URL_CHARACTERS)}"] if url else []
        return " ".join([self.role_and_name if name else self.role, *(f"[{mark}]" for mark in marks)])

    def brief(self, *, has_twins: bool = False) -> str:
        """Write its line without its text and without anything that no act needs: the ref of plain words, a heading's
        level, and the address of a link that has a name and no twins."""
        marks = [mark for mark in self.marks if not mark.startswith("level=")]
        return self._written(
            marks, self.url if has_twins or not self.name else "", ref=self.is_control or self.role not in WORDS
        )

    @property
    def line(self) -> str:
        return f"- {self.head()}: {self.text}" if self.text else f"- {self.head()}{':' if self.has_children else ''}"


Tree = list[Node]
"""Nodes in page order: the descendants of an element follow it, with a greater depth."""


def parse(text: str) -> Tree:
    """Parse a tree as Playwright writes it. Characters that are only icons of a font are dropped."""
    nodes: Tree = []
    path: list[int] = []
    for line in _ICONS.sub("", text).splitlines():
        item = line.lstrip(" ")
        if not item.startswith(_ITEM):
            continue
        depth, rest = (len(line) - len(item)) // 2, item[len(_ITEM) :]
        del path[depth:]
        if path and rest.startswith("/") and (property_ := _PROPERTY.match(rest)):
            _add_property(nodes[path[-1]], property_["property"], _unquoted(property_["value"]))
            continue
        if path:
            outer = nodes[path[-1]]
            if outer.role in VALUED and not outer.has_children and rest.startswith("text: "):
                outer.text = rest.removeprefix("text: ")
                continue
            outer.has_children = True
        nodes.append(Node(depth, *_fields(rest), parent=path[-1] if path else None))
        path.append(len(nodes) - 1)
    return nodes


@lru_cache(maxsize=8_192)
def _fields(rest: str) -> tuple[str, str, str | None, tuple[str, ...], str]:
    """Parse role, name, ref, marks and text of a line. Cached, because most lines recur in the next look."""
    if rest.startswith("'") and (quoted := _QUOTED_KEY.match(rest)):
        rest = quoted["key"].replace("''", "'") + (quoted["tail"] or "")
    if (found := _KEY.match(rest)) is None:
        return "text", "", None, (), rest.removeprefix("text: ")
    role, name, marks, tail = found.groups("")
    all_marks = marks.split("] [") if marks else []
    refs = [mark for mark in all_marks if _REF.fullmatch(mark)]
    name, of_field = nameless.read(_unquoted(name))
    others = (*(mark for mark in all_marks if mark not in refs), *of_field)
    return role, name, refs[0].removeprefix("ref=") if refs else None, others, tail.removeprefix(":").strip()


def _add_property(node: Node, name: str, value: str) -> None:
    if name == "url":
        node.url = value
    elif value != node.name:
        node.marks = (*node.marks, f"{name}={value}")


def without_root(nodes: Tree) -> Tree:
    """Remove an outermost element that says nothing, because it would indent every line by two characters. Changes the
    nodes."""
    root = nodes[0] if nodes else None
    if root is None or root.role != "generic" or root.name or root.text or sum(not node.depth for node in nodes) > 1:
        return nodes
    if len(nodes) == 1:
        return nodes
    inner = nodes[1:]
    for node in inner:
        node.depth -= 1
        node.parent = node.parent - 1 if node.parent else None
    return inner


def without(nodes: Tree, dropped: set[int]) -> Tree:
    """Return a tree without some nodes, whose descendants must be dropped too. The other nodes are changed."""
    places: dict[int, int] = {}
    kept: Tree = []
    for index, node in enumerate(nodes):
        if index not in dropped:
            places[index] = len(kept)
            node.parent = None if node.parent is None else places[node.parent]
            kept.append(node)
    return kept


def hide_secrets(nodes: Tree, masked: list[str], told: list[str]) -> None:
    """Hide typed secrets in fields. In other names and texts hide only the `masked` ones: the `told` ones, such as a
    search for a token, are what the page is about."""
    secrets, others = ({" ".join(text.split()) for text in texts if text.strip()} for texts in (masked, told))
    if not (secrets or others):
        return
    anywhere, in_fields = {secret for secret in secrets if len(secret) >= LEAST_SECRET}, secrets | others
    for node in nodes:
        if " ".join(node.words.split()) in (in_fields if node.role in FIELDS else anywhere):
            node.text = HIDDEN
    _hide_in_names(nodes, anywhere)


def _hide_in_names(nodes: Tree, secrets: set[str]) -> None:
    """Hide the secrets in all names at once: one name at a time would take a hundred times as long."""
    names = [node.name.replace(_BETWEEN, " ") for node in nodes]
    hidden = _BETWEEN.join(names)
    for secret in secrets:
        hidden = hidden.replace(secret.replace(_BETWEEN, " "), HIDDEN)
    for node, name, seen in zip(nodes, names, hidden.split(_BETWEEN), strict=True):
        if seen != name:
            node.name = seen


def prefix_of(ref: str) -> str:
    """Return the prefix that the refs of one document share: `f1` for `f1e2`."""
    return ref[: ref.index("e")]


def subtree(nodes: Tree, index: int) -> Tree:
    """Copy an element and its descendants as a separate tree."""
    root = nodes[index]
    inner = [
        replace(node, depth=node.depth - root.depth, parent=(node.parent or 0) - index)
        for node in descendants(nodes, index)
    ]
    return [replace(root, depth=0, parent=None), *inner]


def descendants(nodes: Tree, index: int) -> Iterator[Node]:
    """Yield the descendants of an element."""
    for position in range(index + 1, len(nodes)):
        if nodes[position].depth <= nodes[index].depth:
            return
        yield nodes[position]


def ancestors(nodes: Tree, index: int) -> Iterator[int]:
    """Yield the ancestors of an element, the nearest first."""
    parent = nodes[index].parent
    while parent is not None:
        yield parent
        parent = nodes[parent].parent


def interactive(nodes: Tree) -> Tree:
    """Return only headings and controls, in page order."""
    shown = (node for index, node in enumerate(nodes) if is_interactive(node) and not is_said_again(nodes, index))
    return [replace(node, depth=0, has_children=False) for node in shown]


def is_interactive(node: Node) -> bool:
    return node.ref is not None and (node.is_control or node.role == "heading")


def is_said_again(nodes: Tree, index: int) -> bool:
    """Return whether it is a heading or box that only repeats a control: the one that makes it up, or that contains
    it."""
    node = nodes[index]
    if node.role not in {"heading", "generic"}:
        return False
    inner = nodes[index + 1] if node.is_said_within else node
    outer = (nodes[i] for i in islice(ancestors(nodes, index), _MOST_AROUND))
    return (inner is not node and inner.is_control and inner.name == node.name) or any(
        each.is_said_within for each in outer
    )


def index_of(nodes: Tree, ref: str) -> int | None:
    return next((i for i, node in enumerate(nodes) if node.ref == ref), None)


def first_ref(nodes: Tree) -> str | None:
    return next((node.ref for node in nodes if node.ref), None)


def first_words(nodes: Iterable[Node]) -> str:
    """Return the label of the first node that has one but no children."""
    return next((node.label for node in nodes if not node.has_children and node.label), "")


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:  # Playwright escapes control characters as YAML does, which JSON does not know
        return text.strip('"')
