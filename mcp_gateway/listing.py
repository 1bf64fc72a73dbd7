"""A chat is shown a list of tools, which grows as it asks for more."""

from collections.abc import Collection
from functools import lru_cache

from mcp_gateway.stdio import Message
from shared import toolsets


def known(chosen: Collection[str]) -> frozenset[str]:
    """Return those that are toolsets; `core` where none is."""
    return frozenset(toolsets.NAMES).intersection(chosen) or frozenset({"core"})


@lru_cache(maxsize=64)
def messages(chosen: frozenset[str]) -> tuple[Message, ...]:
    """Return the tools of some toolsets as the protocol spells them."""
    return tuple(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.schema,
            "annotations": tool.annotations,
        }
        for tool in toolsets.tools(chosen, extra=toolsets.listed_names(chosen))
    )


class Listing:
    """One chat's list has the tools of the settings' toolsets, and of those that it has asked for since."""

    def __init__(self, chosen: Collection[str]) -> None:
        self.toolsets = self.read_last = known(chosen)
        """The first is what the list has when it is read again, the other what it had when it was read last."""

    def add(self, chosen: Collection[str]) -> bool:
        """Add toolsets. Returns whether the list is longer by them."""
        before = toolsets.listed_names(self.toolsets)
        self.toolsets |= frozenset(chosen).intersection(toolsets.NAMES)
        return toolsets.listed_names(self.toolsets) != before

    def read(self, chosen: frozenset[str]) -> None:
        """Take in that the host has read the list with these toolsets."""
        self.read_last = chosen
