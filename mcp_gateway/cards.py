"""Offers clients that show cards (MCP Apps) a card of the page: its picture, what happens there, and Stop.

The card is as untrusted as the model: whatever the card may call, the model could call. So its calls only read what the
chat may read, or stop the chat itself. People take pages over, and give them back, at the wall, to which the card
links. Clients that show no cards get nothing of this. The module imports little, because the list of tools is sent
before the SDK is loaded.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from browse_together import contract

EXTENSION: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"
URI: Final = "ui://browse-together/page.html"
PAGE_META: Final = "browse-together/pageId"
"""The key of a result's page in its `_meta`, which models do not see."""
PAGE_CARD: Final = "page_card"
STOP: Final = "stop_page"
OF_CARD: Final = frozenset({PAGE_CARD, STOP})
SHOWN_BY: Final = frozenset({"goto", "open_page", "screenshot", "claim_page", "request_human"})
"""Tools whose results come with a card: they open, show or take a page, or leave it to a person. A card with every
click would bury the chat."""
_FILE: Final = Path(__file__).with_name("card.html")
_ACTS: Final = Path(contract.__file__).with_name("acts.js")
_UI: Final = {"ui": {"resourceUri": URI}}
_FOR_APP: Final = {"ui": {"visibility": ["app"]}}
_PAGE_ID: Final[dict[str, object]] = {"type": "string", "description": "The page."}
_ON_PAGE: Final[dict[str, object]] = {"properties": {"pageId": _PAGE_ID}, "required": ["pageId"], "type": "object"}
_AFTER: Final[dict[str, object]] = {"type": "integer", "description": "Leave the picture out if it is no newer."}
_TOOLS: Final[tuple[dict[str, object], ...]] = (
    {
        "_meta": _FOR_APP,
        "annotations": {"readOnlyHint": True},
        "description": "For the page's card: what the page looks like now, and what is done there.",
        "inputSchema": {**_ON_PAGE, "properties": {"pageId": _PAGE_ID, "after": _AFTER}},
        "name": PAGE_CARD,
    },
    {
        "_meta": _FOR_APP,
        "annotations": {"destructiveHint": False, "openWorldHint": False},
        "description": "For the page's card: cancel what this chat does on the page, and leave it to a person.",
        "inputSchema": _ON_PAGE,
        "name": STOP,
    },
)
"""Their keys are in the order in which the SDK sends them."""


def shows_cards(capabilities: object) -> bool:
    """Return whether a client with these capabilities shows cards."""
    extensions = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
    said = extensions.get(EXTENSION) if isinstance(extensions, Mapping) else None
    mime_types = said.get("mimeTypes") if isinstance(said, Mapping) else None
    return isinstance(mime_types, list) and MIME_TYPE in mime_types


def with_cards(tools: Iterable[Mapping[str, object]]) -> tuple[dict[str, object], ...]:
    """Return a client's list of tools, with cards."""
    return (*({"_meta": _UI, **tool} if tool["name"] in SHOWN_BY else {**tool} for tool in tools), *_TOOLS)


def contents() -> dict[str, object]:
    """Return the card. It loads nothing from any network."""
    meta = {"ui": {"csp": {}, "prefersBorder": True}}
    acts = _ACTS.read_text(encoding="utf-8").replace("export ", "")
    text = _FILE.read_text(encoding="utf-8").replace("{{acts}}", acts)
    return {"uri": URI, "mimeType": MIME_TYPE, "text": text, "_meta": meta}
