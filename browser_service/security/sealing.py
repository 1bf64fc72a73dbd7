"""What is secret at rest: login state, encrypted with a key that lies beside the account's secret."""

import json
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from pydantic import JsonValue

KEY_FILE = "state.key"


class Seal:
    """Encrypts and decrypts JSON (Fernet: AES-128-CBC with HMAC-SHA256)."""

    def __init__(self, data_dir: Path) -> None:
        self._fernet = Fernet(_ensure_key(data_dir / KEY_FILE))

    def close(self, value: JsonValue) -> bytes:
        return self._fernet.encrypt(json.dumps(value).encode())

    def open(self, sealed: bytes) -> JsonValue:
        """The value, or None where the key is not the one it was sealed with."""
        try:
            value: JsonValue = json.loads(self._fernet.decrypt(sealed))
        except InvalidToken:
            return None
        return value


def _ensure_key(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    key = Fernet.generate_key()
    with os.fdopen(descriptor, "wb") as file:
        file.write(key)
    return key
