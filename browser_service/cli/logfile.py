"""Reads the log of a detached service."""

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_POLL_S: Final = 0.2


def read(log: Path, last: int, *, follow: bool = False) -> Iterator[str]:
    """Yield the last lines; with `follow`, also each new one, until interrupted."""
    with log.open(encoding="utf-8", errors="replace") as file:
        for line in deque(file, maxlen=last):
            yield line.rstrip("\n")
        unfinished = ""
        while follow:
            unfinished += file.readline()
            if unfinished.endswith("\n"):
                yield unfinished.rstrip("\n")
                unfinished = ""
            else:
                time.sleep(_POLL_S)  # the standard library has no event for a file that grows
