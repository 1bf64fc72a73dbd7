"""Binds ports of this machine, and names the program that uses a port."""

import contextlib
import socket


def bind(host: str, port: int, *, listen: bool = False) -> socket.socket:
    """Return a socket bound to an address, and listening if `listen`. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # names the protocol: only then does asyncio send small replies at once, otherwise 40 ms late
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        if listen:
            listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def holder(port: int) -> str:
    """Return the program that listens on a port, such as `python3 (process 4711)`; empty if unknown."""
    import psutil  # noqa: PLC0415 - only an error needs it

    with contextlib.suppress(psutil.Error, OSError):
        for found in psutil.net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.pid and found.laddr and found.laddr.port == port:
                return f"{psutil.Process(found.pid).name()} (process {found.pid})"
    return ""
