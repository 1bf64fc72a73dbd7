"""Provides a screen for windows that a person would see, where this machine has none."""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import pytest

_SIZE = "1280x800x24"


@contextlib.contextmanager
def screen() -> Iterator[str]:
    """Return the screen's name for DISPLAY. Skips the test where there is no Xvfb."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("windows need a screen: Xvfb is not installed (Debian: apt-get install xvfb)")
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [server, "-displayfd", "1", "-screen", "0", _SIZE, "-nolisten", "tcp"], stdout=subprocess.PIPE, stderr=said
        ) as running,
    ):
        try:
            assert running.stdout is not None
            number = running.stdout.readline().decode().strip()
            assert number.isdigit(), "the screen did not start"
            yield f":{number}"
        finally:
            running.terminate()
