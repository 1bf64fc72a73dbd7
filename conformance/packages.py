"""Installs the Node programs with npm, in the versions that `package.json` beside this file names."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import playwright

FOLDER: Final = Path(__file__).parent
MODULES: Final = FOLDER / "node_modules"
DRIVER: Final = Path(playwright.__file__).with_name("driver")
_INSTALLED_WITHIN_S: Final = 300
_QUIETLY: Final = ("--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


class NotInstalled(Exception):
    """The programs cannot be installed. The text says what to do."""


def node() -> str:
    """Return Playwright's own Node, because the suites need a newer one than most systems have."""
    return os.environ.get("PLAYWRIGHT_NODEJS_PATH") or str(DRIVER / ("node.exe" if os.name == "nt" else "node"))


def install() -> None:
    """Install the packages, unless these versions are there already. Raises NotInstalled."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise NotInstalled("npm and node are not on the PATH. On Debian and Ubuntu: apt-get install nodejs npm")
    stamp = MODULES / ".installed"
    wanted = hashlib.sha256((FOLDER / "package.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text("ascii") == wanted:
        return
    try:
        done = subprocess.run(
            [npm, "install", *_QUIETLY],
            cwd=FOLDER,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=_INSTALLED_WITHIN_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"npm could not install {FOLDER / 'package.json'}: {error}") from None
    if done.returncode != 0:
        raise NotInstalled(f"npm could not install {FOLDER / 'package.json'}:\n{done.stdout.decode(errors='replace')}")
    stamp.write_text(wanted, "ascii")


if __name__ == "__main__":
    install()
