"""What launchers and the shared process say to each other: frames of a kind, a small head and a body."""

import os
import struct
from collections.abc import Iterator
from typing import Final

HELLO: Final = 1
"""The launcher says who it is: the head says how it was started, and the body is its environment."""
LINE: Final = 2
"""A message of MCP. Its head has, to the shared process, the id and the number of the call; to the launcher, which
request it answers or makes."""
PING: Final = 3
PONG: Final = 4
END: Final = 5
"""The client has closed its end: what is answered soon is still passed on."""
WELCOME: Final = 6
"""The chat is served: no other process answers from now on."""
REFUSED: Final = 7
"""This chat is to be served by its own process, which says why."""
LOG: Final = 8
"""A text for the launcher's stderr."""
STATE: Final = 9
"""What another process is to know of this chat, should this one die."""

SIZES: Final = struct.Struct("!BII")
_MOST_HEAD: Final = 4_000_000
_MOST_BODY: Final = 64_000_000


Frame = tuple[int, bytes, bytes]
"""Is kind, head and body."""


class WrongFrame(ValueError):
    """Raised for bytes that no program of ours sends."""


def frame(kind: int, head: bytes = b"", body: bytes = b"") -> bytes:
    """Return the bytes of a frame."""
    return b"".join((SIZES.pack(kind, len(head), len(body)), head, body))


def sizes(start: bytes | bytearray) -> tuple[int, int, int]:
    """Return kind, and sizes of head and body, of the frame that begins so. Raises WrongFrame."""
    kind, head, body = SIZES.unpack_from(start)
    if not HELLO <= kind <= STATE or head > _MOST_HEAD or body > _MOST_BODY:
        raise WrongFrame(f"kind {kind} with {head} and {body} bytes")
    return kind, head, body


def spelt(given: str) -> str:
    """Return a name or an argument as JSON can carry it, which may be of any bytes: each is a character."""
    return os.fsencode(given).decode("latin-1")


def given(spelt: str) -> str:
    """Return the name or the argument that is spelt so."""
    return os.fsdecode(spelt.encode("latin-1"))


class Frames:
    """Takes frames out of bytes as they come."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield each frame that is whole. Raises WrongFrame."""
        self._rest += data
        while len(self._rest) >= SIZES.size:
            kind, head, body = sizes(self._rest)
            start, end = SIZES.size + head, SIZES.size + head + body
            if len(self._rest) < end:
                return
            whole = bytes(self._rest[SIZES.size : start]), bytes(self._rest[start:end])
            del self._rest[:end]
            yield kind, *whole
