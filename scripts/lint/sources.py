"""The Python files of the source tree."""

import ast
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PYTHON_CLIENT: Final = "shared/browse_together"
CONTRACT: Final = f"{PYTHON_CLIENT}/contract"
CLIENT: Final = f"{PYTHON_CLIENT}/client"
PACKAGES: Final = (PYTHON_CLIENT, "browser_service", "mcp_gateway", "mcp_home_simulator")
AROUND: Final = ("tests", "examples", "benchmarks", "conformance", "scripts")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def files(*places: str) -> list[Path]:
    """Return the modules in folders, or the named modules."""
    found = [ROOT / each for each in places]
    return sorted(path for each in found for path in (each.rglob("*.py") if each.is_dir() else [each]))


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
