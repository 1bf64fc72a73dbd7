"""Finds this installation's commands, in a form that runs anywhere, even if its scripts are not on the PATH."""

import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from shared.wire import APP_NAME

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
