"""Counts what callers make us keep: the bytes of messages that have begun and are not whole yet."""

from collections import Counter
from typing import Final

MESSAGES_AT_A_TIME: Final = 8
"""Messages of the largest size that one client may be sending, so that nobody fills the memory with halves."""


class Held:
    """The bytes that each client makes us hold. It forgets clients that hold none."""

    def __init__(self) -> None:
        self._bytes = Counter[str]()

    def count(self, client: str, more: int) -> int:
        """Count bytes more, or fewer where the number is below zero. Returns how many the client holds now."""
        self._bytes[client] += more
        return self._bytes[client] or self._bytes.pop(client)

    def of(self, client: str) -> int:
        return self._bytes[client]
