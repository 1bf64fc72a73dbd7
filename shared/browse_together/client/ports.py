"""Binds ports of this machine, names the program that uses one, and loads the certificate to serve there."""

import contextlib
import socket
import ssl
from pathlib import Path
from typing import Final

_MOST: Final = 16_384


def allow_many() -> None:
    """Raise this process's own limit as far as possible."""
    try:
        import resource  # noqa: PLC0415 - not on Windows, which has no such limit
    except ImportError:
        return
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if most == resource.RLIM_INFINITY else min(_MOST, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def server_context(cert: Path, key: Path) -> ssl.SSLContext:
    """Return the TLS context for serving https with these files. Raises ValueError with a text that names the flag."""
    for flag, path in (("--tls-cert", cert), ("--tls-key", key)):
        try:
            path.read_bytes()
        except OSError as error:
            raise ValueError(f"{flag}: {path} cannot be read: {error.strerror or error}.") from None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key, _no_password)
    except ssl.SSLError as error:
        reason = error.reason or "they are no certificate and key in PEM"
        files = f"--tls-cert {cert} and --tls-key {key}"
        raise ValueError(f"{files} cannot be used: {reason.replace('_', ' ').lower()}.") from None
    return context


def _no_password() -> str:
    raise ValueError("--tls-key has a password, which nobody is there to type; give a key without one.")


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
