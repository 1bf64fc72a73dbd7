"""The program of the command `mcp-gateway`."""

import browse_together.first  # noqa: F401 - it goes before our other packages
from mcp_gateway.__main__ import main

__all__ = ["main"]
