"""Tells who has a port of this machine, for errors about one that is taken."""

import contextlib


def holder(port: int) -> str:
    """Return the program that listens on a port, such as `python3 (process 4711)`; empty if that is not to be known."""
    import psutil  # noqa: PLC0415 - only an error needs it

    with contextlib.suppress(psutil.Error, OSError):
        for found in psutil.net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.pid and found.laddr and found.laddr.port == port:
                return f"{psutil.Process(found.pid).name()} (process {found.pid})"
    return ""
