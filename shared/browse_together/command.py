"""The program of the command `browse-together`."""

from browser_service.cli import main

__all__ = ["main"]
