"""Names all that the product makes in a data directory: whoever makes it, and `uninstall`, which takes it away, read
its name here."""

from pathlib import Path
from typing import Final

from shared.wire import INSTANCE_FILE, LOG_FILE, SECRET_FILE, START_LOCK

CONFIG_FILE: Final = "config.toml"
INSTANCE_LOCK: Final = "instance.lock"
JOURNAL_FILE: Final = "journal.sqlite3"
KEY_FILE: Final = "state.key"
SECRETS_FILE: Final = "secrets.sealed"
SECRETS_LOCK: Final = "secrets.lock"
GATEWAY_KEYS: Final = "mcp-keys"
PROFILE: Final = "profile"
ARTIFACTS: Final = "artifacts"
OUTPUT: Final = "output"
DRIVER_CACHE: Final = "driver-cache"
LINK_FILES: Final = f"show-{'?' * 16}.html"
SET_ASIDE: Final = ".damaged-"
"""Comes after the name of what was set aside."""

MADE: Final = (
    *(f"{name}*" for name in (CONFIG_FILE, JOURNAL_FILE, LOG_FILE, PROFILE)),  # and what they have beside them
    *(SECRET_FILE, INSTANCE_FILE, INSTANCE_LOCK, START_LOCK, KEY_FILE, SECRETS_FILE, SECRETS_LOCK, GATEWAY_KEYS),
    *(ARTIFACTS, OUTPUT, DRIVER_CACHE, LINK_FILES, f"*{SET_ASIDE}*"),
    *(f".{name}.*" for name in (SECRET_FILE, SECRETS_FILE)),  # as `draft_of` makes it
)
"""All these names and no others, because a person's own files may lie there too."""


def draft_of(path: Path, writer: int) -> Path:
    """Return where a process writes what is to become a file at once."""
    return path.with_name(f".{path.name}.{writer}")
