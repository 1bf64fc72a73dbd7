"""Checks that an element is still what its ref was given for, by its name and by its row."""

import asyncio
import json
from itertools import chain, islice
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout
from pydantic import FiniteFloat
from typing_extensions import TypedDict

from browser_service.host import results
from browser_service.host.elements.locators import GONE
from browser_service.host.reading.tree import CONTROLS, Tree, descendants, first_words
from browser_service.host.scripts import script
from shared.quoting import element_name

_ROW_ROLES: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})
_REPEATED_ROLES: Final = CONTROLS - {"link"}
"""Elements of these roles have the same name in every row."""
_CHECK_S: Final = 1.0
_MOST_WITHIN: Final = 200
"""Bounds the elements of a row that are searched for its first words."""

_REF_CHECK: Final = results.bounded(script("ref_check"))


class Found(TypedDict):
    """Is what _REF_CHECK gives."""

    began: FiniteFloat
    """Tells the element's document from others."""
    now: str
    """Says what the element is, if it is another one."""


def rows(nodes: Tree, refs: set[str]) -> dict[str, str]:
    """Return the words that tell these elements' rows from others: the first words in each."""
    around = _rows_around(nodes, [node.role in _ROW_ROLES for node in nodes])
    asked = {row for row, node in zip(around, nodes, strict=True) if row is not None and node.ref in refs}
    labels = {row: _label(nodes, row) for row in asked}
    innermost = _rows_around(nodes, [index in asked for index in range(len(nodes))])
    return {node.ref: labels[row] for row, node in zip(innermost, nodes, strict=True) if row is not None and node.ref}


def _rows_around(nodes: Tree, is_row: list[bool]) -> list[int | None]:
    """Return for each element the innermost row that it is, or is in."""
    found: list[int | None] = []
    for index, node in enumerate(nodes):
        outer = found[node.parent] if node.parent is not None else None
        found.append(index if is_row[index] else outer)
    return found


def _label(nodes: Tree, row: int) -> str:
    members = chain((nodes[row],), islice(descendants(nodes, row), _MOST_WITHIN))
    return first_words(node for node in members if node.role not in _REPEATED_ROLES)


def expected(role_and_name: str, row: str) -> dict[str, str]:
    """Return for scripts what an element is to be called, and in which row."""
    name = role_and_name.partition(" ")[2]
    return {"name": json.loads(name) if name else "", "row": row}


async def look(page: Page, ref: str, role_and_name: str, row: str) -> Found | None:
    """Compare the element of a ref with what it was; None if it is gone."""
    try:
        async with asyncio.timeout(_CHECK_S):
            answer = await page.eval_on_selector(f"aria-ref={ref}", _REF_CHECK, expected(role_and_name, row))
    except TimeoutError:
        raise PlaywrightTimeout(f"The page did not say within {_CHECK_S:.0f} s what {ref} is.") from None
    except PlaywrightError as error:
        if not any(words in str(error) for words in GONE):
            raise
        return None
    found = results.read(Found, answer)
    return {**found, "now": element_name(found["now"]) if found["now"] else ""}
