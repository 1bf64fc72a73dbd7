"""The messages between a launcher and the process that serves its chat, as lines of JSON.

Protocol messages are objects and pass unchanged. Messages between these two processes are arrays that begin with one of
these words.
"""

import json
from typing import Final, NamedTuple

HELLO: Final = "hello"
"""The launcher's first line: whose chat this is."""
WELCOME: Final = "welcome"
"""The chat is served; the launcher itself no longer answers anything."""
REFUSED: Final = "refused"
"""The launcher's own process must serve this chat, for the given reason."""
STATE: Final = "state"
"""What another process must know of the chat if this one is lost."""
LOG: Final = "log"
PING: Final = "ping"
PONG: Final = "pong"
END: Final = "end"
"""The client has closed. Answers that come soon are still passed on."""


class Hello(NamedTuple):
    """How a launcher was started, and the known state of its chat."""

    client_id: str
    """The chat's client id, unless its settings or its host give another."""
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    state: dict[str, list[str]]
    cancelled: list[str]
    """Cancelled calls that the service may not know are cancelled."""
    since: float
    """When the chat began, in seconds since 1970."""


def line(word: str, *about: object) -> bytes:
    return json.dumps([word, *about]).encode()


def words(line: bytes) -> list[object] | None:
    """Return a word and its values; None for a protocol message."""
    said = json.loads(line) if line.startswith(b"[") else None
    return said if isinstance(said, list) else None


def hello(line: bytes) -> Hello:
    """Parse a launcher's first line. Raises ValueError."""
    match words(line):
        case [word, dict(about)] if word == HELLO and about.keys() == set(Hello._fields):
            return Hello(**about)
    raise ValueError("it did not say who it is")
