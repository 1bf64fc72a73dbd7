"""Names that are like one that is none."""

import difflib
from collections.abc import Iterable
from typing import Final

_LONGEST: Final = 100


def nearest(name: str, names: Iterable[str], *, most: int = 1, alike: float = 0.5) -> list[str]:
    """Return the names that are most like one that is none, the nearest first; `alike` is 1 for the same.

    Of a long name the start is compared, since comparing takes the square of its length.
    """
    return difflib.get_close_matches(name[:_LONGEST], [*names], most, alike)
