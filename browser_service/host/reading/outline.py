"""Writes the outline of a page in few lines: headings and controls first; the rest as a count."""

from collections import Counter
from itertools import islice
from typing import Final

from browse_together.contract.cuts import cut, shortened
from browser_service.host.reading.tree import (
    CELLS,
    CONTROLS,
    FIELDS,
    Node,
    Tree,
    ancestors,
    descendants,
    first_words,
    is_said_again,
)

_LANDMARK_ROLES: Final = frozenset(
    {"banner", "navigation", "main", "search", "form", "dialog", "alertdialog", "complementary", "contentinfo"}
)
_ANNOUNCED_ROLES: Final = frozenset({"alert", "alertdialog", "dialog", "status"})
_CHROME_ROLES: Final = frozenset({"banner", "navigation", "complementary", "contentinfo"})
_RANKING_ROLES: Final = frozenset({"dialog", "alertdialog", "form", "search", "main"}) | _CHROME_ROLES
_SPOKEN_ROLES: Final = frozenset({"alert", "status"})
"""Roles that consist of words only."""
_LIST_SIBLINGS: Final = 4
"""This many siblings of one role count as a list. Its first two come before the others."""
_FIRST_SIBLINGS: Final = 2
_LONG_LIST: Final = 12
"""Of a list longer than this, only the first two items, and fields, are shown."""
_FEW_LINKS: Final = 4
_FIRST_LINKS: Final = 3
"""Links that represent a long list of links: more than _FEW_LINKS around the page's main part, or _LONG_LIST in it."""
_MOST_REPEATED_FIELDS: Final = 12
"""More fields than this in lists and rows are no form; what surrounds them is more informative."""
_COUNTED_ROLES: Final = 4
_COUNT_CHARACTERS: Final = 90
_LINE_CHARACTERS: Final = 160
_HEADING_RANK: Final = 2
_FIRST_HEADINGS: Final = 4
"""This many section headings come before fields and buttons: an article has hundreds, perhaps with a form at its
end."""
_LATER_HEADING_RANK: Final = 5
_LIST_RANK: Final = 7
_CHROME_RANK: Final = 8
_LONG_LIST_RANK: Final = 9
_MOST_TRIED: Final = 200
_TABLES: Final = frozenset({"table", "grid"})
_MOST_COUNTED: Final = 2_000
"""The most elements of a table that are searched for its rows."""
_MOST_SPOKEN: Final = 100
_OPTION_RANK: Final = 10
"""The rank of options, behind all others."""


def outline(nodes: Tree, budget: int) -> tuple[str, Tree]:
    """Return what a person would see at a glance, in page order and at most `budget` bytes long, and its nodes."""
    around, repeated = _roles_around(nodes), _repeated(nodes)
    alike = _alike_links(nodes, around)
    others = {index for links in alike.values() for index in links}
    informative = {i for i, node in enumerate(nodes) if _is_informative(nodes, i) and not is_said_again(nodes, i)}
    many = sum(nodes[index].role in FIELDS for index in repeated) > _MOST_REPEATED_FIELDS
    ranks = dict[int, int]()
    for index in sorted(informative - others):
        size, is_field = 0 if index in alike else repeated.get(index, 0), nodes[index].role in FIELDS
        if is_field or size <= (0 if nodes[index].role == "option" else _LONG_LIST):
            in_list = size and (many or not is_field)
            rank = _rank(nodes[index], around[index])
            ranks[index] = max(rank, _LONG_LIST_RANK if many else _LIST_RANK) if in_list else rank
    for index in [index for index, rank in ranks.items() if rank == _HEADING_RANK][_FIRST_HEADINGS:]:
        ranks[index] = _LATER_HEADING_RANK
    names = Counter(node.role_and_name for node in nodes if node.url)
    twins = {name for name, count in names.items() if count > 1}
    lines = dict[int, str]()
    room = budget - _COUNT_CHARACTERS
    for index in sorted(ranks, key=lambda index: (ranks[index], index))[:_MOST_TRIED]:
        added = {i: _line(nodes, i, twins) for i in {index, *_landmarks(nodes, index)} - lines.keys()}
        if index in alike:
            added[index] += f"\n{_indent(nodes, index)}- {counted(len(alike[index]), 'more link')}"
        size = sum(len(line.encode()) + 1 for line in added.values())
        if size <= room:
            lines |= added
            room -= size
    if not lines:
        return _first_words(nodes), []
    told = lines.keys() | {each for index in lines for each in alike.get(index, ())}
    rest = Counter(n.role for i, n in enumerate(nodes) if i not in told and (n.role in CONTROLS or i in informative))
    return "\n".join([*(lines[i] for i in sorted(lines)), *([_count(rest)] if rest else [])]), [nodes[i] for i in lines]


