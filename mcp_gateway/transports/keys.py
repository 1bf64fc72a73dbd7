"""Reads the keys of network clients: the one in the settings, or those in a file."""

import contextlib
import hashlib
import os
import secrets
from pathlib import Path
from typing import Final

from mcp_gateway.transports.settings import NotUsable, TransportSettings
from shared.data_files import GATEWAY_KEYS

_LEAST_CHARACTERS: Final = 16
_MOST_KEYS: Final = 1_000


def keys(settings: TransportSettings, data_dir: Path) -> tuple[list[str], str]:
    """Return the valid keys, and where a person finds them. Raises NotUsable."""
    if settings.auth == "none":
        return [], ""
    if settings.auth_secret is not None:
        return [_long_enough(settings.auth_secret.get_secret_value(), "AUTH_SECRET")], "the key is AUTH_SECRET's"
    path = settings.auth_file or data_dir / GATEWAY_KEYS
    try:
        if settings.auth_file is None:
            _make(path)
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise NotUsable(f"the keys in {path} cannot be read: {error}. Set AUTH_SECRET or --auth-file.") from None
    found = [_long_enough(line, f"a line of {path}") for line in lines if line and not line.startswith("#")]
    if not found or len(found) > _MOST_KEYS:
        raise NotUsable(f"{path} has {len(found)} keys; write 1 to {_MOST_KEYS}, one on a line.")
    return found, f"the key is in {path} on the gateway's machine"


def _make(path: Path) -> None:
    """Create a file with a random key, for this account only, unless the file exists."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")


def _long_enough(key: str, name: str) -> str:
    if len(key) < _LEAST_CHARACTERS or not key.isascii() or not key.isprintable() or " " in key:
        raise NotUsable(f"{name} is no key: write {_LEAST_CHARACTERS} or more visible ASCII characters.")
    return key


def digest(key: str) -> str:
    """Return a digest for comparing keys, so that the time taken reveals nothing."""
    return hashlib.sha256(key.encode()).hexdigest()
