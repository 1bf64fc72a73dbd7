"""Lists the tools of the toolsets shown to a chat or a script."""

from functools import lru_cache
from typing import Final

from browse_together.contract import toolsets, written
from browse_together.contract.catalogue import ACTIONS
from browse_together.contract.json_lines.messages import Tool
from browse_together.contract.limits import UNLIMITED, Limits
from browse_together.contract.schema import Schema
from mcp_gateway.jsonrpc import Message

_OUTPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "description": "What the tool gives, and beside it the page as it is now, and what happened to your pages.",
    "properties": {
        "page": {
            "type": "object",
            "properties": {
                "pageId": {"type": "string"},
                "sessionId": {"type": "string"},
                "url": {"type": "string"},
                "title": {"type": "string"},
                "revision": {"type": "integer"},
            },
        },
        "notices": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": {"type": "string"}, "pageId": {"type": "string"}}},
        },
    },
}


@lru_cache(maxsize=64)
def listed_tools(names: frozenset[str], limits: Limits = UNLIMITED) -> tuple[Message, ...]:
    """Return the tools of these toolsets that a token allows, in the protocol's form."""
    listed = written.tools(names | frozenset(limits.toolsets))
    return listed if limits == UNLIMITED else tuple(tool for tool in listed if limits.lists(ACTIONS[str(tool["name"])]))


def announced_tools(names: frozenset[str], limits: Limits = UNLIMITED) -> list[Tool]:
    """Return the tools of these toolsets that a token allows, in the form of JSON lines."""
    return [
        Tool(tool.name, tool.description, {**tool.schema, "required": tool.schema.get("required", [])}, _OUTPUT_SCHEMA)
        for tool in _allowed(names, limits)
    ]


def _allowed(names: frozenset[str], limits: Limits) -> list[toolsets.Tool]:
    """Return the tools of these toolsets, and of those that the token names, as far as the token allows them."""
    wanted = names | frozenset(limits.toolsets)
    tools = toolsets.tools(wanted, extra=toolsets.listed_names(wanted))
    return [tool for tool in tools if limits.lists(ACTIONS[tool.name])]
