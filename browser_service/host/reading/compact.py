"""Writes a tree compactly but completely: a table's row on one line, a sentence on one line."""

from collections.abc import Iterable
from typing import Final

from browser_service.host.reading.beside import unmarked
from browser_service.host.reading.tree import CELLS, CONTROLS, VALUED, Node

_LINE_ROLES: Final = (
    frozenset({"row", "paragraph", "heading", "generic", "listitem", "link", "button", "term", "definition"})
    | frozenset({"caption", "blockquote"})
    | CELLS
)
_REFLESS_ROLES: Final = frozenset({"rowgroup", "paragraph", "cell", "rowheader", "columnheader"})
"""Roles whose elements get no ref, because their words or surroundings find them: refs would be a fifth of the text."""
_LINE_CHARACTERS: Final = 400
_NOTATION: Final = ("[ref=", " | ")
"""Text of a page that contains these could be mistaken for our notation, so it gets a line of its own."""


def write(nodes: Iterable[Node]) -> str:
    """Write the nodes' lines. Each node's depth tells which element contains it."""
    return "\n".join(_Writer([*nodes]).lines())


class _Writer:
    """A writer of lines for any selection of a tree's nodes. It relies only on their depths."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._children: list[list[int]] = [[] for _ in nodes]
        self._parents: list[int | None] = []
        path: list[int] = []
        for index, node in enumerate(nodes):
            while path and nodes[path[-1]].depth >= node.depth:
                path.pop()
            self._parents.append(path[-1] if path else None)
            if path:
                self._children[path[-1]].append(index)
            path.append(index)

    def lines(self) -> list[str]:
        lines, written = list[str](), set[int]()
        depths = list[int]()
        for index in range(len(self._nodes)):
            parent = self._parents[index]
            wrapped = parent is not None and self._only_wraps(parent)
            depths.append(0 if parent is None else depths[parent] + (not wrapped))
            if parent in written:
                written.add(index)
            elif not self._only_wraps(index):
                line = self._on_one_line(index)
                if line is not None:
                    written.add(index)
                lines.append(f"{'  ' * depths[index]}- {line or self._line(index)}")
        return lines

    def _only_wraps(self, index: int) -> bool:
        """Return whether the element adds nothing to its content."""
        node, children = self._nodes[index], self._children[index]
        plain = not (node.name or node.text or node.states or node.is_control or _has_box(node))
        wraps = node.role == "rowgroup" or (node.role == "generic" and len(children) == 1)
        return plain and bool(children) and wraps

    def _line(self, index: int) -> str:
        """Write an element without its content."""
        node = self._nodes[index]
        colon = ":" if self._children[index] or node.has_children else ""
        is_said = not node.text or (node.is_said_within and self._children[index])
        return f"{self._head(index)}{colon}" if is_said else f"{self._head(index)}: {node.text}"

    def _head(self, index: int) -> str:
        around = self._parents[index]
        siblings = [] if around is None else self._children[around]
        node = unmarked(self._nodes[index], (self._nodes[i] for i in siblings))
        refless = node.role in _REFLESS_ROLES or (node.role == "generic" and bool(self._children[index]))
        is_said = node.is_said_within and node.role not in VALUED and bool(self._children[index])
        return node.head(ref=node.is_control or not refless, name=not is_said)

    def _on_one_line(self, index: int) -> str | None:
        """Return the element and its content on one line; None if the content is more than words and controls, or cells
        of these."""
        node, children = self._nodes[index], self._children[index]
        if not children or node.text or node.role not in _LINE_ROLES:
            return None
        if node.role == "row":
            line = _joined([self._cell(child) for child in children], " | ")
        else:
            line = _joined([self._phrase(child) for child in self._unrepeated(children)], " ")
        if line is None or len(line) > _LINE_CHARACTERS:
            return None
        plain = node.role == "generic" and not (node.name or node.states or node.is_control)
        return line if plain and len(self._unrepeated(children)) == 1 else f"{self._head(index)}: {line}"

    def _unrepeated(self, children: list[int]) -> list[int]:
        """Drop a label's words if they equal the name of the labelled element."""
        names = {self._nodes[child].name for child in children if self._nodes[child].role in CONTROLS}
        return [i for i in children if self._nodes[i].role != "text" or self._nodes[i].words not in names]

    def _cell(self, index: int) -> str | None:
        node, children = self._nodes[index], self._children[index]
        if node.role not in CELLS or node.is_control or (children and (node.name or node.text)):
            return None
        return _joined([self._phrase(child) for child in children], " ") if children else _words(node)

    def _phrase(self, index: int) -> str | None:
        node = self._nodes[index]
        if self._children[index]:
            return None
        if node.role == "img" or node.is_control:
            return self._line(index)
        return _words(node) if node.role == "text" else None


def _words(node: Node) -> str | None:
    """Return a node's words; None if they could be mistaken for notation."""
    unclear = _has_box(node) or (node.name and node.text) or any(mark in node.label for mark in _NOTATION)
    return None if unclear else "".join([node.label, *(f" [{mark}]" for mark in node.states)])


def _has_box(node: Node) -> bool:
    return any(mark.startswith("box=") for mark in node.marks)


def _joined(parts: list[str | None], separator: str) -> str | None:
    """Join the parts; return None if one of them cannot be written so."""
    known = [part for part in parts if part is not None]
    return separator.join(known) if len(known) == len(parts) else None
