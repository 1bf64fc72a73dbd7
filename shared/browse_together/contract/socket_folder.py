"""Finds the folder for the sockets of an account's gateways. Launchers need it at once, so this imports little."""

import os
import stat
from collections.abc import Mapping

from browse_together.contract.wire import APP_NAME


def socket_folder(environment: Mapping[str, str]) -> str:
    """Return the folder for programs with such an environment, whether or not it exists."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _is_ours(runtime):  # noqa: PTH117 - without pathlib
        return f"{runtime}/{APP_NAME}"
    return f"{environment.get('TMPDIR', '').rstrip('/') or '/tmp'}/{APP_NAME}-{os.getuid()}"  # noqa: S108 - checked


def _is_ours(folder: str) -> bool:
    """Return whether the folder is this account's: `sudo -E` keeps another account's environment."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - as above
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
