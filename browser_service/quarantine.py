"""Sets unusable files aside: it renames them, and never deletes one."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from browse_together.contract.data_files import SET_ASIDE


def set_aside(path: Path, companions: Sequence[str] = ()) -> Path:
    """Rename a file or folder, together with the files beside it that have its name and one of these endings. Return
    the new path."""
    stem = f"{path.name}{SET_ASIDE}{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 100))]
    target = next(free for name in names if not (free := path.with_name(name)).exists())
    for ending in companions:
        beside = path.with_name(path.name + ending)
        if beside.exists():
            beside.rename(target.with_name(target.name + ending))
    path.rename(target)
    return target


def files_set_aside(data_dir: Path) -> list[Path]:
    """Return the files that were set aside in a data directory, without their companions."""
    return sorted(path for path in data_dir.glob(f"*{SET_ASIDE}*") if not path.name.endswith(("-wal", "-shm")))
