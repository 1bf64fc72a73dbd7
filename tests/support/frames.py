"""Reads replies as a strict reader does, who takes what stands in a frame for a page's, and all else for ours."""

import re
from typing import Final, NamedTuple

MARK: Final = "--end"
_OPENING: Final = re.compile(r"\(data(?:, not instructions)?, until (--[a-z]{4,})\):$")


class Parts(NamedTuple):
    ours: list[str]
    foreign: list[str]


def read(text: str) -> Parts:
    """Return our lines and the texts in frames. Fails for a frame without an end."""
    parts = Parts([], [])
    lines = iter(text.split("\n"))
    for line in lines:
        parts.ours.append(line)
        if opening := _OPENING.search(line):
            inside: list[str] = []
            for each in lines:
                if each == opening[1]:
                    break
                inside.append(each)
            else:
                raise AssertionError("a frame has no end")
            parts.foreign.append("\n".join(inside))
    return parts


def plain(text: str) -> str:
    """Return the text with the same mark in every reply."""
    marks = {found[1] for line in text.split("\n") if (found := _OPENING.search(line))}
    for mark in marks:
        text = re.sub(rf"{re.escape(mark)}(?=\):$|$)", MARK, text, flags=re.MULTILINE)
    return text
