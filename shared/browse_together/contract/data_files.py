"""Names the files that the product creates in a data directory."""

import os
from functools import partial
from pathlib import Path
from typing import Final

CONFIG_FILE: Final = "config.toml"
INSTANCE_LOCK: Final = "instance.lock"
HOST_ID_FILE: Final = "host-id"
"""The lasting id of a host elsewhere, whose data directory this is."""
JOURNAL_FILE: Final = "journal.sqlite3"
KEY_FILE: Final = "state.key"
SECRETS_FILE: Final = "secrets.sealed"
SECRETS_LOCK: Final = "secrets.lock"
GATEWAY_KEYS: Final = "mcp-keys"
PROFILE: Final = "profile"
ARTIFACTS: Final = "artifacts"
OUTPUT: Final = "output"
FLOWS: Final = "flows"
DRIVER_CACHE: Final = "driver-cache"
RAY_HOSTS: Final = "ray"
"""The data directories of hosts that Ray has started."""
EXTENSION_FOLDER: Final = "extension"
EXTENSION_FILE: Final = "extension.zip"
LINK_FILES: Final = f"show-{'?' * 16}.html"
SET_ASIDE: Final = ".damaged-"
"""The suffix of files that were set aside as unusable."""


def draft(path: Path, content: bytes) -> Path:
    """Write what a file will have to a draft beside it, which only this account can read, and return that, to be moved
    into place. Raises OSError."""
    written = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        # Made anew, under a name that nobody foresees: a link that lies there would lead us to another file.
        with open(written, "xb", opener=partial(os.open, mode=0o600)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a name without its content would be worse than none
    except OSError:
        written.unlink(missing_ok=True)
        raise
    return written
