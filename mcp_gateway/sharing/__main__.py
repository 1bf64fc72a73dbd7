"""Starts the shared process, for the launcher that found none: with its listening socket, and where that is."""

import gc
import os
import socket
import sys

import browse_together  # noqa: F401 - it puts our own packages before others of their names
from mcp_gateway.sharing.place import Place


def main() -> None:
    descriptor, folder, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    os.setsid()  # it outlives the launcher, and whoever ends that with all of its group
    os.chdir("/")
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))
    place = Place(folder, os.path.basename(path).removesuffix(".sock"))  # noqa: PTH119 - a text, as in `place`
    place.prepare()
    listener = socket.socket(fileno=descriptor)
    listener.set_inheritable(False)
    gc.disable()  # until all is imported: it would find nothing, again and again
    from shared import open_files  # noqa: PLC0415 - what is not done first comes after what is

    open_files.allow_many()
    _serve(listener, place)


def _serve(listener: socket.socket, place: Place) -> None:
    from mcp_gateway.sharing.first import start_service  # noqa: PLC0415 - as above

    first = start_service(listener)
    import asyncio  # noqa: PLC0415 - it takes long, and the folder is checked before

    from mcp_gateway.spared import spared  # noqa: PLC0415 - as above

    with spared():
        from mcp_gateway.logs import CallersStderr  # noqa: PLC0415 - as above
        from mcp_gateway.sharing.process import SharedProcess, freeze  # noqa: PLC0415 - as above
        from mcp_gateway.startup import loop_factory  # noqa: PLC0415 - as above

    sys.stdout = sys.stderr = CallersStderr(sys.stderr)
    freeze()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(SharedProcess(listener, place, first).run())


if __name__ == "__main__":
    main()
