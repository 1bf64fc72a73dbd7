"""Stores the account's secret, which signs every token. Whoever needs it first writes it; all others read it."""

import hashlib
import hmac
import ipaddress
import os
import secrets
from pathlib import Path

from browse_together.contract.data_files import draft
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.wire import APP_NAME, SECRET_FILE

_ANEW = (
    "Remove it and restart the service (browse-together down, then browse-together up --detach), which makes a new "
    "one; every chat makes its token from that at its next call."
)


def ensure_secret(data_dir: Path) -> str:
    """Return the account's secret, after creating it on first use (0600, in a directory of 0700). Raises
    ServiceUnavailable if it cannot be used."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    data_dir.chmod(0o700)
    path = data_dir / SECRET_FILE
    if not path.exists():
        written = draft(path, secrets.token_urlsafe(48).encode())
        try:
            os.link(written, path)  # fails if another process was first: then its secret counts
        except FileExistsError:
            pass
        finally:
            written.unlink()
    return read_secret(data_dir)


def proof(secret: str, nonce: str, address: tuple[str, int]) -> str:
    """Return the proof for a nonce, which only the secret can make. It is valid for one address: a program at another
    address cannot get it from the service and pass it on.

    The proof cannot serve as a token, because a token's signed text contains no spaces.
    """
    ip = ipaddress.ip_address(address[0].partition("%")[0])
    ip = ip.ipv4_mapped or ip if isinstance(ip, ipaddress.IPv6Address) else ip
    text = f"{APP_NAME} at {ip} port {address[1]} answers {nonce}"
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def is_proof(given: object, secret: str, nonce: str, address: tuple[str, int]) -> bool:
    """Return whether `given` is that proof. The time taken reveals nothing."""
    return hmac.compare_digest(str(given).encode(), proof(secret, nonce, address).encode())


def read_secret(data_dir: Path) -> str:
    """Return the account's secret. Raises FileNotFoundError if there is none yet, and ServiceUnavailable if it cannot
    be used."""
    path = data_dir / SECRET_FILE
    try:
        if secret := path.read_bytes().decode("ascii").strip():
            return secret
        problem = "is empty"
    except FileNotFoundError:
        raise
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    except UnicodeDecodeError:
        problem = "is not what the service wrote there: it has other characters than ASCII"
    raise ServiceUnavailable(f"The secret file {path} {problem}.", hint=_ANEW)
