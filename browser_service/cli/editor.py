"""Lets a person edit a text in the editor of their choice."""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from client import config_file
from shared.errors import ServiceUnavailable

_EDITORS: Final = ("sensible-editor", "nano", "vim", "vi", "notepad")


def edited(text: str, file: Path) -> str:
    """Return the text of a file as edited by a person. Raises ServiceUnavailable if no editor can be started."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _EDITORS), "vi")
    with tempfile.TemporaryDirectory(prefix="browse-together-") as folder:
        copy = Path(folder, file.name)
        copy.write_text(text, encoding="utf-8", newline="")
        try:
            code = subprocess.call([*shlex.split(editor), str(copy)])
        except OSError as error:
            raise ServiceUnavailable(
                f"The editor {editor!r} cannot be started: {error}.", hint=f"Set EDITOR, or edit {file} yourself."
            ) from None
        if code:
            raise ServiceUnavailable(f"The editor {editor!r} ended with exit code {code}; nothing was changed.")
        return config_file.text_of(copy)
