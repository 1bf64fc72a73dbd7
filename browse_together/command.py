"""The program of the command `browse-together`."""

import browse_together.first  # noqa: F401 - it goes before our other packages
from browser_service.cli import main

__all__ = ["main"]
