"""Says where the sockets of an account's gateways are. A launcher asks at once, and loads little for it."""

import os
import stat
from collections.abc import Mapping

from shared.wire import APP_NAME


def socket_folder(environment: Mapping[str, str]) -> str:
    """Return the folder for programs of such an environment, whether or not it is there."""
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _is_ours(runtime):  # noqa: PTH117 - without pathlib
        return f"{runtime}/{APP_NAME}"
    return f"{environment.get('TMPDIR', '').rstrip('/') or '/tmp'}/{APP_NAME}-{os.getuid()}"  # noqa: S108 - checked


def _is_ours(folder: str) -> bool:
    """Return whether it is a folder of this account: `sudo -E` brings along that of another one."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - as above
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
