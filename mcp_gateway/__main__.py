"""The gateway's process answers first and imports later."""

import gc
import os
import signal
import sys
import threading

from mcp_gateway.front import Front
from mcp_gateway.stdio import Stdio
from shared.instructions import INSTRUCTIONS

EXIT_WITHIN_S = 0.7


def main() -> None:
    if len(sys.argv) > 1:
        from mcp_gateway.arguments import check  # noqa: PLC0415 - hosts give none, and are to be answered early

        check(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # until all is imported: it would find nothing, again and again
    instructions = None if os.environ.get("BROWSE_TOOLSETS") else INSTRUCTIONS  # which tell of misspelt names
    front = Front(Stdio.claimed(), at_end=_leave_soon, instructions=instructions)
    from mcp_gateway.startup import run  # noqa: PLC0415 - the front answers while this is imported

    run(front)


def _leave_soon() -> None:
    """End soon, as a client that closed stdin waits for it: whatever still holds on then is left behind."""
    last_resort = threading.Timer(EXIT_WITHIN_S, os._exit, [0])
    last_resort.daemon = True
    last_resort.start()


if __name__ == "__main__":
    main()
