"""Keeps the account's secret, from which every token is made: who needs it first writes it, and all others read it."""

import hashlib
import hmac
import ipaddress
import os
import secrets
from pathlib import Path

from shared.data_files import draft_of
from shared.errors import ServiceUnavailable
from shared.wire import APP_NAME, SECRET_FILE

_ANEW = (
    "Remove it and restart the service (browse-together down, then browse-together up --detach), which makes a new "
    "one; every chat makes its token from that at its next call."
)


def ensure_secret(data_dir: Path) -> str:
    """Return the account's secret, and make it on first use (0600, in a directory of 0700). Raises ServiceUnavailable
    for one that makes no token."""
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    data_dir.chmod(0o700)
    path = data_dir / SECRET_FILE
    if not path.exists():
        draft = draft_of(path, os.getpid())
        draft.touch(mode=0o600)
        with draft.open("w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())  # a name without its text would be worse than none
        try:
            os.link(draft, path)  # fails where another process was first: its secret is the one that counts
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return read_secret(data_dir)


def proof(secret: str, nonce: str, address: tuple[str, int]) -> str:
    """Return what nobody can make of a nonce without the secret. It holds for one address: a program at another cannot
    have it made by the service and pass it on.

    No token can be made of it, because what a token signs has no spaces.
    """
    ip = ipaddress.ip_address(address[0].partition("%")[0])
    ip = ip.ipv4_mapped or ip if isinstance(ip, ipaddress.IPv6Address) else ip
    text = f"{APP_NAME} at {ip} port {address[1]} answers {nonce}"
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def is_proof(given: object, secret: str, nonce: str, address: tuple[str, int]) -> bool:
    """Say if what was given is that proof. How long it takes tells nothing of it."""
    return hmac.compare_digest(str(given).encode(), proof(secret, nonce, address).encode())


def read_secret(data_dir: Path) -> str:
    """Return the account's secret. Raises FileNotFoundError where there is none yet, ServiceUnavailable for one that
    makes no token."""
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
