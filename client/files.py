"""A call names files of this machine: those in the folders that are open to it are sent ahead, and no others."""

import asyncio
import copy
import mimetypes
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from client.http import ServiceClient
from shared.catalogue import NAMES
from shared.errors import Details, Forbidden, ValidationFailed, field_details
from shared.model import Json
from shared.wire import FILE_BYTES

_CONTENTS: Final = frozenset({"text", "data", "artifactId", "artifact_id"})
_FIELD: Final[Details] = field_details("files")


def names_files(tool: str, arguments: Json) -> bool:
    """Say whether a call names files without their contents."""
    return any(_named(tool, arguments))


async def sent_ahead(service: ServiceClient, tool: str, arguments: Json, folders: Sequence[Path]) -> Json:
    """Return the arguments with what lies in the folders sent ahead, and named as the service knows it. What lies
    elsewhere stays as it is. Raises BrowseError for what may not be sent."""
    arguments, left = copy.deepcopy(arguments), FILE_BYTES
    for file in _named(tool, arguments):
        name = str(file.get("path") or file["name"])
        path = await asyncio.to_thread(_found, name, folders, service.autostart.data_dir)
        if path is not None:
            data = await asyncio.to_thread(_read, path, left)
            left -= len(data)
            given = str(file.get("name") or "") if file.get("path") else ""
            file |= {"name": given or path.name, "artifactId": await service.upload(data)}
            file.setdefault("mimeType", mimetypes.guess_type(path.name)[0] or "application/octet-stream")
            file.pop("path", None)
    return arguments


def _named(tool: str, arguments: Json) -> Iterator[Json]:
    """Yield the files of a call, and of the calls in it, that come without content."""
    if tool not in NAMES:
        return
    action = NAMES[tool].action
    for each in (arguments, *(arguments.get(bag) for bag in action.option_bags)):
        if not isinstance(each, dict):
            continue
        if "files" in action.model_fields and isinstance(files := each.get("files"), list):
            yield from (file for file in _dicts(files) if _has_name_alone(file))
        for part in (part for name in action.part_fields for part in _dicts(each.get(name))):
            yield from _named(str(part.get("action")), part)


def _dicts(value: JsonValue) -> Iterator[Json]:
    return (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict))


def _has_name_alone(file: Json) -> bool:
    name = file.get("path") or file.get("name")
    return not _CONTENTS & file.keys() and isinstance(name, str) and bool(name) and "\0" not in name


def _found(name: str, folders: Sequence[Path], secrets: Path) -> Path | None:
    """Return the file in the folders, without links; None where it is in none of them. Raises Forbidden for a link that
    leads out of its folder, and for the service's own data."""
    for folder in folders:
        path = Path(os.path.normpath(folder / name))
        if not path.is_relative_to(folder) or not _is_there(path):
            continue
        real = path.resolve()
        if not real.is_relative_to(folder.resolve()):
            raise Forbidden(f"{name!r} is a link, or behind one, that leads out of {folder}: it is not followed.")
        if real.is_relative_to(secrets.resolve()):
            hint = 'A file that a reply named: {"name": "...", "artifactId": "..."}.'
            raise Forbidden(f"{name!r} is the browser service's own.", hint=hint)
        return real
    return None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no system has, or a folder that is not ours to look into
        return False


def _read(path: Path, most: int) -> bytes:
    """Return the bytes of a file. Raises ValidationFailed for what is no file, or larger than `most`."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ValidationFailed(f"{str(path)!r} is no file.", hint="Name a file.", details=_FIELD)
            data = file.read(most + 1)
    except OSError as error:
        raise ValidationFailed(
            f"{str(path)!r} cannot be read: {error.strerror or error}.", hint="Name another file.", details=_FIELD
        ) from None
    if len(data) > most:
        raise ValidationFailed(
            f"{str(path)!r} has more bytes than the {FILE_BYTES:,} that one call may upload.",
            hint="Give fewer at once.",
            details=_FIELD,
        )
    return data
