"""Has the service start for the first chat while this process still imports the SDK, which takes longer than both."""

import contextlib
import socket
from pathlib import Path
from typing import Final

from client.caller import Caller, on_behalf_of
from client.config_file import WrongFile
from mcp_gateway.settings import Settings, begin_service
from mcp_gateway.sharing import frames
from mcp_gateway.sharing.hello import Hello, variables
from mcp_gateway.sharing.place import is_own

_COMES_WITHIN_S: Final = 0.2
_MOST_PEEKED: Final = 1_000_000


def start_service(listener: socket.socket) -> socket.socket | None:
    """Let the service of the chat that this process was started for start, if its settings want that. Returns the
    chat's connection, with all that its launcher has sent still to be read; None if none has come."""
    listener.settimeout(_COMES_WITHIN_S)
    try:
        connection, _ = listener.accept()
    except OSError:
        return None
    if not is_own(connection):
        connection.close()
        return None
    connection.settimeout(_COMES_WITHIN_S)
    with contextlib.suppress(OSError, ValueError, WrongFile, SystemExit):  # the serving of the chat tells of these
        _begin(connection.recv(_MOST_PEEKED, socket.MSG_PEEK))
    return connection


def _begin(sent: bytes) -> None:
    kind, head, body = next(frames.Frames().feed(sent), (0, b"", b""))
    if kind != frames.HELLO:
        return
    hello, environment = Hello.model_validate_json(head), dict(variables(body))
    if hello.arguments:
        from mcp_gateway.arguments import take  # noqa: PLC0415 - hosts give none

        take(hello.arguments, environment)
    with on_behalf_of(Caller(environment, Path(hello.folder), lambda _: None)):
        begin_service(Settings())
