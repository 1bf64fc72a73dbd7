"""Runs the browser in which a person lives, on a screen: one that nobody started to be driven, and that asks its person
who may attach to it."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import psutil
import pytest
from PIL import ImageGrab

from browser_service.host.sessions.executables import installed_browser
from tests.support.screen import screen
from tests.support.waiting import PATIENCE_S, become

_SWITCH: Final = {"devtools": {"remote_debugging": {"user-enabled": True}}}
"""What chrome://inspect/#remote-debugging writes into Local State."""
_ALLOW: Final = (663, 306)
_CANCEL: Final = (574, 306)
"""Where the buttons of the question are in a window of this size at the screen's corner."""
_STRIP: Final = (800, 15)
"""A place of the tab strip, which is dimmed while it asks."""
_DIMMED: Final = 200
_BETWEEN_PRESSES_S: Final = 0.7
"""Chromium takes no press for half a second, so that nobody answers by a double click."""
_WINDOW: Final = ("--window-position=0,0", "--window-size=1000,700")


class PersonsChrome:
    """A person's browser. With `switched_on`, its person lets programs ask whether they may attach."""

    def __init__(self, directory: Path, display: str, *, switched_on: bool = True) -> None:
        self.directory, self._display = directory, display
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "Local State").write_text(json.dumps(_SWITCH if switched_on else {}))
        self.port_file = directory / "DevToolsActivePort"
        self.process = self.start()

    def start(self, url: str = "about:blank") -> "subprocess.Popen[bytes]":
        """Start it, again if it has ended, as its person would; or open a URL in a new tab of the one that runs."""
        executable = installed_browser()
        assert executable is not None
        profile = f"--user-data-dir={self.directory}"
        self.process = subprocess.Popen(
            [executable, "--no-sandbox", "--no-first-run", *_WINDOW, profile, url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "DISPLAY": self._display},
        )
        return self.process

    def open(self, url: str) -> None:
        """Open a URL in a new tab, as a person would."""
        running = self.process
        opening = self.start(url)
        opening.wait(PATIENCE_S)
        self.process = running

    async def ready(self, earlier: str = "") -> None:
        """Wait until programs may ask. `earlier` is what the port file had before a restart."""
        await become(lambda: self._port_file() not in {"", earlier})

    def _port_file(self) -> str:
        text = self.port_file.read_text() if self.port_file.exists() else ""
        return text if text.count("\n") >= 1 else ""

    async def restart(self) -> None:
        """Kill it, and start it again."""
        earlier = self._port_file()
        self.kill()
        self.start()
        await self.ready(earlier)

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    def press(self, *keys: str) -> None:
        """Press keys, as its person."""
        self._hand("key", *keys)

    def click(self, x: int, y: int) -> None:
        """Click at a place of the screen, as its person."""
        self._hand("mousemove", str(x), str(y), "click", "1")

    @property
    def asks(self) -> bool:
        """True while it asks its person, as the screen shows: nothing else tells."""
        return 0 < _blue(ImageGrab.grab(xdisplay=self._display).getpixel(_STRIP)) < _DIMMED

    async def allow(self) -> None:
        """Press Allow, once it asks."""
        await self._answer(*_ALLOW)

    async def refuse(self) -> None:
        """Press Cancel, once it asks."""
        await self._answer(*_CANCEL)

    async def _answer(self, x: int, y: int) -> None:
        """Press a button until the question is gone: one that has just come up takes no press, nor two in a row."""
        await become(lambda: self.asks)
        async with asyncio.timeout(PATIENCE_S):
            while self.asks:
                await asyncio.sleep(_BETWEEN_PRESSES_S)
                self.click(x, y)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_BETWEEN_PRESSES_S):
                        await become(lambda: not self.asks)

    def picture(self, path: Path) -> None:
        """Take a picture of the screen, for whoever looks for a failure."""
        ImageGrab.grab(xdisplay=self._display).save(path)

    def _hand(self, *words: str) -> None:
        hand = shutil.which("xdotool")
        if hand is None:
            pytest.skip("a person's hand needs xdotool (Debian: apt-get install xdotool)")
        subprocess.run([hand, *words], check=True, env={**os.environ, "DISPLAY": self._display})

    def kill(self) -> None:
        """End it as a crash would."""
        children = psutil.Process(self.process.pid).children(recursive=True) if self.runs else []
        self.process.kill()
        self.process.wait(PATIENCE_S)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


def _blue(pixel: object) -> int:
    return int(pixel[2]) if isinstance(pixel, tuple) else 0


@pytest.fixture(scope="module")
async def _chrome(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PersonsChrome]:
    with screen() as display:
        browser = PersonsChrome(tmp_path_factory.mktemp("person") / "chrome", display)
        try:
            await browser.ready()
            yield browser
        finally:
            browser.kill()


@pytest.fixture
async def chrome(_chrome: PersonsChrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PersonsChrome:
    """Return a person's browser, which asks before it lets a program in. A module's tests share it, with its tabs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if not _chrome.runs:
        await _chrome.restart()
    await become(lambda: not _chrome.asks)
    return _chrome
