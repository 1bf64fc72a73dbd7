"""Says where `config.toml` is. It stands apart because a gateway asks before it has loaded what reads that file."""

from pathlib import Path
from typing import Final

import platformdirs

from client import caller
from shared.data_files import CONFIG_FILE
from shared.wire import APP_NAME

VARIABLE: Final = "BROWSE_CONFIG"


def path() -> Path:
    """Return where the file is, or would be."""
    if named := caller.environ().get(VARIABLE):
        return caller.absolute(Path(named))
    return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False)) / CONFIG_FILE
