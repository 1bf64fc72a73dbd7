"""Names the place of an element as a person would: its row, card, form or section."""

import json
from typing import Final

from browser_service.host.reading.tree import Tree, above, first_words, within, words

_ITEMS: Final = frozenset({"row", "listitem", "article", "option", "treeitem", "generic"})
"""These are named by the first words in them."""
_SECTIONS: Final = frozenset(
    {
        *("form", "dialog", "alertdialog", "region", "group", "table", "grid", "navigation", "banner", "contentinfo"),
        *("complementary", "search", "tabpanel", "toolbar", "menu", "radiogroup", "iframe", "list", "main"),
    }
)
_TOP: Final = frozenset({"main", "list", "table", "grid"})
"""These hold a whole page, or all that is alike in it: without a name they say nothing."""
_CHARACTERS: Final = 60


def place(nodes: Tree, index: int) -> str:
    """Return `row "Kettle"`, `form "Login"`, `under "Products"`, or ""."""
    itself = (index,) if nodes[index].role in _ITEMS and not nodes[index].name else ()
    for outer in (*itself, *above(nodes, index)):
        role, name = nodes[outer].role, nodes[outer].name
        if role in _ITEMS:
            label = _label(nodes, outer, index)
            if label or role == "row":
                return _named("in" if role == "generic" else role, label)
        elif role in _SECTIONS and (name or role not in _TOP):
            return _named(role, name)
    heading = next((n.name for n in reversed(nodes[:index]) if n.role == "heading" and n.name), "")
    return _named("under", heading) if heading and heading != nodes[index].name else ""


def _named(role: str, name: str) -> str:
    short = name if len(name) <= _CHARACTERS else f"{name[:_CHARACTERS]}…"
    return f"{role} {json.dumps(short, ensure_ascii=False)}" if name else role


def _label(nodes: Tree, outer: int, index: int) -> str:
    """Return a heading in it, or its first words; a generic element, which may be the page, needs a heading."""
    item, node = nodes[outer], nodes[index]
    inner = [*within(nodes, outer)]
    headings = (_said(nodes, outer + 1 + n) for n, found in enumerate(inner) if found.role == "heading")
    said = "" if item.role == "generic" else words(item.text) or first_words(inner)
    label = next(filter(None, headings), "") or said
    return "" if label in {node.name, words(node.text)} and item.role != "row" else label


def _said(nodes: Tree, index: int) -> str:
    """Return a heading's words, also if they are a link's."""
    return nodes[index].name or words(nodes[index].text) or first_words(within(nodes, index))
