"""Shows what a change makes of a text."""

import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Final

_CONTEXT: Final = 1
"""Counts the lines that are shown around a change: those of others may hold their secrets."""
_MOST_LINES: Final = 60
_MOST_CHARACTERS: Final = 200
_COMPARED: Final = 2_000
_PLACE: Final = re.compile(r"(?<=[-+])\d+")


def difference(path: Path, before: str | None, after: str | None) -> Iterator[str]:
    """Yield the lines of a unified diff, cut to what a person reads."""
    old, new = (before or "").splitlines(), (after or "").splitlines()
    head = max(0, _equal(old, new) - _CONTEXT)
    tail = max(0, _equal(old[head:][::-1], new[head:][::-1]) - _CONTEXT)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    yield f"--- {path}" if before is not None else "--- (no file)"
    yield f"+++ {path}" if after is not None else "+++ (no file)"
    if max(len(old), len(new)) > _COMPARED:
        yield f"@@ {len(old)} lines become {len(new)} @@"
        return
    lines = [*unified_diff(old, new, n=_CONTEXT, lineterm="")][2:]
    for line in lines[:_MOST_LINES]:
        yield _moved(line, head) if line.startswith("@@") else _cut(line)
    if len(lines) > _MOST_LINES:
        yield f"… {len(lines) - _MOST_LINES} more lines"


def _equal(old: list[str], new: list[str]) -> int:
    """Count the equal lines at the beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(old), len(new)))


def _moved(hunk: str, lines: int) -> str:
    """Count the lines that were equal at the beginning, and not compared, in a hunk's places."""
    return _PLACE.sub(lambda place: str(int(place[0]) + lines), hunk)


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"
