"""What a chat's host can read beside the tools: each is what one action answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from pydantic import JsonValue


class Resource(NamedTuple):
    uri: str
    name: str
    title: str
    description: str
    action: str
    arguments: Mapping[str, JsonValue] = MappingProxyType({})
    mime_type: str = "text/plain"


RESOURCES: Final = (
    Resource(
        "browse://activity",
        "activity",
        "Activity",
        "Who did what in the shared browser, newest first.",
        "get_activity",
        MappingProxyType({"limit": 100}),
    ),
    Resource(
        "browse://pages",
        "pages",
        "Pages",
        "The open pages in three parts: yours, people's, and other agents'.",
        "list_pages",
        mime_type="application/json",
    ),
)
