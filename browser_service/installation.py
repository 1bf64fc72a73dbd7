"""Finds the command that adds an optional package to this installation, however it was made."""

import json
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from shared.wire import APP_NAME

_PIPX_NOTES: Final = "pipx_metadata.json"
_UV_NOTES: Final = "uv-receipt.toml"
"""These files are at the top of environments that `pipx install` and `uv tool install` make."""


def install_command(extra: str) -> str:
    """Return the command that installs what an extra of this program needs."""
    environment = Path(sys.prefix)
    if (environment / _UV_NOTES).is_file():  # its next upgrade drops packages that were added by other means
        return f'uv tool install --force "{APP_NAME}[{extra}]{_origin()}"'
    packages = " ".join(f'"{package}"' for package in _packages(extra))
    if (environment / _PIPX_NOTES).is_file():
        return f"pipx inject {APP_NAME} {packages}"
    if find_spec("pip"):
        return f'"{sys.executable}" -m pip install {packages}'
    return f'uv pip install --python "{sys.executable}" {packages}'


def _packages(extra: str) -> list[str]:
    """Return what the extra requires, such as `av<20,>=18`."""
    with suppress(PackageNotFoundError):
        required = (text.partition(";") for text in distribution(APP_NAME).requires or ())
        marked = {f'extra=="{extra}"', f"extra=='{extra}'"}
        return [package.strip() for package, _, marker in required if marker.replace(" ", "") in marked]
    return [f"{APP_NAME}[{extra}]"]


def _origin() -> str:
    """Return the origin of this installation as a suffix for a requirement; empty if it came from a package index."""
    with suppress(PackageNotFoundError, ValueError, KeyError, TypeError):
        origin = json.loads(distribution(APP_NAME).read_text("direct_url.json") or "{}")
        if "vcs_info" in origin:
            return f" @ {origin['vcs_info']['vcs']}+{origin['url']}@{origin['vcs_info']['commit_id']}"
        return f" @ {origin['url']}"
    return ""
