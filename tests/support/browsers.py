"""Which browser the services in the tests' own process start.

Chromium's headless shell has the engine of the whole browser and nothing of what is around it: a window costs a fifth
of the processor's time, a start an eighth (measured on Chromium 156). It is taken where it is installed, but not by
modules with the mark `whole_browser`, which are about logins, profiles and crashes. Services that are processes of
their own run in the whole browser always, as everybody's do; `BROWSE_TESTS_BROWSER=whole` has all tests run in that.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_DEBIANS: Final = Path("/usr/lib/chromium/chromium-headless-shell")
"""Itself, not the script that starts it: what a test kills must be the browser."""


def _light() -> Path | None:
    return _DEBIANS if _DEBIANS.exists() and os.environ.get("BROWSE_TESTS_BROWSER") != "whole" else None


_chosen = _light()


def executable() -> Path | None:
    """None: as the service finds it for everybody."""
    return _chosen


@contextmanager
def whole() -> Iterator[None]:
    global _chosen  # noqa: PLW0603 - tests of one process run one after another
    _chosen, before = None, _chosen
    try:
        yield
    finally:
        _chosen = before
