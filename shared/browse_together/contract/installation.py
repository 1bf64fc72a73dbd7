"""Finds this installation's commands, in a form that runs anywhere, and the one that adds an optional package to it."""

import json
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from browse_together.contract.wire import APP_NAME

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


GATEWAY: Final = "mcp-gateway"
_MODULES: Final = MappingProxyType({APP_NAME: "browser_service", GATEWAY: "mcp_gateway"})


@cache
def program(name: str) -> tuple[str, ...]:
    """Return the absolute path of one of our programs; if its script is not installed, the interpreter and the
    module."""
    file = f"{name}.exe" if os.name == "nt" else name
    scripts = (folder.absolute() / file for folder in _script_folders())
    found = next((script for script in scripts if script.is_file()), None)
    return (str(found),) if found else (sys.executable, "-m", _MODULES[name])


def command(*arguments: str) -> str:
    """Return a command of `browse-together` as it must be typed here."""
    return typed(*program(APP_NAME), *arguments)


def typed(*words: str) -> str:
    """Return a command line as it must be typed in this system's shell."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _script_folders() -> Iterator[Path]:
    """Yield the folders for this interpreter's scripts. The user's folder is included only if we are installed
    there."""
    yield Path(sys.executable).parent
    yield Path(sysconfig.get_path("scripts"))
    user = sysconfig.get_preferred_scheme("user")
    if Path(__file__).is_relative_to(sysconfig.get_path("purelib", user)):
        yield Path(sysconfig.get_path("scripts", user))
