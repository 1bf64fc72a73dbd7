"""Reads and writes configuration files of other programs: whole or not at all, with a copy of what was there."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from shared.errors import ValidationFailed

_BACKUP: Final = ".browse-together.bak"
_NEW_MODE: Final = 0o600
_MOST_BYTES: Final = 50_000_000


def backup_of(path: Path) -> Path:
    """Return where the copy of a file lies."""
    return path.with_name(f"{path.name}{_BACKUP}")


def read(path: Path, encoding: str = "utf-8") -> str | None:
    """Return a file's text, None if there is no such file. Raises ValidationFailed if it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValidationFailed(f"{path} is too large to be a configuration. It was left as it is.")
        return content.decode(encoding)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        raise ValidationFailed(
            f"{path} is no {encoding.upper()} text (line {line}, column {column}). It was left as it is.",
            hint=f"Save it as {encoding.upper()}, then repeat the command.",
        ) from None
    except OSError as error:
        raise ValidationFailed(f"{path} cannot be read: {error.strerror or error}.", hint=_hint(path)) from None


def check_writable(path: Path) -> None:
    """Raise ValidationFailed if a file may not be changed, or not be made."""
    target = path.resolve()
    if target.exists() and not (target.stat().st_mode & stat.S_IWUSR and os.access(target, os.W_OK)):
        raise ValidationFailed(f"{path} is read-only. It was left as it is.", hint=_hint(path))
    folder = next(each for each in target.parents if each.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise ValidationFailed(
            f"{path} cannot be written: {folder} does not let this account. Nothing was changed.", hint=_hint(folder)
        )


def save_backup(path: Path, content: str) -> Path:
    """Keep this text beside a file, for its reader alone. Returns where."""
    backup = backup_of(path)
    _write(backup, content.encode(), _mode(path.resolve()))
    return backup


def replace(path: Path, before: str | None, after: str, encoding: str = "utf-8") -> None:
    """Write a file whole, in place of what was read from it. A link stays one, and the file keeps its mode.

    Raises ValidationFailed if it has been changed since, or cannot be written.
    """
    check_writable(path)
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if read(path, encoding) != before:
            raise ValidationFailed(
                f"{path} was changed by another program meanwhile. It was left as it is.", hint="Repeat the command."
            )
        _write(target, after.encode(encoding), _mode(target))
    except OSError as error:
        raise ValidationFailed(f"{path} cannot be written: {error.strerror or error}.", hint=_hint(path)) from None


def _write(target: Path, content: bytes, mode: int) -> None:
    """Write beside the file first, and then in one step in its place."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(mode)
        _keep_owner(target, draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _keep_owner(target: Path, draft: Path) -> None:
    """Give the draft the owner of the file, which is another than us where an administrator runs this for a user."""
    if os.name == "posix" and target.exists():
        old, new = target.stat(), draft.stat()
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.chown(draft, old.st_uid, old.st_gid)


def _mode(target: Path) -> int:
    return stat.S_IMODE(target.stat().st_mode) if target.exists() else _NEW_MODE


def _hint(path: Path) -> str:
    return f"Make {path} usable for this account, or see what would be written there with --print."
