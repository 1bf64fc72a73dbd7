"""Installs the Node programs with npm, in the versions that `package.json` beside this file names."""

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Final

from playwright._impl._driver import compute_driver_executable  # no public function returns its Node

FOLDER: Final = Path(__file__).parent
MODULES: Final = FOLDER / "node_modules"
_INSTALLED_WITHIN_S: Final = 300
_QUIETLY: Final = ("--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


class NotInstalled(Exception):
    """The programs cannot be installed. The text says what to do."""


def node() -> str:
    """Return Playwright's own Node, because the suites need a newer one than most systems have."""
    return str(compute_driver_executable()[0])


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
