"""Checks that an element is still what its ref was given for, by its name and by its row."""

import json
from typing import Final

from playwright.async_api import Locator

from browser_service.host.reading.tree import CONTROLS, Tree, above, first_words, within
from browser_service.host.scripts import script

_ROWS: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})
_ALIKE: Final = CONTROLS - {"link"}
"""Elements of these roles have the same name in every row."""
_CHECKED_WITHIN_MS: Final = 1_000

_OTHER: Final = script("ref_check")


def rows(nodes: Tree, refs: set[str]) -> dict[str, str]:
    """Return the words that tell these elements' rows from others: the first words in each."""
    of_refs = {row for index, node in enumerate(nodes) if node.ref in refs and (row := _row(nodes, index)) is not None}
    found: dict[str, str] = {}
    for row in sorted(of_refs):  # one that is in another comes after it, and counts
        inner = (nodes[row], *within(nodes, row))
        label = first_words(node for node in inner if node.role not in _ALIKE)
        found |= {node.ref: label for node in inner if node.ref}
    return found


def _row(nodes: Tree, index: int) -> int | None:
    return next((outer for outer in (index, *above(nodes, index)) if nodes[outer].role in _ROWS), None)


async def mismatch(element: Locator, was: str, row: str) -> str:
    """Describe the element if it is not what it was, else return ""."""
    name = was.partition(" ")[2]
    known = {"name": json.loads(name) if name else "", "row": row}
    if not any(known.values()):
        return ""
    return str(await element.evaluate(_OTHER, known, timeout=_CHECKED_WITHIN_MS))
