"""Tells fields without a name apart, by the words beside them: a label that is not tied to them, or their column."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from json.encoder import encode_basestring
from typing import Final

from browse_together.contract.cuts import shortened
from browser_service.host.reading.nameless import without_name
from browser_service.host.reading.tree import CELLS, CONTROLS, FIELDS, TICKED, Node, Tree, ancestors, descendants

_MARK: Final = "beside="
_HIDDEN: Final = "aria-hidden"
_TABLES: Final = frozenset({"table", "grid", "treegrid"})
_WRAPPERS: Final = frozenset({"generic", "paragraph", "listitem", "group"}) | CELLS
_MOST_LEVELS: Final = 3
_MOST_FIELDS: Final = 200
_MOST_WITHIN: Final = 12
_WORDS_CHARACTERS: Final = 40


def mark_fields(nodes: Tree) -> None:
    """Give each field without a name a mark with the words beside it; with a number if several have the same. In a
    column with a heading, its `name` says no more."""
    fields = [i for i, node in enumerate(nodes) if node.role in FIELDS and not node.name and node.ref][:_MOST_FIELDS]
    if not fields:
        return
    inner: dict[int | None, list[int]] = {}
    for index, node in enumerate(nodes):
        inner.setdefault(node.parent, []).append(index)
    columns = {index: _column(nodes, index, inner) for index in fields}
    beside = {index: column or _before(nodes, index, inner) for index, column in columns.items()}
    counts, numbers = (
        Counter((nodes[i].parent, words) for i, words in beside.items()),
        Counter[tuple[int | None, str]](),
    )
    for index, words in beside.items():
        kind = nodes[index].parent, words
        numbers[kind] += 1
        if words:
            said = f"{words} {numbers[kind]}" if counts[kind] > 1 else words
            marks = without_name(nodes[index].marks) if columns[index] else nodes[index].marks
            nodes[index].marks = (*marks, f"{_MARK}{encode_basestring(said)}")


def words_beside(node: Node) -> str:
    """Return what a field's mark says."""
    return next((mark.removeprefix(_MARK).strip('"') for mark in node.marks if mark.startswith(_MARK)), "")


def unmarked(node: Node, written: Iterable[Node]) -> Node:
    """Return a field without its mark if the words are written beside it."""
    said = words_beside(node)
    if not said or not any(each.label and said.startswith(_short(each.label)) for each in written):
        return node
    return replace(node, marks=tuple(mark for mark in node.marks if not mark.startswith(_MARK)))


def _column(nodes: Tree, index: int, inner: dict[int | None, list[int]]) -> str:
    """Return the heading of the field's column."""
    cell = next((i for i in islice(ancestors(nodes, index), _MOST_LEVELS) if nodes[i].role in CELLS), None)
    row = nodes[cell].parent if cell is not None else None
    table = next((i for i in ancestors(nodes, row) if nodes[i].role in _TABLES), None) if row is not None else None
    if cell is None or table is None:
        return ""
    first = next((i for i, node in enumerate(islice(nodes, table, None), table) if node.role == "row"), table)
    heads, place = [nodes[i] for i in inner.get(first, ())], inner[row].index(cell)
    is_head = place < len(heads) and len(heads) == len(inner[row]) and heads[place].role == "columnheader"
    return _short(heads[place].label) if is_head else ""


def _before(nodes: Tree, index: int, inner: dict[int | None, list[int]]) -> str:
    """Return the nearest words before the field, or behind it if it is a box, in it or in what wraps it alone."""
    for each in (index, *islice(ancestors(nodes, index), _MOST_LEVELS)):
        if each != index and nodes[each].role not in _WRAPPERS:
            return ""
        siblings = inner[nodes[each].parent]
        place = siblings.index(each)
        behind = siblings[place + 1 : place + 2] if nodes[index].role in TICKED else []
        for other in (*behind, *_run_before(nodes, siblings[:place])):
            part = [nodes[other], *islice(descendants(nodes, other), _MOST_WITHIN)]
            if any(node.role in CONTROLS or node.role == "heading" for node in part):
                return ""
            words = next((node.label for node in part if node.label and node.role != "img"), "")
            if words and not (words.isdecimal() and _HIDDEN in nodes[other].marks):  # the number of an editor's line
                return _short(words)
    return ""


def _run_before(nodes: Tree, siblings: list[int]) -> Iterator[int]:
    """Yield the siblings before a field, the nearest first, without other such fields: boxes for one code have the
    same words before them."""
    run = True
    for other in reversed(siblings):
        run = run and nodes[other].role in FIELDS - TICKED and not nodes[other].name
        if not run:
            yield other


def _short(words: str) -> str:
    return shortened(words.strip().removesuffix(":"), _WORDS_CHARACTERS)
