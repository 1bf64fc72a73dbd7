"""The gateway's process answers first and imports later."""

import functools
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final, TypeVar

import browse_together  # noqa: F401 - it puts our own packages before others of their names
from mcp_gateway.stdio.descriptors import Descriptors
from mcp_gateway.stdio.early import EarlyServer
from shared.instructions import INSTRUCTIONS

Claimed = TypeVar("Claimed", bound=Descriptors)
EXIT_WITHIN_S: Final = 0.7
_LIMITING: Final = frozenset({"BROWSE_TOOLSETS", "BROWSE_TOKEN", "BROWSE_TOKEN_FILE"})
"""Names the variables that may ask for other tools than the usual ones, or allow fewer."""
_SAID_HERE: Final = frozenset(("--transport", "--help", "-h", "--version", "--no-shared"))
"""Names the flags that this process answers by itself."""
_NO: Final = frozenset(("0", "false", "f", "no", "n", "off"))


def main() -> None:
    arguments = sys.argv[1:]
    speaks = "stdio" in (os.environ.get("BROWSE_TRANSPORT") or "stdio").lower()
    gc.disable()  # until all is imported: it would find nothing, again and again
    early, is_over = _pass_on(arguments) if speaks and _may_share(arguments) else (None, False)
    if is_over:
        return
    flags = dict[str, str]()
    if arguments:
        from mcp_gateway.arguments import take  # noqa: PLC0415 - hosts give none, and are to be answered early

        flags = take(arguments)
        speaks = "stdio" in (os.environ.get("BROWSE_TRANSPORT") or "stdio").lower()
    if early is None and speaks:
        early = _early_server(_claimed(Descriptors))
    if early:
        early.begin()
        _offer(early)
    from mcp_gateway.startup import run  # noqa: PLC0415 - the first replies are given while this is imported

    run(early, flags)


def _may_share(arguments: Sequence[str]) -> bool:
    """Return whether the chat may be served by the process that serves others."""
    is_wanted = os.environ.get("BROWSE_SHARED", "").lower() not in _NO
    return (
        is_wanted and hasattr(os, "posix_spawn") and not any(one.partition("=")[0] in _SAID_HERE for one in arguments)
    )


def _pass_on(arguments: Sequence[str]) -> tuple[EarlyServer | None, bool]:
    """Have the shared process serve the chat until it ends. Where it cannot, return what this process is to serve."""
    from mcp_gateway.stdio.outbox import Outbox  # noqa: PLC0415 - not on every system

    outbox = _claimed(Outbox)
    early = _early_server(outbox)
    come = outbox.come()
    for message, _ in come:
        early.receive(message)
    outbox.flush()
    from mcp_gateway.sharing.launcher import Launcher  # noqa: PLC0415 - after the first reply
    from mcp_gateway.sharing.place import NotShared  # noqa: PLC0415 - as above

    launcher = None
    try:
        offer = functools.partial(_offer, early)
        launcher = Launcher(outbox, early, arguments=arguments, environ=os.environ, offer=offer, come=come)
        gc.enable()
        launcher.run()
    except NotShared as error:
        os.environ["BROWSE_SHARED"] = "false"
        gc.disable()
        (launcher.give_back if launcher else outbox.go_direct)()
        if str(error):
            sys.stderr.write(f"mcp-gateway: this chat has a process of its own: {error}\n")
        return early, False
    return early, True


def _claimed(kind: type[Claimed]) -> Claimed:
    try:
        return kind.claim()
    except OSError as error:
        sys.exit(
            f"mcp-gateway: stdin and stdout cannot be used: {error.strerror}. Its host has to give both, and to allow "
            "it more open files (ulimit -n 256) if those are too many."
        )


def _early_server(descriptors: Descriptors) -> EarlyServer:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    instructions = None if any(map(os.environ.get, _LIMITING)) or sys.argv[1:] else INSTRUCTIONS  # which tell of it
    return EarlyServer(descriptors, on_end=_exit_soon, instructions=instructions)


def _offer(early: EarlyServer) -> None:
    """Give the early server the list of tools, if it is the usual one."""
    if not _may_list_others() and not sys.argv[1:]:
        from shared.written import core_tools  # noqa: PLC0415 - after the first reply

        early.offer(core_tools())


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
