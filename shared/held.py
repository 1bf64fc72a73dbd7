"""Counts the bytes of incomplete messages that clients make us hold."""

from collections import Counter
from typing import Final

MESSAGES_AT_A_TIME: Final = 8
"""How many messages of maximum size a client may be sending at once, so that incomplete ones cannot fill the memory."""


class Held:
    """The bytes that each client makes us hold. Clients that hold none are forgotten."""

    def __init__(self) -> None:
        self._bytes = Counter[str]()

    def count(self, client: str, more: int) -> int:
        """Add to the bytes of a client; a negative number subtracts. Returns how many the client holds now."""
        self._bytes[client] += more
        return self._bytes[client] or self._bytes.pop(client)

    def of(self, client: str) -> int:
        return self._bytes[client]
