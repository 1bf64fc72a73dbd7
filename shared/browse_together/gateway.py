"""The program of the command `mcp-gateway`."""

from mcp_gateway.__main__ import main

__all__ = ["main"]
