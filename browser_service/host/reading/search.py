"""Searches a page's tree by words, role and name."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from browse_together.contract import similarity
from browse_together.contract.cuts import shortened, shown_of
from browse_together.contract.model import Json
from browser_service.host.reading.beside import words_beside
from browser_service.host.reading.nameless import own_name
from browser_service.host.reading.places import place
from browser_service.host.reading.tree import CHOICES, Node, Tree, ancestors, descendants

_NEAREST: Final = 5
_SIMILARITY: Final = 0.5
_TEXT_CHARACTERS: Final = 200
_COMPARED_NAMES: Final = 500
_NAME_CHARACTERS: Final = 60
_MOST_AROUND: Final = 100
_PRESSED: Final = frozenset({"button", "link", "tab", "switch", "menuitem", "menuitemcheckbox", "menuitemradio"})
"""Roles of controls that are what a person means by the words in them."""
_ITEMS: Final = frozenset({"row", "listitem", "article", "treeitem"})
_ITEM_CHARACTERS: Final = 80
_MOST_OF_ITEM: Final = 40


@dataclass(frozen=True)
class Match:
    """A found element: its index, and the words that matched if they are not its name."""

    index: int
    node: Node
    text: str = ""


def search(nodes: Tree, *, text: str = "", role: str = "", name: str = "") -> list[Match]:
    """Return all matches: exact names first, then controls, then the rest, each in page order."""
    query = (name or text).casefold()
    if role or name:
        matches = [*_by_role(nodes, role, name, text)]
        if role and name and not matches:  # rows and list items go by their words, not names
            showing = _showing(nodes, name)
            matches = [match for match in _by_role(nodes, role, "", text) if match.index in showing]
    else:
        matches = [*{(each.index, _said_of(each)): each for each in _by_text(nodes, text)}.values()]
    return sorted(matches, key=lambda match: (_rank(match.node, query), match.index))


def _rank(node: Node, query: str) -> tuple[bool, bool]:
    return query not in {node.name.casefold(), node.words.casefold()}, not node.is_control


def _by_role(nodes: Tree, role: str, name: str, text: str) -> Iterator[Match]:
    showing = _showing(nodes, text) if text else set[int]()
    for index, node in enumerate(nodes):
        if not _is_listed(node) or (role and node.role != role) or not _contains(_told_by(node), name):
            continue
        if not text or index in showing:
            yield Match(index, node) if node.ref else _addressed(nodes, index)


def _is_listed(node: Node) -> bool:
    """Return whether acts can reach the element: by its own ref, or as an option of a list."""
    return bool(node.ref) or node.role == "option"


def _told_by(node: Node) -> str:
    """Return what tells the element from others of its role."""
    return node.name or f"{words_beside(node)}\n{own_name(node.marks)}"


def _showing(nodes: Tree, text: str) -> set[int]:
    """Return the elements that contain the words themselves or in a descendant."""
    showing: set[int] = set()
    for index, node in enumerate(nodes):
        if _shows(node, text):
            _add_with_outer(showing, nodes, index)
    return showing


def _add_with_outer(indexes: set[int], nodes: Tree, index: int) -> None:
    """Add an element and its ancestors. Stops at an ancestor that is already there, because its own ancestors are
    too."""
    indexes.add(index)
    for outer in ancestors(nodes, index):
        if outer in indexes:
            return
        indexes.add(outer)


def _by_text(nodes: Tree, text: str) -> Iterator[Match]:
    """Yield the innermost elements with the words, because rows and links repeat the words of their content."""
    repeating: set[int] = set()
    for index in range(len(nodes) - 1, -1, -1):
        if index in repeating or not _shows(nodes[index], text):
            continue
        _add_with_outer(repeating, nodes, index)
        yield _addressed(nodes, index)


def _addressed(nodes: Tree, index: int) -> Match:
    """Return the element that acts can reach (the control around the words, or itself, or its nearest ancestor with a
    ref), and the words that matched."""
    outer = [index, *islice(ancestors(nodes, index), _MOST_AROUND)]
    addressed = next((i for i in outer if nodes[i].ref), index)  # words directly in the page have no such ancestor
    if not nodes[index].is_control:
        addressed = next((i for i in outer if nodes[i].role in _PRESSED and nodes[i].ref), addressed)
    between = [nodes[i] for i in outer[1 : outer.index(addressed)] if nodes[i].name]
    label = " · ".join([nodes[index].label, *(each.role_and_name for each in between)])
    return Match(addressed, nodes[addressed], "" if addressed == index else label)


def _said_of(match: Match) -> str:
    """Return what tells a match from others of its element: of a button, which words of it matched does not matter."""
    return "" if match.node.role in _PRESSED else match.text


def _shows(node: Node, text: str) -> bool:
    return _contains(node.name, text) or _contains(node.words, text)


def _contains(words: str, text: str) -> bool:
    return text.casefold() in words.casefold()


def nearest(nodes: Tree, query: str, role: str = "", *, others: bool = True) -> list[str]:
    """Return the names on the page most similar to a missing one; without any, some others if `others`."""
    named = (node for node in nodes if node.name and _is_listed(node) and (not role or node.role == role))
    names = {node.name[:_NAME_CHARACTERS].casefold(): node for node in islice(named, _COMPARED_NAMES)}
    similar = (
        similarity.nearest(query[:_NAME_CHARACTERS].casefold(), names, most=_NEAREST, similarity=_SIMILARITY)
        if query
        else []
    )
    return [names[name].role_and_name for name in similar or ([*names][:_NEAREST] if others else [])]


def to_line(nodes: Tree, match: Match, *, alone: bool = False) -> str:
    """Write a match for a model. One that is `alone` needs no heading to distinguish it."""
    node, text = match.node, shortened(match.text, _TEXT_CHARACTERS) if match.text else ""
    if text and node.role in CHOICES:
        chosen = f" (chosen: {node.words})" if node.words else ""
        line = f"- {node.head()}{chosen}: option {text}"
    else:
        text = text if match.text != node.words else ""
        line = node.line.removesuffix(":") + (f": {text}" if (text := text or _words_of(nodes, match)) else "")
    where = place(nodes, match.index).removeprefix(f"{node.role} ")
    where = "" if (alone and where.startswith("under ")) or where.strip('"') in line else where
    return f"{line}{f' · {where}' if where else ''}"


def _words_of(nodes: Tree, match: Match) -> str:
    """Return the words of a row or item without a name or text of its own."""
    node = match.node
    if node.role not in _ITEMS or node.name or node.text:
        return ""
    inner = islice(descendants(nodes, match.index), _MOST_OF_ITEM)
    words = (each.label for each in inner if not each.has_children and each.role != "img" and each.label)
    return shortened(" | ".join(words), _ITEM_CHARACTERS)


def listed(matches: list[Match], name: str | None, most: int) -> list[Match]:
    """Return the matches to list: those with exactly this name, if there are any, because in other names it occurs by
    chance. One that is beside these is listed too: its number would take as much room."""
    exact = [match for match in matches if name and match.node.name.casefold() == name.casefold()]
    count = min(len(exact) or len(matches), most)
    return matches[: shown_of(len(matches), count)]


def to_lines(nodes: Tree, listed: list[Match], total: int) -> list[str]:
    """Write the matches for a model, and the number of matches not listed."""
    lines = [to_line(nodes, match, alone=total == 1) for match in listed]
    return [*lines, *([f"and {total - len(listed)} more"] if listed and total > len(listed) else [])]


def numbered(number: int, lines: list[str], total: int) -> list[str]:
    """Write the result of one of several questions."""
    if len(lines) == 1:
        return [f"{number}. {lines[0].removeprefix('- ')}"]
    return [f"{number}. {total} found:", *lines]


def to_json(nodes: Tree, match: Match) -> Json:
    """Write a match as JSON for programs."""
    node = match.node
    fields: Json = {"ref": node.ref, "role": node.role, "name": node.name}
    if text := match.text or node.words:
        fields["text"] = shortened(text, _TEXT_CHARACTERS)
    if node.states:
        fields["states"] = [*node.states]
    if where := place(nodes, match.index):
        fields["in"] = where
    return fields
