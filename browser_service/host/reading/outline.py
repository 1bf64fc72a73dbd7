"""Writes the outline of a page in few lines: headings and what can be acted on first; the rest is counted."""

from collections import Counter
from typing import Final

from browser_service.host.reading.tree import CONTROLS, FIELDS, Node, Tree, above, words

_LANDMARKS: Final = frozenset(
    {"banner", "navigation", "main", "search", "form", "dialog", "alertdialog", "complementary", "contentinfo"}
)
_LOUD: Final = frozenset({"alert", "alertdialog", "dialog", "status"})
_ALIKE: Final = 4
"""This many siblings of one role are a list, of which the first two stand for all."""
_SHOWN_ALIKE: Final = 2
_FIELDS_ALIKE: Final = 30
"""More fields than this in lists and rows are no form; what surrounds them says more."""
_REST: Final = 4
_COUNTS: Final = 90
"""The line that counts the rest has this many characters."""
_LINE_CHARACTERS: Final = 160
_LIST: Final = 8
_OPTION: Final = 9
"""Puts options behind all other ranks."""


def outline(nodes: Tree, budget: int) -> tuple[str, Tree]:
    """Return what a person would see at a glance, in `budget` characters and the page's order, and its nodes."""
    repeated = _repeated(nodes)
    many = sum(nodes[index].role in FIELDS for index in repeated) > _FIELDS_ALIKE
    told = [i for i, node in enumerate(nodes) if _tells(node) and (i not in repeated or node.role in FIELDS)]
    ranks = {index: _LIST if many and index in repeated else _rank(nodes, index) for index in told}
    shown: set[int] = set()
    room = budget - _COUNTS
    for index in sorted(told, key=lambda index: (ranks[index], index)):
        more = {index, *_landmarks(nodes, index)} - shown
        size = sum(len(_line(nodes[i])) + 1 + 2 * _indent(nodes, i) for i in more)
        if size <= room:
            shown |= more
            room -= size
    if not shown:
        return _first_words(nodes), []
    lines = [f"{'  ' * _indent(nodes, index)}{_line(nodes[index])}" for index in sorted(shown)]
    rest = Counter(n.role for i, n in enumerate(nodes) if i not in shown and (n.role in CONTROLS or _tells(n)))
    return "\n".join([*lines, *([_counted(rest)] if rest else [])]), [nodes[index] for index in shown]


def _first_words(nodes: Tree) -> str:
    """Return the first words of a page without headings and controls."""
    said = " ".join(text for node in nodes if (text := words(node.text) or node.name))
    return said if len(said) <= _LINE_CHARACTERS else f"{said[:_LINE_CHARACTERS]}…"


def _counted(rest: Counter[str]) -> str:
    most = [f"{count} {role}{'s' if count > 1 else ''}" for role, count in rest.most_common(_REST)]
    return f"not shown: {', '.join(most)}{', ...' if len(rest) > _REST else ''}"[:_COUNTS]


def _tells(node: Node) -> bool:
    """Say if it belongs in an outline: its line says what it is."""
    if node.role == "heading":
        return bool(node.name or node.text)
    if node.acts:
        return node.ref is not None
    return node.role in {"table", "grid", "iframe"} or (node.role in _LOUD and bool(node.text or node.inner))


def _rank(nodes: Tree, index: int) -> int:
    """Rank what comes first if not all fits: what is open above the page, headings, forms, and options last."""
    node = nodes[index]
    roles = {nodes[outer].role for outer in above(nodes, index)}
    if node.role == "option":
        return _OPTION
    if node.role in _LOUD or roles & {"dialog", "alertdialog"}:
        return 0 if node.role in FIELDS | _LOUD else 1
    if node.role == "heading":
        return 2 if "level=1" in node.marks or "level=2" in node.marks else 6
    if node.role in FIELDS or (node.role == "button" and roles & {"form", "search"}):
        return 3
    if roles & {"contentinfo"}:
        return 7
    return 4 if node.role == "button" else 5


def _repeated(nodes: Tree) -> set[int]:
    """Return the nodes in the third and later of many siblings of one role, such as rows and cards."""
    siblings = Counter((node.parent, node.role) for node in nodes)
    seen: Counter[tuple[int | None, str]] = Counter()
    found: set[int] = set()
    for index, node in enumerate(nodes):
        alike = (node.parent, node.role)
        seen[alike] += 1
        many = siblings[alike] >= _ALIKE and seen[alike] > _SHOWN_ALIKE and node.role not in CONTROLS
        if (many and node.role != "heading") or node.parent in found:
            found.add(index)
    return found


def _landmarks(nodes: Tree, index: int) -> list[int]:
    return [outer for outer in above(nodes, index) if nodes[outer].role in _LANDMARKS]


def _indent(nodes: Tree, index: int) -> int:
    return len(_landmarks(nodes, index))


def _line(node: Node) -> str:
    line = node.line.removesuffix(":")
    if len(line) <= _LINE_CHARACTERS:
        return line
    return f"- {node.role} {node.name[: _LINE_CHARACTERS // 2]!r}… [ref={node.ref}]"
