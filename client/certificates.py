"""Loads a certificate and its key for serving https, and explains files that cannot be used."""

import ssl
from pathlib import Path


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
