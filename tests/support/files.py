"""Reads the files of replies, as a person finds them on this machine."""

from pathlib import Path

from tests.support.json import AnyJson


def bytes_of(artifact: AnyJson) -> bytes:
    """Return the contents of the file that a reply names. Only its owner may read it."""
    path = Path(artifact["path"])
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_bytes()
