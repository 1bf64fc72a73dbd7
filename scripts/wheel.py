"""Builds the wheel from a copy of the sources, so that leftovers of other builds cannot get into it."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.pyc")


def project() -> dict[str, Any]:  # Any: TOML
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages() -> list[str]:
    """Return the names of the top-level packages to install."""
    return [pattern.rstrip("*") for pattern in project()["tool"]["setuptools"]["packages"]["find"]["include"]]


def build(into: Path) -> Path:
    """Build the wheel with this environment's setuptools, without a package index. Raises CalledProcessError."""
    about = project()["project"]
    with tempfile.TemporaryDirectory(prefix="browse-together-wheel-") as copy:
        for name in ("pyproject.toml", about["readme"], *about["license-files"]):
            shutil.copy2(ROOT / name, copy)
        for name in packages():
            shutil.copytree(ROOT / name, Path(copy, name), ignore=_LEFT_OUT)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"),
                *("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", into, copy),
            ],
            stdin=subprocess.DEVNULL,
            check=True,
        )
    return into / f"{about['name'].replace('-', '_')}-{about['version']}-py3-none-any.whl"
