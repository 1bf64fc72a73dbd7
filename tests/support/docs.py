"""Reads the pages that people read."""

import re

from scripts.lint.documents import PAGES, page
from scripts.lint.sources import ROOT

__all__ = ["PAGES", "ROOT", "commands", "page"]


def commands(name: str) -> list[str]:
    """Return the commands that a page tells its readers to type, in their order."""
    blocks = re.findall(r"^```console\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]
