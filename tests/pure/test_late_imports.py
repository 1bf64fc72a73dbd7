"""Tests that a service which takes no hosts in has nothing of what that needs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(code: str) -> list[str]:
    """Return the lines that code prints in an interpreter of its own."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_service_that_takes_no_hosts_in_imports_nothing_for_them() -> None:
    code = """
import sys, tempfile
from browser_service.app import create_app
from browser_service.settings import Settings
create_app(Settings(data_dir=tempfile.gettempdir()))
print(*[name for name in sys.modules if name.startswith(("browser_service.carriers", "browser_service.fleet"))])
"""
    assert run(code) == [""]
