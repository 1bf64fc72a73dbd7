"""The gateway's process answers first and imports later."""

import gc
import os
import signal
import sys
import threading
from typing import Final

import browse_together  # noqa: F401 - it puts our own packages before others of their names
from mcp_gateway.stdio.descriptors import Descriptors
from mcp_gateway.stdio.early import EarlyServer
from shared.instructions import INSTRUCTIONS

EXIT_WITHIN_S: Final = 0.7
_LIMITING: Final = frozenset({"BROWSE_TOOLSETS", "BROWSE_TOKEN", "BROWSE_TOKEN_FILE"})
"""Names the variables that may ask for other tools than the usual ones, or allow fewer."""


def main() -> None:
    flags = dict[str, str]()
    if len(sys.argv) > 1:
        from mcp_gateway.arguments import take  # noqa: PLC0415 - hosts give none, and are to be answered early

        flags = take(sys.argv[1:])
    gc.disable()  # until all is imported: it would find nothing, again and again
    early = _early_server() if "stdio" in (os.environ.get("BROWSE_TRANSPORT") or "stdio").lower() else None
    if early and not _may_list_others():
        from shared.written import core_tools  # noqa: PLC0415 - as below

        early.offer(core_tools())
    from mcp_gateway.startup import run  # noqa: PLC0415 - the first replies are given while this is imported

    run(early, flags)


def _early_server() -> EarlyServer:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    instructions = None if any(map(os.environ.get, _LIMITING)) else INSTRUCTIONS  # which tell of it
    return EarlyServer(Descriptors.claim(), on_end=_exit_soon, instructions=instructions)


def _may_list_others() -> bool:
    """Return whether a setting may ask for other tools than the usual ones; what reads settings is not there yet."""
    if any(value for name, value in os.environ.items() if name.upper() in _LIMITING):
        return True
    from client import config_place  # noqa: PLC0415 - after the first reply

    try:
        file = config_place.path()
        return str(file) != os.devnull and file.exists()
    except (OSError, RuntimeError):  # which the reading of it will explain
        return True


def _exit_soon() -> None:
    """Exit soon, because a client that closed stdin waits for it. Whatever still runs then is abandoned."""
    timer = threading.Timer(EXIT_WITHIN_S, os._exit, [0])
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    main()
