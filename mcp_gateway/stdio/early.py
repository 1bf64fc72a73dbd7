"""Gives the first replies of a connection while the SDK is still being imported, which takes half a second.

They are the SDK's own (a test compares). It gets the same messages later, and its replies to them are dropped.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from mcp_gateway import jsonrpc
from mcp_gateway.cards import shows_cards, with_cards
from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio.descriptors import Descriptors
from shared.instructions import INSTRUCTIONS
from shared.wire import APP_NAME, VERSION

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

Receiver = Callable[[Message | None], None]


class EarlyServer:
    """Answers what it can until `hand_over`. Messages come from a thread that reads for the life of the process
    (`begin`), or from who else reads them."""

    def __init__(
        self, descriptors: Descriptors, on_end: Callable[[], None], instructions: str | None = INSTRUCTIONS
    ) -> None:
        self.descriptors = descriptors
        self.on_end = on_end
        self.answered: set[object] = set()
        self._lock = threading.Lock()
        self._backlog: list[Message | None] = []
        self._instructions = instructions
        """None if they depend on settings that are read later."""
        self._receiver: Receiver | None = None
        self._tools: Sequence[Message] | None = None
        self._has_request = self._has_initialized = self._shows_cards = False
        self.prefix = self.client_id = ""
        self.toolsets: dict[str, list[str]] = {}
        """Are set, as the two before, if the chat comes from another process; `Relay`, `Gateway` and `Chats` take
        them."""

    def begin(self) -> None:
        """Read messages from now on."""
        threading.Thread(target=self._read, daemon=True).start()

    def resume(self, messages: Sequence[Message], answered: Iterable[object]) -> None:
        """Have these messages, in place of those so far, handed over; the requests that were answered are told by
        their ids."""
        self._backlog, self.answered = [*messages], {*answered}

    def offer(self, tools: Sequence[Message], instructions: str = INSTRUCTIONS) -> None:
        """Answer `initialize` and `tools/list` with these from now on, and the requests that wait for them."""
        with self._lock:
            self._tools, self._instructions = tools, instructions
            self._has_request = False  # the backlog is gone through again, from its first request
            for message in self._backlog:
                self._answer(message)

    def hand_over(self, receiver: Receiver) -> None:
        """Give `receiver` every message so far, and each one to come; None is the end."""
        with self._lock:
            for message in self._backlog:
                receiver(message)
            self._receiver = receiver

    def _read(self) -> None:
        try:
            for message in self.descriptors.messages():
                self.receive(message)
        finally:
            self.on_end()
            self.receive(None)

    def receive(self, message: Message | None) -> None:
        """Take a message; None is the end."""
        with self._lock:
            if self._receiver:
                self._receiver(message)
                return
            self._backlog.append(message)
            self._answer(message)

    def _answer(self, message: Message | None) -> None:
        if not message or "id" not in message or "method" not in message:
            return
        if message["id"] not in self.answered and (result := self._result(message)) is not None:
            self.answered.add(message["id"])
            self.descriptors.write(jsonrpc.response(message["id"], result=result))
        self._has_request = True

    def _result(self, message: Message) -> Message | None:
        """Return the result of a request whose answer is beyond doubt. All others, and those of the era without a
        handshake, wait for the SDK."""
        match message:
            case {"method": "initialize", "params": {"protocolVersion": str(version), **rest}} if not self._has_request:
                if not _is_plain(rest) or self._instructions is None:
                    return None
                self._has_initialized, self._shows_cards = True, shows_cards(rest["capabilities"])
                return _initialize_result(version, self._instructions)
            case {"method": "ping", **rest} if not rest.get("params"):
                return {} if self._has_initialized or not self._has_request else None
            case {"method": "tools/list", **rest} if not rest.get("params") and self._has_initialized and self._tools:
                return {"tools": with_cards(self._tools) if self._shows_cards else self._tools}
        return None


def _is_plain(params: dict[object, object]) -> bool:
    match params:
        case {"capabilities": dict(capabilities), "clientInfo": {"name": str(), "version": str()}, **rest}:
            return not rest and all(isinstance(value, dict) for value in capabilities.values())
    return False


def _initialize_result(version: str, instructions: str) -> Message:
    return {
        "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {
            "completions": {},
            "prompts": {"listChanged": False},
            "resources": {"subscribe": True, "listChanged": False},
            "tools": {"listChanged": True},
        },
        "serverInfo": {"name": APP_NAME, "version": VERSION},
        "instructions": instructions,
    }