def _first_words(nodes: Tree) -> str:
    """Return the first words of a page without headings and controls."""
    text = " ".join(words for node in nodes if (words := node.words or node.name))
    return shortened(text, _LINE_CHARACTERS)


def _count(rest: Counter[str]) -> str:
    roles = [counted(count, role) for role, count in rest.most_common(_COUNTED_ROLES)]
    return f"not shown: {', '.join(roles)}{', ...' if len(rest) > _COUNTED_ROLES else ''}"[:_COUNT_CHARACTERS]


def counted(count: int, role: str) -> str:
    """Write a number of elements: 1 switch, 2 switches, 3 links."""
    ending = "" if count == 1 else "es" if role.endswith(("x", "ch")) else "s"
    return f"{count} {role}{ending}"


def _is_informative(nodes: Tree, index: int) -> bool:
    """Return whether the element's line would be informative, so that it belongs in an outline."""
    node = nodes[index]
    if node.role == "heading":
        return bool(node.name or node.text)
    if node.is_control:
        return node.ref is not None and bool(node.label or (node.role in CONTROLS and not node.url.startswith("#")))
    if node.role in _SPOKEN_ROLES:
        return bool(node.words or first_words(islice(descendants(nodes, index), _MOST_SPOKEN)))
    return node.role in {*_TABLES, "iframe"} or (node.role in _ANNOUNCED_ROLES and node.has_children)


def _roles_around(nodes: Tree) -> list[frozenset[str]]:
    """Return for each element the roles around it that affect its rank."""
    matter = _matter(nodes)
    around: list[frozenset[str]] = []
    for node in nodes:
        outer = frozenset[str]()
        if node.parent is not None:
            role = "main" if node.parent == matter else nodes[node.parent].role
            outer = around[node.parent] | {role} if role in _RANKING_ROLES else around[node.parent]
        around.append(outer)
    return around


def _matter(nodes: Tree) -> int | None:
    """Return the index of the element around the first main heading; None if the page marks its main part itself."""
    if any(node.role == "main" for node in nodes):
        return None
    heading = next((i for i, node in enumerate(nodes) if node.role == "heading" and "level=1" in node.marks), None)
    if heading is None or any(nodes[i].role in _CHROME_ROLES for i in ancestors(nodes, heading)):
        return None
    return nodes[heading].parent


def _rank(node: Node, roles: frozenset[str]) -> int:
    """Rank by importance, lowest first: dialogs and alerts, headings, forms, other controls, page chrome, options
    last."""
    if node.role == "option":
        return _OPTION_RANK
    if node.role in _ANNOUNCED_ROLES or roles & {"dialog", "alertdialog"}:
        return 0 if node.role in FIELDS | _ANNOUNCED_ROLES else 1
    if _is_chrome(roles) and "level=1" not in node.marks:
        return _CHROME_RANK - (node.role in FIELDS)
    if node.role == "heading":
        return _HEADING_RANK if "level=1" in node.marks or "level=2" in node.marks else 7
    if node.role in FIELDS or (node.role == "button" and roles & {"form", "search"}):
        return 3
    return 4 if node.role in {"button", "tab"} else 5 if "main" in roles else 6


