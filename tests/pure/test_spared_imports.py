"""Tests that what a gateway is imported without is all there, should something ask for it, and that a service which
takes no hosts in has nothing of what that needs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GATEWAY = "from mcp_gateway.spared import spared\nwith spared():\n    import mcp_gateway.sharing.process\n"


def run(code: str) -> str:
    """Return what code prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("from mcp import ClientSession as it", "mcp.client.session ClientSession"),
        ("from mcp.server import MCPServer as it", "mcp.server.mcpserver.server MCPServer"),
        ("import mcp; it = mcp.UriTemplate", "mcp.shared.uri_template UriTemplate"),
        ("from mcp import types; it = types.Tool", "mcp_types._types Tool"),
        ("import cryptography.fernet; it = cryptography.fernet.Fernet", "cryptography.fernet Fernet"),
    ],
)
def test_spared_modules_are_imported_when_needed(asked: str, told: str) -> None:
    assert run(f"{GATEWAY}{asked}\nprint(it.__module__, it.__name__)") == told


def test_a_missing_attribute_is_still_an_error() -> None:
    assert run(f"{GATEWAY}import mcp\nprint(getattr(mcp, 'nonsense', 'nothing'))") == "nothing"


def test_a_service_that_takes_no_hosts_in_imports_nothing_for_them() -> None:
    code = """
import sys, tempfile
from browser_service.app import create_app
from browser_service.settings import Settings
create_app(Settings(data_dir=tempfile.gettempdir()))
print(*[name for name in sys.modules if name.startswith(("browser_service.carriers", "browser_service.fleet"))])
"""
    assert run(code) == ""
