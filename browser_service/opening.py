"""Opens links with a secret in the person's own browser."""

import contextlib
import html
import os
import secrets
import sys
import threading
import time
import webbrowser
from pathlib import Path
from typing import Final

from browse_together.contract.data_files import LINK_FILES

_REDIRECT: Final = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}">'
_READ_WITHIN_S: Final = 120.0
"""Seconds after which even a browser that had to start has read its file."""
_looking_for_browsers: Final = threading.Lock()


def open_link(data_dir: Path, url: str) -> bool:
    """Open a link through a file that redirects there, and return whether a browser was found. Other accounts can read
    the arguments of a program, but not this file. Each link has its own file, because a browser may read it late."""
    _remove_read(data_dir)
    path = data_dir / LINK_FILES.replace("?" * 16, secrets.token_hex(8))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(_REDIRECT.format(html.escape(url)))
    with _looking_for_browsers, contextlib.suppress(webbrowser.Error):
        webbrowser.get()  # detects the browsers; a second thread would meanwhile find none
    return webbrowser.open(path.resolve().as_uri())


def _remove_read(data_dir: Path) -> None:
    for path in data_dir.glob(LINK_FILES):
        with contextlib.suppress(FileNotFoundError):  # another link is being opened at the same time
            if time.time() - path.stat().st_mtime > _READ_WITHIN_S:
                path.unlink()


def has_screen() -> bool:
    """Return whether a browser would open a window. A terminal browser would take over a terminal."""
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
