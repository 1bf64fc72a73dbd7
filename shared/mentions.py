"""Rewrites calls that our texts mention, such as `undo {}`, so that their reader can make them."""

import re
from collections.abc import Collection
from itertools import islice
from typing import Final

from shared import catalogue
from shared.actions.help import CallTool

_MENTION: Final = re.compile(rf"(?<![\w\"'])({'|'.join(sorted(catalogue.NAMES, key=len, reverse=True))}) (?=\{{)")
"""Matches the name of a tool before the JSON of its arguments."""
_LONGEST: Final = 2_000
"""Bounds the characters of arguments that are searched for their end."""
_MOST: Final = 50
"""Bounds the calls that are rewritten in a text, which may quote a page."""
_LOOKED_THROUGH: Final = 100_000
"""Bounds the characters of a text that are searched for calls; our own words are never so long."""


def respelled_calls(text: str, listed: Collection[str]) -> str:
    """Return the text with each call of a tool that is not listed made a call of `call_tool`, if that is listed."""
    if CallTool.name() not in listed:
        return text
    made, at = list[str](), 0
    for found in islice(_MENTION.finditer(text, 0, _LOOKED_THROUGH), _MOST):
        end = _end(text, found.end())
        if found[1] in listed or found.start() < at or end is None:
            continue
        made += [text[at : found.start()], f'{CallTool.name()} {{"name": "{found[1]}", "arguments": ']
        made += [text[found.end() : end], "}"]
        at = end
    return "".join([*made, text[at:]])


def _end(text: str, at: int) -> int | None:
    """Return where the object ends that begins at `at`; it is JSON, or stands for it, such as `{...}`."""
    depth, quoted, escaped = 0, False, False
    for place in range(at, min(len(text), at + _LONGEST)):
        character = text[place]
        if quoted:
            quoted, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character in "{}":
            depth += 1 if character == "{" else -1
            if depth == 0:
                return place + 1
    return None