def _is_chrome(roles: frozenset[str]) -> bool:
    return bool(roles & _CHROME_ROLES) and "main" not in roles


def _repeated(nodes: Tree) -> dict[int, int]:
    """Return the third and later of many siblings of one role, such as rows and cards, and everything in them, each
    with the number of siblings."""
    siblings = Counter((node.parent, node.role) for node in nodes)
    earlier: Counter[tuple[int | None, str]] = Counter()
    repeated = dict[int, int]()
    for index, node in enumerate(nodes):
        kind = (node.parent, node.role)
        earlier[kind] += 1
        outer = 0 if node.parent is None else repeated.get(node.parent, 0)
        of_list = siblings[kind] >= _LIST_SIBLINGS and earlier[kind] > _FIRST_SIBLINGS
        if of_list and node.role not in CONTROLS | {"heading"}:
            outer = max(outer, siblings[kind])
        if outer:
            repeated[index] = outer
    return repeated


def _alike_links(nodes: Tree, around: list[frozenset[str]]) -> dict[int, list[int]]:
    """Return the third link of each long list of links, with the links after it."""
    controls = Counter(node.parent for node in nodes if node.is_control)
    lists = dict[int | None, list[int]]()
    for index, node in enumerate(nodes):
        if node.role == "link" and node.ref:
            outer = node.parent
            if outer is not None and nodes[outer].role == "listitem" and controls[outer] == 1:
                outer = nodes[outer].parent
            lists.setdefault(outer, []).append(index)
    few = {outer: _FEW_LINKS if _is_chrome(around[links[0]]) else _LONG_LIST for outer, links in lists.items()}
    return {links[_FIRST_LINKS - 1]: links[_FIRST_LINKS:] for outer, links in lists.items() if len(links) > few[outer]}


def _leaves(nodes: Tree, index: int) -> list[str]:
    """Return the words inside an announcement."""
    inner = islice(descendants(nodes, index), _MOST_SPOKEN)
    return [node.text or node.name for node in inner if not node.has_children and node.label]


def _columns(nodes: Tree, index: int) -> str:
    """Return the words of a table's first row, and the number of rows."""
    inner = [*islice(descendants(nodes, index), _MOST_COUNTED + 1)]
    rows = [n for n, node in enumerate(inner) if node.role == "row"]
    first = inner[rows[0] + 1 : rows[1]] if len(rows) > 1 else []
    cells = " | ".join(node.label for node in first if node.role in CELLS and node.label)
    return f"{len(rows)}{'+' * (len(inner) > _MOST_COUNTED)} rows: {cells}" if cells else f"{counted(len(rows), 'row')}"


def _landmarks(nodes: Tree, index: int) -> list[int]:
    return [outer for outer in ancestors(nodes, index) if nodes[outer].role in _LANDMARK_ROLES]


def _indent(nodes: Tree, index: int) -> str:
    return "  " * len(_landmarks(nodes, index))


def _line(nodes: Tree, index: int, twins: set[str]) -> str:
    """Write a node as one line, indented by the landmarks around it. A link that has `twins` gets its address."""
    node, indent = nodes[index], _indent(nodes, index)
    head = node.brief(has_twins=node.role_and_name in twins)
    line = f"- {head}: {node.text}" if node.text else f"- {head}"
    if node.role in _TABLES and not node.name:
        line = f"{line}: {shortened(_columns(nodes, index), _LINE_CHARACTERS // 2)}"
    if node.role in _SPOKEN_ROLES and not node.text:
        line = f"{line}: {shortened(' | '.join(_leaves(nodes, index)), _LINE_CHARACTERS - len(line))}"
    if len(line) > _LINE_CHARACTERS:
        line = f"- {node.role} {cut(node.name, _LINE_CHARACTERS // 2)!r}… [ref={node.ref}]"
    return f"{indent}{line}"
