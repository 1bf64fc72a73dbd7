"""Checks by name and row whether an element is still the one that its ref was given for."""

import asyncio
import json
from collections import Counter
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout
from pydantic import FiniteFloat
from typing_extensions import TypedDict

from browse_together.contract.quoting import element_name
from browser_service.host import world
from browser_service.host.reading.tree import CONTROLS, Tree, ancestors, descendants, first_words
from browser_service.host.scripts import results, script

_ROW_ROLES: Final = frozenset({"row", "listitem", "article", "option", "treeitem"})
_REPEATED_ROLES: Final = CONTROLS - {"link"}
"""Roles whose elements have the same name in every row."""
_LEAST_ALIKE: Final = 3
_MOST_LEVELS: Final = 6
_BESIDE: Final = 5
_CHECK_S: Final = 1.0
_MOST_WITHIN: Final = 200
"""The most elements of a row that are searched for its first words."""

_NO_FRAME: Final = "Invalid frame in aria-ref selector"
_REF_CHECK: Final = results.bounded(script("ref_check"))


class Found(TypedDict):
    """The result of _REF_CHECK."""

    began: FiniteFloat
    """The start of the element's document, which identifies the document."""
    now: str
    """The element's role and name if it is another one now, else empty."""


def rows(nodes: Tree, refs: set[str]) -> dict[str, str]:
    """Return, by ref, what identifies the row of each element: the first text in the row. For a row without a role it
    is the words that the rows beside it lack, each after a line break."""
    around = _rows_around(nodes, {index for index, node in enumerate(nodes) if node.role in _ROW_ROLES})
    alike = _alike(nodes, around)
    around = _rows_around(nodes, {*around, *alike} - {None}) if alike else around
    asked = {row for row, node in zip(around, nodes, strict=True) if row is not None and node.ref in refs}
    beside = {row: _beside(row, alike[row]) for row in asked if row in alike}
    texts = {row: _label(nodes, row) for row in {*asked, *chain(*beside.values())}}
    labels = {row: _own_words(texts, row, beside[row]) if row in beside else texts[row] for row in asked}
    innermost = _rows_around(nodes, asked)
    return {node.ref: labels[row] for row, node in zip(innermost, nodes, strict=True) if row is not None and node.ref}


def _rows_around(nodes: Tree, are_rows: AbstractSet[int | None]) -> list[int | None]:
    """Return for each element the row that it is, or the innermost row around it."""
    found: list[int | None] = []
    for index, node in enumerate(nodes):
        outer = found[node.parent] if node.parent is not None else None
        found.append(index if index in are_rows else outer)
    return found


def _alike(nodes: Tree, around: list[int | None]) -> dict[int, dict[int, int]]:
    """Return rows without a role, each with its group in order. A group has three or more members under one parent that
    each contain, or are, a control of the same role and name."""
    controls = [(index, (node.role, node.name)) for index, node in enumerate(nodes) if node.is_control]
    free = [(index, kind) for index, kind in controls if around[index] is None]
    counts = Counter(kind for _, kind in free)
    found: dict[tuple[int, tuple[str, str]], dict[int, int]] = {}
    for index, kind in free:
        if counts[kind] >= _LEAST_ALIKE:
            row = index
            for parent in islice(ancestors(nodes, index), _MOST_LEVELS):
                group = found.setdefault((parent, kind), {})
                group.setdefault(row, len(group))
                row = parent
    return {row: group for group in found.values() if len(group) >= _LEAST_ALIKE for row in group}


def _beside(row: int, group: dict[int, int]) -> list[int]:
    first = max(0, group[row] - _BESIDE)
    return [*islice(group, first, first + 2 * _BESIDE + 1)]


def _own_words(texts: dict[int, str], row: int, beside: list[int]) -> str:
    others = {word for each in beside if each != row for word in texts[each].split()}
    return "".join(f"\n{word}" for word in texts[row].split() if word not in others)


def is_same_row(nodes: Tree, ref: str, row: str) -> bool:
    """Return whether an element is still in the same row. For a row without a role, one common word is enough."""
    now = rows(nodes, {ref}).get(ref, "")
    return now == row or (row.startswith("\n") and not {*now.split()}.isdisjoint(row.split()))


def _label(nodes: Tree, row: int) -> str:
    members = chain((nodes[row],), islice(descendants(nodes, row), _MOST_WITHIN))
    return first_words(node for node in members if node.role not in _REPEATED_ROLES)


def expected(role_and_name: str, row: str) -> dict[str, str]:
    """Return the name and row that scripts expect of an element."""
    name = role_and_name.partition(" ")[2]
    return {"name": json.loads(name) if name else "", "row": row}


async def look(page: Page, ref: str, role_and_name: str, row: str) -> Found | None:
    """Compare the element of a ref with what it was; return None if it is gone."""
    try:
        async with asyncio.timeout(_CHECK_S):
            element = await world.keep(page.locator(f"aria-ref={ref}"))
            if element is None:
                return None
            answer = await world.evaluate(element, _REF_CHECK, expected(role_and_name, row))
    except TimeoutError:
        raise PlaywrightTimeout(f"The page did not say within {_CHECK_S:.0f} s what {ref} is.") from None
    except PlaywrightError as error:
        if _NO_FRAME not in str(error):
            raise
        return None
    found = results.read(Found, answer)
    return {**found, "now": element_name(found["now"]) if found["now"] else ""}
