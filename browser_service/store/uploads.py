"""Reads files for upload, only from the folders that the operator opened for it."""

from collections.abc import Iterable
from pathlib import Path

from browse_together.contract.errors import BrowseError, Details, Forbidden, ValidationFailed, field_details

_BYTES = 'Send its content: {"name": "...", "data": "<base64>"}, or "text".'
_NOWHERE = "no upload folder of the service (BROWSE_UPLOAD_ROOTS), and in no root that your MCP client names"
_FIELD: Details = field_details("files")


class UploadRoots:
    def __init__(self, roots: Iterable[Path] = ()) -> None:
        self._roots = [root.resolve() for root in roots]

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return the file's bytes. Raises Forbidden if the name leads out of the folders, ValidationFailed if there is
        no such file or it is larger than `max_bytes`."""
        path = self._find(name)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ValidationFailed(
                f"{name!r} is larger than {max_bytes:,} bytes, the most that one upload may have.", details=_FIELD
            )
        return data

    def has(self, name: str) -> bool:
        """Return whether such a file may be uploaded."""
        try:
            self._find(name)
        except BrowseError:
            return False
        return True

    def _find(self, name: str) -> Path:
        relative = Path(name)
        in_roots = any(relative.is_relative_to(root) for root in self._roots)
        if ".." in relative.parts or "\0" in name or (relative.is_absolute() and not in_roots):
            raise Forbidden(f"{name!r} is in {_NOWHERE}: a file elsewhere is never read.", hint=_BYTES)
        for root in self._roots:
            path = root / relative
            if not path.is_relative_to(root) or not _is_file(path):
                continue
            if path.resolve() != path:
                raise Forbidden(f"{name!r} is a link, or behind one: those are not followed.", hint=_BYTES)
            return path
        raise ValidationFailed(
            f"There is no file {name!r} in the upload folders (BROWSE_UPLOAD_ROOTS), or in a root of your MCP client."
            if self._roots
            else f"{name!r} comes without content, the service has no upload folders (BROWSE_UPLOAD_ROOTS), and it is"
            " in no root that your MCP client names.",
            hint=_BYTES,
            details=_FIELD,
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no system allows, or a folder that we may not look into
        return False
