"""What a launcher and the process that serves its chat say to each other: a line of JSON each.

A message of the protocol is an object, and goes as it is. What is for the two alone is an array that begins with one of
these words.
"""

import json
from typing import Final, NamedTuple

HELLO: Final = "hello"
"""The launcher says whose chat this is: its first line."""
WELCOME: Final = "welcome"
"""The chat is served: the launcher answers nothing by itself from now on."""
REFUSED: Final = "refused"
"""The launcher's own process has to serve this chat, for this reason."""
STATE: Final = "state"
"""What another process is to know of the chat, should this one be lost."""
LOG: Final = "log"
"""A text for the launcher's stderr."""
PING: Final = "ping"
PONG: Final = "pong"
END: Final = "end"
"""The client has closed: what is answered soon is still passed on."""


class Hello(NamedTuple):
    """How a launcher was started, and what is known of its chat."""

    client_id: str
    """The chat's, unless its settings or its host say another."""
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    state: dict[str, list[str]]
    cancelled: list[str]
    """Calls that were cancelled, perhaps without the service hearing of it."""


def line(word: str, *about: object) -> bytes:
    """Return the line that says a word."""
    return json.dumps([word, *about]).encode()


def words(line: bytes) -> list[object] | None:
    """Return a word and what goes with it; None for a message of the protocol."""
    said = json.loads(line) if line.startswith(b"[") else None
    return said if isinstance(said, list) else None


def hello(line: bytes) -> Hello:
    """Return what a launcher says first. Raises ValueError."""
    match words(line):
        case [word, dict(about)] if word == HELLO and about.keys() == set(Hello._fields):
            return Hello(**about)
    raise ValueError("it did not say who it is")
