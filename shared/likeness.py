"""Finds names that are similar to an unknown one."""

import difflib
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 100


def nearest(name: str, names: Iterable[str], *, most: int = 1, alike: float = 0.5) -> list[str]:
    """Return the names that are most like an unknown one, the nearest first. `alike` is from 0 to 1, for the same.

    Only the start of a long name is compared, because comparing takes the square of its length."""
    return difflib.get_close_matches(name[:_LONGEST], [*names], most, alike)
