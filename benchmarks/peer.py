"""Starts the peer: Playwright's own MCP server, installed by npm in the user's cache."""

import os
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
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Skipped(f"skipped: {NAME} needs node and npm, which are not on the PATH")
    folder = Path(platformdirs.user_cache_dir("browse-together", appauthor=False)) / f"playwright-mcp-{VERSION}"
    program = folder / "node_modules" / NAME / "cli.js"
    done = folder / "installed"
    if not done.exists():
        install(npm, folder, f"{NAME}@{VERSION}")
        done.touch()
    return [node, str(program), "--headless"]


def isolated(browser: str, output: str) -> list[str]:
    """Return the command that starts the peer with its own browser, without the user's files. It writes to `output`."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [*command(), "--isolated", "--executable-path", browser, "--output-dir", output, *sandbox]


def install(npm: str, folder: Path, package: str) -> None:
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
