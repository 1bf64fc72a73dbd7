"""Starts the peer: Playwright's own MCP server, installed by npm in the user's cache."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import platformdirs

from benchmarks.figures import Skipped

NAME: Final = "@playwright/mcp"
VERSION: Final = "0.0.83"

_INSTALLED_WITHIN_S = 120


def command() -> list[str]:
    """Return the command that starts the peer, after installing it if necessary. Raises Skipped."""
    program = installed(f"{NAME}@{VERSION}") / "cli.js"
    return [shutil.which("node") or "node", str(program), "--headless"]


def installed(package: str) -> Path:
    """Return the folder of a package of npm in the user's cache, installed if need be. Raises Skipped."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise Skipped(f"skipped: {package} needs node and npm, which are not on the PATH")
    name, _, version = package.rpartition("@")
    folder = Path(platformdirs.user_cache_dir("browse-together", appauthor=False))
    folder /= f"{re.sub(r'[^a-z0-9]+', '-', name).strip('-')}-{version}"
    done = folder / "installed"
    if not done.exists():
        _install(npm, folder, package)
        done.touch()
    return folder / "node_modules" / name


def isolated(browser: str, output: str) -> list[str]:
    """Return the command that starts the peer with its own browser, without the user's files. It writes to `output`."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [*command(), "--isolated", "--executable-path", browser, "--output-dir", output, *sandbox]


def _install(npm: str, folder: Path, package: str) -> None:
    """Install a package in a folder. Raises Skipped."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--no-save", package]
    try:
        subprocess.run(
            command,
            env=os.environ | {"PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_INSTALLED_WITHIN_S,
        )
    except (subprocess.SubprocessError, OSError) as error:
        raise Skipped(f"skipped: npm could not install {package} ({type(error).__name__})") from error
