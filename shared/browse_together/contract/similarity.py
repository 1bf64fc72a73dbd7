"""Finds names that are similar to an unknown one."""

import difflib
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 100


def nearest(name: str, names: Iterable[str], *, most: int = 1, similarity: float = 0.5) -> list[str]:
    """Return the names most similar to an unknown one, the nearest first. A `similarity` of 1 means equality. Only the
    start of a long name is compared, because the time grows with the square of its length."""
    return difflib.get_close_matches(name[:_LONGEST], [*names], most, similarity)
