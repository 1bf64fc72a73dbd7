"""Checks that an element is still what its ref was given for, by its name and by its row."""

import json
from typing import Final

from playwright.async_api import Locator

from browser_service.host import results
from browser_service.host.reading.tree import CONTROLS, Tree, ancestors, descendants, first_words
from browser_service.host.scripts import script
from shared.quoting import element_name

_ROW_ROLES: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})
_REPEATED_ROLES: Final = CONTROLS - {"link"}
"""Elements of these roles have the same name in every row."""
_CHECK_MS: Final = 1_000

_REF_CHECK: Final = results.bounded(script("ref_check"))


def rows(nodes: Tree, refs: set[str]) -> dict[str, str]:
    """Return the words that tell these elements' rows from others: the first words in each."""
    indexes = {row for index, node in enumerate(nodes) if node.ref in refs and (row := _row(nodes, index)) is not None}
    labels: dict[str, str] = {}
    for row in sorted(indexes):  # one that is in another comes after it, and counts
        members = (nodes[row], *descendants(nodes, row))
        label = first_words(node for node in members if node.role not in _REPEATED_ROLES)
        labels |= {node.ref: label for node in members if node.ref}
    return labels


def _row(nodes: Tree, index: int) -> int | None:
    return next((outer for outer in (index, *ancestors(nodes, index)) if nodes[outer].role in _ROW_ROLES), None)


async def mismatch(element: Locator, role_and_name: str, row: str) -> str:
    """Describe the element if its name or its row is another one by now, else return ""."""
    name = role_and_name.partition(" ")[2]
    expected = {"name": json.loads(name) if name else "", "row": row}
    if not any(expected.values()):
        return ""
    found = results.read(str, await element.evaluate(_REF_CHECK, expected, timeout=_CHECK_MS))
    return element_name(found) if found else ""
