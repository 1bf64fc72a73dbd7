"""Starts the gateway: its process answers first and imports later."""

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from browse_together.contract.json_lines.lines import Lines
from mcp_gateway.flags import simple
from mcp_gateway.stdio.early import EarlyReplies
from mcp_gateway.stdio.foreseen import foresee
from mcp_gateway.stdio.launcher import Launcher

_SAID_HERE: Final = frozenset(("--transport", "--help", "-h", "--version", "--no-shared"))
"""Flags that this process handles itself."""
_NO: Final = frozenset(("0", "false", "f", "no", "n", "off"))


def main() -> None:
    arguments = sys.argv[1:]
    given = simple(arguments)
    launcher, flags = None, dict[str, str]()
    if _speaks_stdio() and _may_share(arguments):
        launcher = _launcher(arguments, given)
        why_not = launcher.run_shared()
        if why_not is None:
            launcher.finish()
            return
        os.environ["BROWSE_SHARED"] = "false"
        if why_not:
            sys.stderr.write(f"mcp-gateway: this chat has a process of its own: {why_not}\n")
    elif given is not None and _speaks_stdio(given):
        launcher = _launcher(arguments, given)
    gc.disable()  # until all imports are done: collections would find no garbage
    if arguments:
        from mcp_gateway.arguments import take  # noqa: PLC0415 - hosts give few, and are to be answered early

        flags = take(arguments)
    if launcher is None and _speaks_stdio():
        launcher = _launcher(arguments, None)
    from mcp_gateway.startup import run  # noqa: PLC0415 - the first replies are given while this is imported

    run(launcher, flags)
    if launcher is not None:
        launcher.finish()


def _speaks_stdio(flags: Mapping[str, str] = MappingProxyType({})) -> bool:
    return "stdio" in (flags.get("BROWSE_TRANSPORT") or os.environ.get("BROWSE_TRANSPORT") or "stdio").lower()


def _may_share(arguments: Sequence[str]) -> bool:
    """Return whether the shared process may serve the chat."""
    is_wanted = os.environ.get("BROWSE_SHARED", "").lower() not in _NO
    return (
        is_wanted and hasattr(os, "posix_spawn") and not any(one.partition("=")[0] in _SAID_HERE for one in arguments)
    )


def _launcher(arguments: Sequence[str], flags: Mapping[str, str] | None) -> Launcher:
    """Claim stdin and stdout, and answer there from now on. `flags` are the simple ones, by variable; None if there are
    others."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        lines = Lines.claim()
    except OSError as error:
        sys.exit(
            f"mcp-gateway: stdin and stdout cannot be used: {error.strerror}. Its host has to give both, and to allow "
            "it more open files (ulimit -n 256) if those are too many."
        )
    seen = None if flags is None else foresee(flags, os.environ)
    early = EarlyReplies(seen.instructions, seen.tools) if seen else EarlyReplies(None, lambda: None)
    launcher = Launcher(lines, early, arguments, os.environ)
    launcher.begin()
    signal.signal(signal.SIGTERM, launcher.end_by)
    return launcher


if __name__ == "__main__":
    main()
