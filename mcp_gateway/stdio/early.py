"""The first replies of a chat, while the SDK is still being imported, which takes half a second.

They are the SDK's own replies, byte for byte (a test compares them). The SDK gets the same messages later, and its
replies to them are dropped.
"""

from collections.abc import Callable, Sequence
from typing import Final

from browse_together.contract.wire import APP_NAME, VERSION
from mcp_gateway.cards import shows_cards, with_cards
from mcp_gateway.jsonrpc import Message

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


class EarlyReplies:
    """The results of requests whose answer is certain."""

    def __init__(self, instructions: str | None, tools: Callable[[], Sequence[Message] | None]) -> None:
        """Both are None, or return None, while they depend on settings that are not read yet."""
        self.instructions, self.tools = instructions, tools
        self._first: Message | None = None
        self._has_initialized = self._shows_cards = False

    def result(self, message: Message) -> Message | None:
        """Return a request's result. All other requests, and those of protocol revisions without a handshake, wait for
        the SDK."""
        if "id" not in message or "method" not in message:
            return None
        self._first = message if self._first is None else self._first
        is_first = message is self._first
        match message:
            case {"method": "initialize", "params": {"protocolVersion": str(version), **rest}} if is_first:
                if not _is_plain(rest) or self.instructions is None:
                    return None
                self._has_initialized, self._shows_cards = True, shows_cards(rest["capabilities"])
                return _initialize_result(version, self.instructions)
            case {"method": "ping", **rest} if not rest.get("params"):
                return {} if self._has_initialized or is_first else None
            case {"method": "tools/list", **rest} if not rest.get("params") and self._has_initialized:
                if tools := self.tools():
                    return {"tools": with_cards(tools) if self._shows_cards else tools}
        return None


def _is_plain(params: dict[object, object]) -> bool:
    match params:
        case {"capabilities": dict(capabilities), "clientInfo": {"name": str(), "version": str()}, **rest}:
            return not rest and all(isinstance(value, dict) for value in capabilities.values())
    return False


def _initialize_result(version: str, instructions: str) -> Message:
    return {
        "capabilities": {
            "completions": {},
            "prompts": {"listChanged": False},
            "resources": {"listChanged": False, "subscribe": True},
            "tools": {"listChanged": True},
        },
        "instructions": instructions,
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "serverInfo": {"name": APP_NAME, "version": VERSION},
    }
