"""Takes ports of this machine, and tells who has one that is taken."""

import contextlib
import socket


def bind(host: str, port: int, *, listen: bool = False) -> socket.socket:
    """Return a socket that has an address, and listens there at once if it is to. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # with the protocol said: asyncio sends small replies at once only on sockets that name it, the others 40 ms late
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
    """Return the program that listens on a port, such as `python3 (process 4711)`; empty if that is not to be known."""
    import psutil  # noqa: PLC0415 - only an error needs it

    with contextlib.suppress(psutil.Error, OSError):
        for found in psutil.net_connections("tcp"):
            if found.status == psutil.CONN_LISTEN and found.pid and found.laddr and found.laddr.port == port:
                return f"{psutil.Process(found.pid).name()} (process {found.pid})"
    return ""
