"""Rewrites calls that our texts mention, such as `undo {}`, so that their reader can make them."""

import re
from collections.abc import Collection
from itertools import islice
from typing import Final

from shared import catalogue
from shared.actions.help import CallTool

_MENTION: Final = re.compile(rf"(?<![\w\"'])({'|'.join(sorted(catalogue.NAMES, key=len, reverse=True))}) (?=\{{)")
"""Matches the name of a tool before the JSON of its arguments."""
_ARGUMENT_CHARACTERS: Final = 2_000
"""Bounds the characters of arguments that are searched for their end."""
_MOST_CALLS: Final = 50
"""Bounds the calls that are rewritten in a text, which may quote a page."""
_SEARCHED_CHARACTERS: Final = 100_000
"""Bounds the characters of a text that are searched for calls; our own words are never so long."""


def respelled_calls(text: str, listed: Collection[str]) -> str:
    """Return the text with every call of an unlisted tool rewritten as a call of `call_tool`, if that one is listed."""
    if CallTool.name() not in listed:
        return text
    pieces, start = list[str](), 0
    for match in islice(_MENTION.finditer(text, 0, _SEARCHED_CHARACTERS), _MOST_CALLS):
        end = _end(text, match.end())
        if match[1] in listed or match.start() < start or end is None:
            continue
        pieces += [text[start : match.start()], f'{CallTool.name()} {{"name": "{match[1]}", "arguments": ']
        pieces += [text[match.end() : end], "}"]
        start = end
    return "".join([*pieces, text[start:]])


def _end(text: str, start: int) -> int | None:
    """Return where the object ends that begins at `start`. It is JSON, or stands for JSON, such as `{...}`."""
    depth, quoted, escaped = 0, False, False
    for place in range(start, min(len(text), start + _ARGUMENT_CHARACTERS)):
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
