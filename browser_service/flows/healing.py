"""Finds what has become of a step's element that its selectors do not find any more."""

import re
from collections.abc import Awaitable, Callable
from typing import Final

from browse_together.contract import flows
from browse_together.contract.errors import BrowseError
from browse_together.contract.flow_places import is_numbered, is_place
from browse_together.contract.model import Json
from browse_together.contract.quoting import quoted

ROLE: Final = re.compile(r'role=([a-z]+)\[name=("(?:[^"\\]|\\.)*")\]$')
_COUNTED: Final = ":nth-last-of-type("
"""What a place has that counts the elements after it as well: there are as many as when it was taught."""
Find = Callable[[Json], Awaitable[list[Json]]]
"""Returns what `find` finds. Raises its error."""


class Meant:
    """The element that a step means, by its role and name when it was taught."""

    def __init__(self, selectors: list[str], find: Find) -> None:
        found = next(filter(None, map(ROLE.search, selectors)), None)
        self._role, self._name = (found[1], flows.unquoted(found[2][1:-1])) if found else ("", "")
        self._selectors, self._find = selectors, find

    async def nearest(self) -> list[Json]:
        """Return the elements whose role and name are like it; if there are none, those of its role."""
        for query in ({"role": self._role, "name": self._name}, {"role": self._role}) if self._role else ():
            try:
                matches = await self._find({**query})
            except BrowseError:
                return []
            if matches:
                return matches
        return []

    async def healed(self, near: list[Json]) -> tuple[str, str]:
        """Return the ref of the element to take, and why: the only one with its role and name, or else the one in its
        place with its role, whose label was renamed. Both are empty if there is none."""
        same = [each for each in near if (each.get("role"), each.get("name")) == (self._role, self._name)]
        if len(same) == 1 and same[0].get("ref"):
            return str(same[0]["ref"]), f"took the only {_words(same[0])}"
        there = None if same else await self._in_its_place()
        return (str(there["ref"]), f"took {_words(there)} in the place of {quoted(self._name)}") if there else ("", "")

    async def _in_its_place(self) -> Json | None:
        """Return the element in the place of one that its role and name alone told apart. A number counts only with
        that of the elements after it: else another may have moved up."""
        named = [each for each in self._selectors if not is_place(each)]
        is_alone = self._role and not any(" >> " in each or each.startswith("xpath=") for each in named)
        places = [each for each in self._selectors if is_place(each) and (_COUNTED in each or not is_numbered(each))]
        if not (is_alone and places):
            return None
        try:
            found = await self._find({"selector": places[0]})
        except BrowseError:
            return None
        is_alike = len(found) == 1 and found[0].get("role") == self._role and found[0].get("name")
        return found[0] if is_alike and found[0].get("ref") else None


def _words(found: Json) -> str:
    return f"{found['role']} {quoted(str(found['name']))}"
