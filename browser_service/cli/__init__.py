"""Provides the command `browse-together`."""

from browser_service.cli.root import main

__all__ = ["main"]
