"""Reads and writes configuration files, completely or not at all, and keeps a backup of other programs' files."""

import os
import stat
from pathlib import Path
from typing import Final

from browse_together.contract.data_files import draft
from browse_together.contract.errors import ValidationFailed

_BACKUP: Final = ".browse-together.bak"
_NEW_MODE: Final = 0o600
_MOST_BYTES: Final = 50_000_000


def backup_of(path: Path) -> Path:
    """Return the path of a file's backup."""
    return path.with_name(f"{path.name}{_BACKUP}")


def read(path: Path) -> str | None:
    """Return a file's text; None without a file. Raises ValidationFailed if it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValidationFailed(f"{path} is too large to be a configuration. It was left as it is.")
        return content.decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ValidationFailed(
            f"{path} is no UTF-8 text (line {line}). It was left as it is.",
            hint="Save it as UTF-8, then repeat the command.",
        ) from None
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror or error}") from None


def check_writable(path: Path) -> None:
    """Raise ValidationFailed for a file that is read-only."""
    if path.exists() and not (path.stat().st_mode & stat.S_IWUSR and os.access(path, os.W_OK)):
        raise _unusable(path, "is read-only")


def replace(path: Path, before: str | None, after: str) -> None:
    """Replace a file's text that was read before. Raises ValidationFailed if another program has changed the file
    since, or it cannot be written."""
    check_writable(path)
    if read(path) != before:
        raise ValidationFailed(
            f"{path} was changed by another program meanwhile. It was left as it is.", hint="Repeat the command."
        )
    try:
        write(path, after.encode())
    except OSError as error:
        raise _unusable(path, f"cannot be written: {error.strerror or error}") from None


def keep(path: Path, before: str) -> Path:
    """Keep a file's text beside it, in place of the last backup or of a link that lies there, and return where. Raises
    ValidationFailed if it cannot be written."""
    backup = backup_of(path)
    try:
        written = draft(backup, before.encode())
        try:
            written.replace(backup)
        finally:
            written.unlink(missing_ok=True)
    except OSError as error:
        raise _unusable(backup, f"cannot be written: {error.strerror or error}") from None
    return backup


def write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a temporary file beside the path, then move it there in one step. Links are kept. The file keeps its owner,
    and its mode unless one is given. Raises OSError."""
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = draft(target, content)
    try:
        own = stat.S_IMODE(target.stat().st_mode) if target.exists() else _NEW_MODE
        written.chmod(own if mode is None else mode)
        if os.name == "posix" and target.exists() and target.stat().st_uid != written.stat().st_uid:
            os.chown(written, target.stat().st_uid, target.stat().st_gid)  # an administrator runs this for a user
        written.replace(target)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def _unusable(path: Path, problem: str) -> ValidationFailed:
    return ValidationFailed(
        f"{path} {problem}. Nothing was changed.",
        hint=f"Make {path} usable for this account, or see what would be written there with --print.",
    )
