"""Provides a screen for windows that a person would see, where this machine has none."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator

import pytest

from tests.support.waiting import PATIENCE_S

_SIZE = "1280x800x24"
_IN_FRONT = "_NET_ACTIVE_WINDOW"
_MANAGED = "_NET_SUPPORTING_WM_CHECK"


@contextlib.contextmanager
def screen() -> Iterator[str]:
    """Return the screen's name for DISPLAY. Skips the test where there is no Xvfb."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("windows need a screen: Xvfb is not installed (Debian: apt-get install xvfb)")
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [server, "-displayfd", "1", "-screen", "0", _SIZE, "-nolisten", "tcp", "-noreset"],
            stdout=subprocess.PIPE,
            stderr=said,
        ) as running,
    ):
        try:
            assert running.stdout is not None
            number = running.stdout.readline().decode().strip()
            assert number.isdigit(), "the screen did not start"
            yield f":{number}"
        finally:
            running.terminate()


def program(name: str) -> str:
    """Return the path of a program. Skips the test where there is none."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed (openbox, xdotool, x11-utils: Debian has them)")


class Desk:
    """A screen with a window manager, at which a person sits: one window is in front, and gets what they type."""

    def __init__(self, display: str) -> None:
        self.display = display
        self.fronts = list[str]()
        """The windows that came to the front, one after the other."""
        self._environment = {**os.environ, "DISPLAY": display}
        self._processes = [self._start("openbox")]
        self._reading = threading.Thread(target=self._read, daemon=True)

    async def ready(self) -> None:
        """Wait for the window manager; from then on all that comes to the front is noted."""
        async with asyncio.timeout(PATIENCE_S):
            while "window id" not in await asyncio.to_thread(self._ask, _MANAGED):
                pass  # asking takes a moment each time
        self._processes.append(self._start("xprop", "-spy", "-root", _IN_FRONT))
        self._reading.start()

    async def hand(self, *steps: str) -> str:
        """Do what a person's hand does, by xdotool."""
        running = await asyncio.create_subprocess_exec(
            program("xdotool"), *steps, env=self._environment, stdout=subprocess.PIPE
        )
        async with asyncio.timeout(PATIENCE_S):
            said, _ = await running.communicate()
        assert running.returncode == 0, steps
        return said.decode().strip()

    def end(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.wait(PATIENCE_S)

    def _ask(self, name: str) -> str:
        asked = [program("xprop"), "-root", name]
        return subprocess.run(asked, env=self._environment, capture_output=True, text=True, check=False).stdout

    def _start(self, name: str, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [program(name), *arguments],
            env=self._environment,
            stdout=subprocess.PIPE if name == "xprop" else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _read(self) -> None:
        """Note what comes to the front, until the program that tells it ends."""
        with self._processes[-1] as telling:
            for line in telling.stdout or ():
                if "window id #" in line:
                    self.fronts.append(line.rpartition("#")[2].strip())


@contextlib.contextmanager
def desk() -> Iterator[Desk]:
    """Provide a screen with a window manager."""
    with screen() as display:
        desk = Desk(display)
        try:
            yield desk
        finally:
            desk.end()
