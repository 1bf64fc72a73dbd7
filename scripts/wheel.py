"""Builds the wheel and the source archive from a copy of the sources, without leftovers of other builds."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
_SOURCE_ARCHIVE: Final = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.pyc")


def project() -> dict[str, Any]:  # Any: TOML
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages() -> dict[str, str]:
    """Return the names of the top-level packages to install, each with its folder."""
    about = project()["tool"]["setuptools"]
    names = [pattern.rstrip("*") for pattern in about["packages"]["find"]["include"]]
    return {name: about["package-dir"].get(name, name) for name in names}


def build(into: Path, archive: Path | None = None) -> Path:
    """Build the wheel, of a source archive if one is given, with this environment's setuptools and no package index.
    Raises CalledProcessError."""
    with _copied() as copy:
        _run(
            *("-m", "pip", "--disable-pip-version-check", "--quiet", "wheel", "--no-deps", "--no-build-isolation"),
            *("--no-index", "--wheel-dir", str(into), str(archive or copy)),
        )
    return into / f"{_stem()}-py3-none-any.whl"


def build_source(into: Path) -> Path:
    """Build the source archive in the same way. Raises CalledProcessError."""
    with _copied() as copy:
        _run("-c", _SOURCE_ARCHIVE, str(into.resolve()), within=copy)
    return into / f"{_stem()}.tar.gz"


@contextmanager
def _copied() -> Iterator[Path]:
    about = project()["project"]
    with tempfile.TemporaryDirectory(prefix="browse-together-wheel-") as copy:
        for name in ("pyproject.toml", about["readme"], *about["license-files"]):
            shutil.copy2(ROOT / name, copy)
        for folder in packages().values():
            shutil.copytree(ROOT / folder, Path(copy, folder), ignore=_LEFT_OUT)
        yield Path(copy)


def _run(*arguments: str, within: Path | None = None) -> None:
    subprocess.run(
        [sys.executable, *arguments], cwd=within, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
    )


def _stem() -> str:
    about = project()["project"]
    return f"{about['name'].replace('-', '_')}-{about['version']}"
