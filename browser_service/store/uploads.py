"""The folders that the operator opened for uploads: a caller gives a name in them, never a path elsewhere."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from shared.errors import Details, Forbidden, ValidationFailed

_BYTES = 'Send its content: {"name": "...", "data": "<base64>"}, or "text".'
_FIELD: Details = {"context": {"field": "files"}}


class UploadRoots:
    def __init__(self, roots: Iterable[Path] = ()) -> None:
        self._roots = [root.resolve() for root in roots]

    def read(self, name: str, most: int) -> bytes:
        """The file's bytes. Raises Forbidden for what leads out of the folders, ValidationFailed for what is not there
        or is larger than `most`."""
        path = self._find(name)
        with path.open("rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise ValidationFailed(
                f"{name!r} is larger than {most:,} bytes, the most that one upload may have.", details=_FIELD
            )
        return data

    def _find(self, name: str) -> Path:
        wanted = PurePosixPath(name)
        if wanted.is_absolute() or ".." in wanted.parts or "\\" in name or "\0" in name:
            raise Forbidden(f"{name!r} is no name in the upload folders: a path elsewhere is never read.", hint=_BYTES)
        for root in self._roots:
            path = root / wanted
            if not path.is_file():
                continue
            if path.resolve() != path:
                raise Forbidden(f"{name!r} is a link, or behind one: those are not followed.", hint=_BYTES)
            return path
        raise ValidationFailed(
            f"There is no file {name!r} in the upload folders."
            if self._roots
            else f"{name!r} comes without content, and the service has no upload folders (BROWSE_UPLOAD_ROOTS).",
            hint=_BYTES,
            details=_FIELD,
        )
