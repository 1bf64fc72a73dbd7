"""Finds `config.toml`. This is a separate module because a gateway needs the path before it has loaded what reads the
file."""

from pathlib import Path
from typing import Final

import platformdirs

from client import caller
from shared.data_files import CONFIG_FILE
from shared.wire import APP_NAME

VARIABLE: Final = "BROWSE_CONFIG"


def path() -> Path:
    """Return the file's path, whether or not it exists."""
    if named := caller.environ().get(VARIABLE):
        return caller.absolute(Path(named))
    return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False)) / CONFIG_FILE
