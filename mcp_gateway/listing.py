"""Which tools a chat is shown, how it gets more, and how replies name those that it is not shown."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from shared import catalogue, toolsets
from shared.actions.help import CallTool, Help
from shared.model import Json

if TYPE_CHECKING:
    from client.reply import Reply
    from mcp_gateway.stdio import Message

_MENTION: Final = re.compile(rf"(?<![\w\"'])({'|'.join(sorted(catalogue.NAMES, key=len, reverse=True))}) (?=\{{)")
"""Where a text advises a call: the name of a tool, and the JSON of its arguments."""
_LONGEST: Final = 2_000
"""Characters of arguments that are looked through for their end."""
_MOST: Final = 50
"""Calls that a text advises at most: it may quote a page."""
_LOOKED_THROUGH: Final = 100_000
"""Characters of a text that are looked through for calls: our own words are never so long."""
_OURS: Final = ("observed", "undo", "help")
"""The keys of results whose texts are the product's own words, and not a page's."""


def known(chosen: Collection[str]) -> frozenset[str]:
    """Those that are toolsets; `core` where none is."""
    return frozenset(toolsets.names(catalogue.ACTIONS.values())).intersection(chosen) or frozenset({"core"})


@lru_cache(maxsize=64)
def messages(chosen: frozenset[str]) -> "tuple[Message, ...]":
    """The tools of some toolsets as the protocol spells them. `call_tool` is among them, for replies name the way
    through it; not where only the seven are listed, which are a list that is documented as it is."""
    besides = {CallTool.name()} if chosen != {toolsets.APART} else set[str]()
    return tuple(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.schema,
            "annotations": tool.annotations,
        }
        for tool in catalogue.tools(chosen, besides=besides)
    )


class Listing:
    """The tools of one chat: those of the settings' toolsets, and of those that it has asked for since."""

    def __init__(self, chosen: Collection[str]) -> None:
        self.toolsets = self._shown = known(chosen)
        """The first is what the list has when it is read again, the other what it had when it was read last."""

    def add(self, toolset: str) -> bool:
        """Whether the list is longer by it."""
        before = _names(self.toolsets)
        self.toolsets |= frozenset({toolset}).intersection(toolsets.names(catalogue.ACTIONS.values()))
        return _names(self.toolsets) != before

    def read(self, chosen: frozenset[str]) -> None:
        """The host has read the list with these toolsets."""
        self._shown = chosen

    def spelled(self, text: str) -> str:
        """The same, with each call in it of a tool that the host does not know made one of `call_tool`."""
        names, made, at = _names(self._shown), list[str](), 0
        for found in islice(_MENTION.finditer(text, 0, _LOOKED_THROUGH), _MOST):
            end = _end(text, found.end())
            if found[1] in names or CallTool.name() not in names or found.start() < at or end is None:
                continue
            made += [text[at : found.start()], f'{CallTool.name()} {{"name": "{found[1]}", "arguments": ']
            made += [text[found.end() : end], "}"]
            at = end
        return "".join([*made, text[at:]])

    def within_reach(self, reply: "Reply") -> "Reply":
        """A reply that advises no tool in a way in which this chat cannot call it."""
        if reply.error is not None:
            message, hint = self.spelled(reply.error.message), reply.error.hint
            reply.error.message, reply.error.hint = message, self.spelled(hint) if hint else hint
        for notice in reply.notices:
            notice.text = self.spelled(notice.text)
        done = _dicts(reply.error.context.get("done")) if reply.error is not None else []
        for part in (reply.result, *_dicts(reply.result.get("steps")), *done):
            part |= {key: self.spelled(text) for key in _OURS if isinstance(text := part.get(key), str)}
        return reply

    def grow(self, tool: str, reply: "Reply") -> bool:
        """Add the toolsets that the chat asked `help` for, and say so. Whether its list has changed."""
        asked = [(tool, reply.result), *((str(step.get("action")), step) for step in _dicts(reply.result.get("steps")))]
        changed = False
        for name, result in asked:
            if name == Help.name() and isinstance(toolset := result.get("toolset"), str):
                new = self.add(toolset)
                changed |= new
                said = "They are in your list of tools now." if new else "Your list of tools had them already."
                result["help"] = f"{result.get('help', '')}\n{said}"
        return changed


@lru_cache(maxsize=64)
def _names(chosen: frozenset[str]) -> frozenset[str]:
    return frozenset(str(tool["name"]) for tool in messages(chosen))


def _dicts(steps: JsonValue) -> list[Json]:
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def _end(text: str, at: int) -> int | None:
    """Where the object that begins at `at` ends: of JSON, and of what stands for it, such as `{...}`."""
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
