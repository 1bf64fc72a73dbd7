"""Writes the outline of a page in few lines: headings and what can be acted on first; the rest is counted."""

from collections import Counter
from itertools import islice
from typing import Final

from browser_service.host.reading.tree import CONTROLS, FIELDS, Node, Tree, ancestors, descendants, is_said_again
from shared.cuts import cut, shortened

_LANDMARK_ROLES: Final = frozenset(
    {"banner", "navigation", "main", "search", "form", "dialog", "alertdialog", "complementary", "contentinfo"}
)
_ANNOUNCED_ROLES: Final = frozenset({"alert", "alertdialog", "dialog", "status"})
_RANKING_ROLES: Final = frozenset({"dialog", "alertdialog", "form", "search", "contentinfo"})
_SPOKEN_ROLES: Final = frozenset({"alert", "status"})
"""These are words, and nothing else."""
_LIST_SIBLINGS: Final = 4
"""This many siblings of one role are a list, of which the first two stand for all."""
_LISTED_SIBLINGS: Final = 2
_MOST_REPEATED_FIELDS: Final = 12
"""More fields than this in lists and rows are no form; what surrounds them says more."""
_COUNTED_ROLES: Final = 4
_COUNT_CHARACTERS: Final = 90
"""The line that counts the rest has this many characters."""
_LINE_CHARACTERS: Final = 160
_HEADING_RANK: Final = 2
_FIRST_HEADINGS: Final = 4
"""So many headings of sections come before fields and buttons: an article has hundreds, and a form at its end."""
_LATER_HEADING_RANK: Final = 5
_LIST_RANK: Final = 9
_MOST_TRIED: Final = 200
_MOST_SPOKEN: Final = 100
"""Bounds the elements of an alert whose words are told."""
_OPTION_RANK: Final = 10
"""Puts options behind all other ranks."""


def outline(nodes: Tree, budget: int) -> tuple[str, Tree]:
    """Return what a person would see at a glance, in `budget` bytes and the page's order, and its nodes."""
    repeated = _repeated(nodes)
    many = sum(nodes[index].role in FIELDS for index in repeated) > _MOST_REPEATED_FIELDS
    informative = {i for i, node in enumerate(nodes) if _is_informative(node) and not is_said_again(nodes, i)}
    candidates = [i for i in sorted(informative) if i not in repeated or nodes[i].role in FIELDS]
    around = _roles_around(nodes)
    ranks = {i: _LIST_RANK if many and i in repeated else _rank(nodes[i], around[i]) for i in candidates}
    for index in [index for index, rank in ranks.items() if rank == _HEADING_RANK][_FIRST_HEADINGS:]:
        ranks[index] = _LATER_HEADING_RANK
    names = Counter(node.role_and_name for node in nodes if node.url)
    twins = {name for name, count in names.items() if count > 1}
    listed: set[int] = set()
    room = budget - _COUNT_CHARACTERS
    for index in sorted(candidates, key=lambda index: (ranks[index], index))[:_MOST_TRIED]:
        added = {index, *_landmarks(nodes, index)} - listed
        size = sum(len(_line(nodes, i, twins).encode()) + 1 for i in added)
        if size <= room:
            listed |= added
            room -= size
    if not listed:
        return _first_words(nodes), []
    rest = Counter(n.role for i, n in enumerate(nodes) if i not in listed and (n.role in CONTROLS or i in informative))
    lines = [*(_line(nodes, index, twins) for index in sorted(listed)), *([_count(rest)] if rest else [])]
    return "\n".join(lines), [nodes[index] for index in listed]


def _first_words(nodes: Tree) -> str:
    """Return the first words of a page without headings and controls."""
    text = " ".join(words for node in nodes if (words := node.words or node.name))
    return shortened(text, _LINE_CHARACTERS)


def _count(rest: Counter[str]) -> str:
    roles = [counted(count, role) for role, count in rest.most_common(_COUNTED_ROLES)]
    return f"not shown: {', '.join(roles)}{', ...' if len(rest) > _COUNTED_ROLES else ''}"[:_COUNT_CHARACTERS]


def counted(count: int, role: str) -> str:
    """Name a number of roles: 1 switch, 2 switches, 3 links."""
    ending = "" if count == 1 else "es" if role.endswith(("x", "ch")) else "s"
    return f"{count} {role}{ending}"


def _is_informative(node: Node) -> bool:
    """Say if it belongs in an outline: its line says what it is."""
    if node.role == "heading":
        return bool(node.name or node.text)
    if node.is_control:
        return node.ref is not None
    announced = node.role in _ANNOUNCED_ROLES and bool(node.text or node.has_children)
    return announced or node.role in {"table", "grid", "iframe"}


def _roles_around(nodes: Tree) -> list[frozenset[str]]:
    """Return for each element the roles around it that matter for its rank."""
    around: list[frozenset[str]] = []
    for node in nodes:
        outer = around[node.parent] | {nodes[node.parent].role} if node.parent is not None else frozenset[str]()
        around.append(outer & _RANKING_ROLES)
    return around


def _rank(node: Node, roles: frozenset[str]) -> int:
    """Rank what comes first if not all fits: what is open above the page, headings, forms, and options last."""
    if node.role == "option":
        return _OPTION_RANK
    if node.role in _ANNOUNCED_ROLES or roles & {"dialog", "alertdialog"}:
        return 0 if node.role in FIELDS | _ANNOUNCED_ROLES else 1
    if node.role == "heading":
        return _HEADING_RANK if "level=1" in node.marks or "level=2" in node.marks else 7
    if node.role in FIELDS or (node.role == "button" and roles & {"form", "search"}):
        return 3
    if roles & {"contentinfo"}:
        return 8
    return 4 if node.role == "button" else 6


def _repeated(nodes: Tree) -> set[int]:
    """Return the nodes in the third and later of many siblings of one role, such as rows and cards."""
    siblings = Counter((node.parent, node.role) for node in nodes)
    earlier: Counter[tuple[int | None, str]] = Counter()
    repeated: set[int] = set()
    for index, node in enumerate(nodes):
        kind = (node.parent, node.role)
        earlier[kind] += 1
        of_list = siblings[kind] >= _LIST_SIBLINGS and earlier[kind] > _LISTED_SIBLINGS
        if (of_list and node.role not in CONTROLS | {"heading"}) or node.parent in repeated:
            repeated.add(index)
    return repeated


def _leaves(nodes: Tree, index: int) -> list[str]:
    """Return the words in what is announced."""
    inner = islice(descendants(nodes, index), _MOST_SPOKEN)
    return [node.text or node.name for node in inner if not node.has_children and node.label]


def _landmarks(nodes: Tree, index: int) -> list[int]:
    return [outer for outer in ancestors(nodes, index) if nodes[outer].role in _LANDMARK_ROLES]


def _line(nodes: Tree, index: int, twins: set[str]) -> str:
    """Write a node in one line, indented by the landmarks around it; a link that has `twins` with its address."""
    node, indent = nodes[index], "  " * len(_landmarks(nodes, index))
    head = node.brief(has_twins=node.role_and_name in twins)
    line = f"- {head}: {node.text}" if node.text else f"- {head}"
    if node.role in _SPOKEN_ROLES and not node.text:
        line = f"{line}: {shortened(' | '.join(_leaves(nodes, index)), _LINE_CHARACTERS - len(line))}"
    if len(line) > _LINE_CHARACTERS:
        line = f"- {node.role} {cut(node.name, _LINE_CHARACTERS // 2)!r}… [ref={node.ref}]"
    return f"{indent}{line}"
