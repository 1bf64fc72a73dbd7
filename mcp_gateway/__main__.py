"""Starts the gateway: its process answers first and imports later."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

import browse_together.first  # noqa: F401 - it puts our own packages before others of their names
from mcp_gateway.jsonrpc import Message
from mcp_gateway.stdio.early import EarlyReplies
from mcp_gateway.stdio.launcher import Launcher
from shared.instructions import INSTRUCTIONS
from shared.json_lines.lines import Lines

_LIMITING: Final = frozenset({"BROWSE_TOOLSETS", "BROWSE_TOKEN", "BROWSE_TOKEN_FILE"})
"""Variables that may change or limit the list of tools."""
_SAID_HERE: Final = frozenset(("--transport", "--help", "-h", "--version", "--no-shared"))
"""Flags that this process handles itself."""
_NO: Final = frozenset(("0", "false", "f", "no", "n", "off"))


def main() -> None:
    arguments = sys.argv[1:]
    launcher, flags = None, dict[str, str]()
    if _speaks_stdio() and _may_share(arguments):
        launcher = _launcher(arguments)
        why_not = launcher.run_shared()
        if why_not is None:
            return
        os.environ["BROWSE_SHARED"] = "false"
        if why_not:
            sys.stderr.write(f"mcp-gateway: this chat has a process of its own: {why_not}\n")
    gc.disable()  # until all imports are done: collections would find no garbage
    if arguments:
        from mcp_gateway.arguments import take  # noqa: PLC0415 - hosts give none, and are to be answered early

        flags = take(arguments)
    if launcher is None and _speaks_stdio():
        launcher = _launcher(arguments)
    from mcp_gateway.startup import run  # noqa: PLC0415 - the first replies are given while this is imported

    run(launcher, flags)


def _speaks_stdio() -> bool:
    return "stdio" in (os.environ.get("BROWSE_TRANSPORT") or "stdio").lower()


def _may_share(arguments: Sequence[str]) -> bool:
    """Return whether the shared process may serve the chat."""
    is_wanted = os.environ.get("BROWSE_SHARED", "").lower() not in _NO
    return (
        is_wanted and hasattr(os, "posix_spawn") and not any(one.partition("=")[0] in _SAID_HERE for one in arguments)
    )


def _launcher(arguments: Sequence[str]) -> Launcher:
    """Claim stdin and stdout, and answer there from now on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        lines = Lines.claim()
    except OSError as error:
        sys.exit(
            f"mcp-gateway: stdin and stdout cannot be used: {error.strerror}. Its host has to give both, and to allow "
            "it more open files (ulimit -n 256) if those are too many."
        )
    instructions = None if any(map(os.environ.get, _LIMITING)) or arguments else INSTRUCTIONS  # may change them
    launcher = Launcher(lines, EarlyReplies(instructions, _usual_tools), arguments, os.environ)
    launcher.begin()
    return launcher


def _usual_tools() -> Sequence[Message] | None:
    """Return the usual list of tools; None if a setting may change it, because settings are read later."""
    if sys.argv[1:] or any(value for name, value in os.environ.items() if name.upper() in _LIMITING):
        return None
    from client import config_place  # noqa: PLC0415 - after the first reply

    try:
        file = config_place.path()
        if str(file) != os.devnull and file.exists():
            return None
    except (OSError, RuntimeError):  # reading the file will report this
        return None
    from shared.written import core_tools  # noqa: PLC0415 - as above

    return core_tools()


if __name__ == "__main__":
    main()
