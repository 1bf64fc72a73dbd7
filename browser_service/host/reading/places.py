"""Names the place of an element as a person would: its row, card, form or section."""

import json
from itertools import islice
from typing import Final

from browse_together.contract.cuts import shortened
from browser_service.host.reading.tree import Tree, ancestors, descendants, first_words

_ITEM_ROLES: Final = frozenset({"row", "listitem", "article", "option", "treeitem", "generic"})
"""Roles that are labelled by a heading or the first words inside."""
_SECTION_ROLES: Final = frozenset(
    {
        *("form", "dialog", "alertdialog", "region", "group", "table", "grid", "navigation", "banner", "contentinfo"),
        *("complementary", "search", "tabpanel", "toolbar", "menu", "radiogroup", "iframe", "list", "main"),
    }
)
_NAMED_SECTION_ROLES: Final = frozenset({"main", "list", "table", "grid", "group"})
"""Roles of elements that contain the whole page or a whole list, or anything. Without a name they are no useful
place."""
_SAID_LESS: Final = frozenset({"checkbox", "radio", "img", "button"})
"""Roles of what is called the same in each row."""
_NAME_CHARACTERS: Final = 60
_MOST_AROUND: Final = 40
_MOST_WITHIN: Final = 500
"""The most elements searched in each element around the place."""


def place(nodes: Tree, index: int) -> str:
    """Return the place of an element, such as `row "Kettle"`, `form "Login"` or `under "Products"`; or ""."""
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
    """Return a heading inside, or the first words. A generic element may be the whole page, so only a heading labels
    it."""
    item, node = nodes[outer], nodes[index]
    inner = [*islice(descendants(nodes, outer), _MOST_WITHIN)]
    last = (
        index if item.role == "generic" and outer != index else outer + len(inner)
    )  # a later part has its own heading
    headings = (_heading_label(nodes, i) for i in range(outer + 1, last + 1) if nodes[i].role == "heading")
    others = (each for each in inner if each.role not in _SAID_LESS)
    words = "" if item.role == "generic" else item.words or first_words(others) or first_words(inner)
    label = next(filter(None, headings), "") or words
    return "" if label in {node.name, node.words} and item.role != "row" else label


def _heading_label(nodes: Tree, index: int) -> str:
    """Return a heading's words, even if they are inside a link."""
    return nodes[index].label or first_words(descendants(nodes, index))
