"""Names the place of an element as a person would: its row, card, form or section."""

import json
from itertools import islice
from typing import Final

from browser_service.host.reading.tree import Tree, ancestors, descendants, first_words
from shared.cuts import shortened

_ITEM_ROLES: Final = frozenset({"row", "listitem", "article", "option", "treeitem", "generic"})
"""These are named by the first words in them."""
_SECTION_ROLES: Final = frozenset(
    {
        *("form", "dialog", "alertdialog", "region", "group", "table", "grid", "navigation", "banner", "contentinfo"),
        *("complementary", "search", "tabpanel", "toolbar", "menu", "radiogroup", "iframe", "list", "main"),
    }
)
_NAMED_SECTION_ROLES: Final = frozenset({"main", "list", "table", "grid"})
"""These hold a whole page, or all that is alike in it: without a name they say nothing."""
_NAME_CHARACTERS: Final = 60
_MOST_AROUND: Final = 40
_MOST_WITHIN: Final = 500
"""Bound what is looked at for one place: so many elements around it, and so many in each of them."""


def place(nodes: Tree, index: int) -> str:
    """Return `row "Kettle"`, `form "Login"`, `under "Products"`, or ""."""
    node = nodes[index]
    itself = (index,) if node.role in _ITEM_ROLES and not node.name else ()
    for outer in (*itself, *islice(ancestors(nodes, index), _MOST_AROUND)):
        role, name = nodes[outer].role, nodes[outer].name
        if role in _ITEM_ROLES:
            label = _item_label(nodes, outer, index)
            if label or role == "row":
                return _quoted("in" if role == "generic" else role, label)
        elif role in _SECTION_ROLES and (name or role not in _NAMED_SECTION_ROLES):
            return _quoted(role, name)
    heading = next((n.name for n in reversed(nodes[:index]) if n.role == "heading" and n.name), "")
    return _quoted("under", heading) if heading and heading != node.name else ""


def _quoted(role: str, name: str) -> str:
    short = shortened(name, _NAME_CHARACTERS)
    return f"{role} {json.dumps(short, ensure_ascii=False)}" if name else role


def _item_label(nodes: Tree, outer: int, index: int) -> str:
    """Return a heading in it, or its first words; a generic element, which may be the page, needs a heading."""
    item, node = nodes[outer], nodes[index]
    inner = [*islice(descendants(nodes, outer), _MOST_WITHIN)]
    headings = (_heading_label(nodes, i) for i, each in enumerate(inner, outer + 1) if each.role == "heading")
    words = "" if item.role == "generic" else item.words or first_words(inner)
    label = next(filter(None, headings), "") or words
    return "" if label in {node.name, node.words} and item.role != "row" else label


def _heading_label(nodes: Tree, index: int) -> str:
    """Return a heading's words, also if they are a link's."""
    return nodes[index].label or first_words(descendants(nodes, index))
