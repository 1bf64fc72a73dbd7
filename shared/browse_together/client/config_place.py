"""Finds `config.toml`. This is a separate module because a gateway needs the path before it has loaded what reads the
file."""

import os
import sys
from pathlib import Path
from typing import Final

from browse_together.client import caller
from browse_together.contract.data_files import CONFIG_FILE
from browse_together.contract.wire import APP_NAME

VARIABLE: Final = "BROWSE_CONFIG"


def path() -> Path:
    """Return the file's path, whether or not it exists."""
    if named := caller.environ().get(VARIABLE):
        return caller.absolute(Path(named))
    return _folder() / CONFIG_FILE


def _folder() -> Path:
    """Return the platform's folder for our settings. On Linux this is what platformdirs says, which takes 8 ms to
    load."""
    home = os.environ.get("HOME", "")
    if sys.platform == "linux" and home.startswith("/") and "ANDROID_DATA" not in os.environ:
        given = os.environ.get("XDG_CONFIG_HOME", "")
        return Path(given if given.startswith("/") else f"{home}/.config") / APP_NAME
    import platformdirs  # noqa: PLC0415 - as said

    return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False))
