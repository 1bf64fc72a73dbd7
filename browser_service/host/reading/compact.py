"""Writes a tree in as few characters as say all of it: a table's row on one line, a sentence as one."""

from collections.abc import Iterable
from typing import Final

from browser_service.host.reading.tree import CONTROLS, Node, words

_CELLS: Final = frozenset({"cell", "gridcell", "rowheader", "columnheader"})
_STRESSED: Final = frozenset({"emphasis", "strong", "code", "mark", "time", "subscript", "superscript"})
_ON_ONE_LINE: Final = (
    frozenset(
        {
            "row",
            "paragraph",
            "heading",
            "generic",
            "listitem",
            "link",
            "button",
            "term",
            "definition",
            "caption",
            "blockquote",
        }
    )
    | _CELLS
)
_UNNAMED: Final = frozenset({"rowgroup", "paragraph", "cell", "rowheader", "columnheader", *_STRESSED})
"""These get no ref, because their words or surroundings find them: refs would be a fifth of the text."""
_LONGEST: Final = 400
_LIKE_OURS: Final = ("[ref=", " | ")
"""Text of the page that has these could be taken for our notation, and is written on a line of its own."""


def write(nodes: Iterable[Node]) -> str:
    """Write the nodes' lines; each node's depth says what it is in."""
    return "\n".join(_Page([*nodes]).lines())


class _Page:
    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._inner: list[list[int]] = [[] for _ in nodes]
        self._outer: list[int | None] = []
        above: list[int] = []
        for index, node in enumerate(nodes):
            while above and nodes[above[-1]].depth >= node.depth:
                above.pop()
            self._outer.append(above[-1] if above else None)
            if above:
                self._inner[above[-1]].append(index)
            above.append(index)

    def lines(self) -> list[str]:
        said, written = list[str](), set[int]()
        depths = list[int]()
        for index, node in enumerate(self._nodes):
            outer = self._outer[index]
            wrapped = outer is not None and self._only_wraps(outer)
            depths.append(0 if outer is None else depths[outer] + (not wrapped))
            if outer in written:
                written.add(index)
            elif not self._only_wraps(index):
                line = self._on_one_line(index)
                if line is not None:
                    written.add(index)
                said.append(f"{'  ' * depths[index]}- {line or self._alone(node, index)}")
        return said

    def _only_wraps(self, index: int) -> bool:
        """Say if the element has nothing to say but its content."""
        node, inner = self._nodes[index], self._inner[index]
        plain = not (node.name or node.text or node.states or node.acts or _boxed(node))
        return plain and bool(inner) and (node.role == "rowgroup" or (node.role == "generic" and len(inner) == 1))

    def _alone(self, node: Node, index: int) -> str:
        colon = ":" if self._inner[index] or node.inner else ""
        return f"{self._head(node, index)}: {node.text}" if node.text else f"{self._head(node, index)}{colon}"

    def _head(self, node: Node, index: int) -> str:
        unnamed = node.role in _UNNAMED or (node.role == "generic" and bool(self._inner[index]))
        return node.head(ref=node.acts or not unnamed)

    def _on_one_line(self, index: int) -> str | None:
        """Return it with all that is in it, if that is words and controls, or cells of such; else None."""
        node, inner = self._nodes[index], self._inner[index]
        if not inner or node.text or node.role not in _ON_ONE_LINE:
            return None
        if node.role == "row":
            line = _joined([self._cell(each) for each in inner], " | ")
        else:
            line = _joined([self._phrase(each) for each in self._unrepeated(inner)], " ")
        if line is None or len(line) > _LONGEST:
            return None
        return line if self._labels(node, inner) else f"{self._head(node, index)}: {line}"

    def _unrepeated(self, inner: list[int]) -> list[int]:
        """Leave out a label's words that are the name of what it labels."""
        names = {self._nodes[each].name for each in inner if self._nodes[each].role in CONTROLS}
        return [
            each for each in inner if self._nodes[each].role != "text" or words(self._nodes[each].text) not in names
        ]

    def _labels(self, node: Node, inner: list[int]) -> bool:
        return (
            node.role == "generic" and not (node.name or node.states or node.acts) and len(self._unrepeated(inner)) == 1
        )

    def _cell(self, index: int) -> str | None:
        node, inner = self._nodes[index], self._inner[index]
        if node.role not in _CELLS or node.acts or (inner and (node.name or node.text)):
            return None
        if not inner:
            return _words(node)
        return _joined([self._phrase(each) for each in inner], " ")

    def _phrase(self, index: int) -> str | None:
        node = self._nodes[index]
        if self._inner[index]:
            return None
        if node.role in CONTROLS or node.role == "img" or node.acts:
            return self._alone(node, index)
        return _words(node) if node.role in {"text", *_STRESSED} else None


def _words(node: Node) -> str | None:
    """Return a node's words, if they can be taken for nothing else."""
    said = node.name or words(node.text)
    unclear = _boxed(node) or (node.name and node.text) or any(like in said for like in _LIKE_OURS)
    return None if unclear else "".join([said, *(f" [{mark}]" for mark in node.states)])


def _boxed(node: Node) -> bool:
    return any(mark.startswith("box=") for mark in node.marks)


def _joined(parts: list[str | None], by: str) -> str | None:
    said = [part for part in parts if part is not None]
    return by.join(said) if len(said) == len(parts) else None
