"""Starts the shared process for a launcher that found none. The arguments are its listening socket and that socket's
place."""

import contextlib
import gc
import os
import socket
import sys
from pathlib import Path
from typing import Final

from mcp_gateway.sharing.shared_socket import SharedSocket, is_own

_COMES_WITHIN_S: Final = 0.2
_MOST_PEEKED: Final = 1_000_000


def main() -> None:
    descriptor, folder, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    if os.fork():  # a host that ends a launcher may end all of its children too, so this becomes nobody's child
        os._exit(0)
    os.setsid()  # outlive the launcher, and whatever ends its process group
    os.chdir("/")
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
    place = SharedSocket(folder, os.path.basename(path).removesuffix(".sock"))  # noqa: PTH119 - a text, as in `place`
    place.prepare()
    listener = socket.socket(fileno=descriptor)
    listener.set_inheritable(False)
    gc.disable()  # until all imports are done: collections would find no garbage
    from browse_together.client import ports  # noqa: PLC0415 - what is not done first comes after what is

    ports.allow_many()
    first = _first_chat(listener)
    import asyncio  # noqa: PLC0415 - it takes long, and the folder is checked before

    from mcp_gateway.logs import CallersStderr  # noqa: PLC0415 - as above
    from mcp_gateway.sharing.process import SharedProcess, freeze  # noqa: PLC0415 - as above

    sys.stdout = sys.stderr = CallersStderr(sys.stderr)
    freeze()
    with asyncio.Runner() as runner:
        runner.run(SharedProcess(listener, place, first).run())


def _first_chat(listener: socket.socket) -> socket.socket | None:
    """Accept the chat that this process was started for, and start its service now: importing the SDK takes longer than
    both. Returns the chat's connection with all of its launcher's data unread; None if no chat comes soon."""
    from browse_together.client.config_file import WrongFile  # noqa: PLC0415 - as above

    listener.settimeout(_COMES_WITHIN_S)
    try:
        connection, _ = listener.accept()
    except OSError:
        return None
    if not is_own(connection):
        connection.close()
        return None
    connection.settimeout(_COMES_WITHIN_S)
    with contextlib.suppress(OSError, ValueError, WrongFile, SystemExit):  # serving the chat will report these
        _begin_service(connection.recv(_MOST_PEEKED, socket.MSG_PEEK).partition(b"\n")[0])
    return connection


def _begin_service(line: bytes) -> None:
    from browse_together.client.caller import Caller, on_behalf_of  # noqa: PLC0415 - as above
    from browse_together.client.connecting import begin_service  # noqa: PLC0415 - as above
    from mcp_gateway.settings import Settings  # noqa: PLC0415 - as above
    from mcp_gateway.stdio.hello import hello  # noqa: PLC0415 - as above

    about = hello(line)
    environment = {**about.environment}
    if about.arguments:
        from mcp_gateway.arguments import take  # noqa: PLC0415 - hosts give none

        take(about.arguments, environment)
    with on_behalf_of(Caller(environment, Path(about.folder), lambda _: None, about.since)):
        begin_service(Settings())


if __name__ == "__main__":
    main()
