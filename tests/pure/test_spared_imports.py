"""Tests that what a gateway is imported without is all there, should something ask for it, and that a service which
takes no hosts in has nothing of what that needs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GATEWAY = """
import os, sys
from mcp_gateway.spared import spared
with spared():
    import mcp_gateway.sharing.process
for asked in sys.argv[1:]:
    if not os.fork():
        exec(asked)
        sys.exit(print(it.__module__, it.__name__))
    os.wait()
"""
SPARED = {
    "from mcp import ClientSession as it": "mcp.client.session ClientSession",
    "from mcp.server import MCPServer as it": "mcp.server.mcpserver.server MCPServer",
    "import mcp; it = mcp.UriTemplate": "mcp.shared.uri_template UriTemplate",
    "from mcp import types; it = types.Tool": "mcp_types._types Tool",
    "import cryptography.fernet; it = cryptography.fernet.Fernet": "cryptography.fernet Fernet",
    "import mcp; it = type(getattr(mcp, 'nonsense', None))": "builtins NoneType",
}


def run(code: str, *arguments: str) -> list[str]:
    """Return the lines that code prints in an interpreter of its own."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_spared_modules_are_imported_when_needed_and_what_is_missing_is_still_an_error() -> None:
    """Each in a copy of a process that has imported a gateway."""
    assert dict(zip(SPARED, run(GATEWAY, *SPARED), strict=True)) == SPARED


def test_a_service_that_takes_no_hosts_in_imports_nothing_for_them() -> None:
    code = """
import sys, tempfile
from browser_service.app import create_app
from browser_service.settings import Settings
create_app(Settings(data_dir=tempfile.gettempdir()))
print(*[name for name in sys.modules if name.startswith(("browser_service.carriers", "browser_service.fleet"))])
"""
    assert run(code) == [""]
