"""The first replies of a connection, given while the SDK is still being imported, which takes half a second.

They are the SDK's own (a test compares); it is fed the same messages later, and its answers to them are dropped.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from mcp_gateway.stdio import Message, Stdio
from shared.instructions import INSTRUCTIONS
from shared.wire import APP_NAME, VERSION

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

Sink = Callable[[Message | None], None]


class Front:
    """Reads for the life of the process: answers what it can, until `hand_over` names who takes all."""

    def __init__(self, stdio: Stdio, at_end: Callable[[], None], instructions: str | None = INSTRUCTIONS) -> None:
        self.stdio = stdio
        self.at_end = at_end
        self.answered: set[object] = set()
        self._lock = threading.Lock()
        self._backlog: list[Message | None] = []
        self._instructions = instructions
        """None: they depend on settings that are read later."""
        self._sink: Sink | None = None
        self._tools: Sequence[Message] | None = None
        self._opened = self._shaken = False
        threading.Thread(target=self._read, daemon=True).start()

    def show(self, tools: Sequence[Message], instructions: str = INSTRUCTIONS) -> None:
        """Answer `initialize` and `tools/list` from now on, and those that came before."""
        with self._lock:
            self._tools, self._instructions = tools, instructions
            self._opened = False  # what came is looked at again, from the first on
            for message in self._backlog:
                self._look(message)

    def hand_over(self, sink: Sink) -> None:
        """Give `sink` every message so far, and each one to come; None is the end."""
        with self._lock:
            for message in self._backlog:
                sink(message)
            self._sink = sink

    def _read(self) -> None:
        try:
            for message in self.stdio.messages():
                self._receive(message)
        finally:
            self.at_end()
            self._receive(None)

    def _receive(self, message: Message | None) -> None:
        with self._lock:
            if self._sink:
                self._sink(message)
                return
            self._backlog.append(message)
            self._look(message)

    def _look(self, message: Message | None) -> None:
        if not message or "id" not in message or "method" not in message:
            return
        if message["id"] not in self.answered and (result := self._result(message)) is not None:
            self.answered.add(message["id"])
            self.stdio.reply(message["id"], result=result)
        self._opened = True

    def _result(self, message: Message) -> Message | None:
        """Answer only what is beyond doubt; the rest, and all of the era without a handshake, waits for the SDK."""
        match message:
            case {"method": "initialize", "params": {"protocolVersion": str(version), **rest}} if not self._opened:
                if not _is_plain(rest) or self._instructions is None:
                    return None
                self._shaken = True
                return _initialized(version, self._instructions)
            case {"method": "ping", **rest} if not rest.get("params") and (self._shaken or not self._opened):
                return {}
            case {"method": "tools/list", **rest} if not rest.get("params") and self._shaken and self._tools:
                return {"tools": self._tools}
        return None


def _is_plain(params: dict[object, object]) -> bool:
    match params:
        case {"capabilities": dict(capabilities), "clientInfo": {"name": str(), "version": str()}, **rest}:
            return not rest and all(isinstance(value, dict) for value in capabilities.values())
    return False


def _initialized(version: str, instructions: str) -> Message:
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
