"""Encrypts stored logins. The key lies beside the account's secret, or in the system's keyring."""

import base64
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal

from pydantic import JsonValue

from browse_together.contract.data_files import KEY_FILE
from browse_together.contract.wire import APP_NAME
from browser_service.quarantine import set_aside

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

KeyStore = Literal["file", "keyring"]

_KEY_BYTES: Final = 32
_INSTALL: Final = "pip install 'browse-together[keyring]', or set BROWSE_KEY_STORE=file."


class NoKeyring(Exception):
    """The system's keyring is configured but cannot be used."""


class Seal:
    """Encryption of JSON (Fernet: AES-128-CBC with HMAC-SHA256)."""

    def __init__(
        self, data_dir: Path, store: KeyStore = "file", report: Callable[[str], None] = lambda _: None
    ) -> None:
        """Load the key. A damaged key is set aside, replaced and reported. Raises NoKeyring."""
        path = data_dir / KEY_FILE
        self._key = _from_keyring(path, report) if store == "keyring" else _valid(path, report)

    @cached_property
    def _fernet(self) -> "Fernet":
        from cryptography.fernet import Fernet  # noqa: PLC0415 - 9 MB, which nobody needs before there is a login

        return Fernet(self._key)

    def close(self, value: JsonValue) -> bytes:
        return self._fernet.encrypt(json.dumps(value).encode())

    def open(self, sealed: bytes) -> JsonValue:
        """Decrypt a value; return None if another key sealed it or its bytes have changed."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - as above

        try:
            value: JsonValue = json.loads(self._fernet.decrypt(sealed))
        except (InvalidToken, ValueError):
            return None
        return value


@contextmanager
def _keyring() -> Iterator[ModuleType]:
    """Yield the module of the system's keyring. Raises NoKeyring if that is missing or fails."""
    try:
        import keyring  # noqa: PLC0415 - an extra, for those who set it
        import keyring.errors  # noqa: PLC0415 - as above
    except ImportError:
        raise NoKeyring(f"BROWSE_KEY_STORE=keyring needs the package keyring: {_INSTALL}") from None
    try:
        yield keyring
    except (keyring.errors.KeyringError, ValueError) as error:
        raise NoKeyring(f"The system's keyring cannot be used ({error}): unlock it, or {_INSTALL}") from error


def _valid(path: Path, report: Callable[[str], None]) -> bytes:
    """Read the key from its file, and replace it if it is missing or damaged."""
    if not _is_key(key := _ensure_key(path)):
        aside = set_aside(path)
        report(f"The key of saved logins was damaged: it lies aside as {aside.name}, and a new one is made.")
        return _ensure_key(path)
    return key


def _is_key(key: bytes) -> bool:
    """Return whether Fernet accepts the key."""
    try:
        return len(base64.urlsafe_b64decode(key)) == _KEY_BYTES
    except ValueError:
        return False


def _new_key() -> bytes:
    return base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES))


def _ensure_key(path: Path) -> bytes:
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return path.read_bytes()
    key = _new_key()
    path.write_bytes(key)
    return key


def _from_keyring(path: Path, report: Callable[[str], None]) -> bytes:
    """Return this data directory's key from the keyring, moving it there from a file if necessary. Raises NoKeyring."""
    name = str(path.parent)
    with _keyring() as keyring:
        key: str | None = keyring.get_password(APP_NAME, name)
        if key is None:
            key = (_valid(path, report) if path.exists() else _new_key()).decode()
            keyring.set_password(APP_NAME, name, key)
            if keyring.get_password(APP_NAME, name) != key:
                raise NoKeyring("The system's keyring did not keep the key of saved logins: set BROWSE_KEY_STORE=file.")
        if not _is_key(key.encode()):
            raise NoKeyring(f"The key of saved logins in the system's keyring is damaged: remove it, or {_INSTALL}")
    if path.exists() and path.read_text(encoding="ascii", errors="replace").strip() == key:
        path.unlink()
        report(f"The key of saved logins is in the system's keyring now; {KEY_FILE} is removed.")
    return key.encode()
