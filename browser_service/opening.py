"""Opens links with a secret in the person's own browser."""

import html
import os
import webbrowser
from pathlib import Path
from typing import Final

LINK_FILE: Final = "show.html"
_REDIRECT: Final = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}">'


def open_link(data_dir: Path, url: str) -> bool:
    """Open a link by a file that leads there, and return whether a browser was found: other accounts can read the
    arguments of a program, and not this file."""
    path = data_dir / LINK_FILE
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(_REDIRECT.format(html.escape(url)))
    return webbrowser.open(path.resolve().as_uri())
