"""Runs a person's own browser, which is attached to."""

import contextlib
import json
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest

from browser_service.host.sessions.executables import installed_browser
from tests.support.listening import become
from tests.support.screen import screen


class Persons:
    """A person's browser: an ordinary one that accepts whoever attaches to it."""

    def __init__(self, profile: Path, port: int = 0, display: str | None = None, extension: Path | None = None) -> None:
        executable = installed_browser()
        assert executable is not None
        self.display = display or ""
        self.port_file = profile / "DevToolsActivePort"
        self.port_file.unlink(missing_ok=True)
        keeps_files = {"download": {"default_directory": str(profile / "downloads")}}
        (profile / "Default").mkdir(parents=True, exist_ok=True)
        (profile / "Default" / "Preferences").write_text(json.dumps(keeps_files))
        self.process = subprocess.Popen(
            [
                executable,
                *([] if display else ["--headless"]),
                *([f"--load-extension={extension}"] if extension else []),
                "--no-sandbox",
                "--no-first-run",
                f"--remote-debugging-port={port}",
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **({"DISPLAY": display} if display else {})},
        )

    async def ready(self) -> None:
        """Wait until it can be attached to."""
        await become(lambda: self.port_file.exists() and self.port_file.read_text().count("\n") >= 1)

    @property
    def port(self) -> int:
        return int(self.port_file.read_text().splitlines()[0])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def runs(self) -> bool:
        return self.process.poll() is None

    async def tabs(self) -> list[str]:
        """Return the URLs of its tabs, as the browser itself lists them."""
        async with httpx.AsyncClient(trust_env=False) as http:
            targets = (await http.get(f"{self.url}/json/list")).json()
        return sorted(target["url"] for target in targets if target["type"] == "page")

    async def open(self, url: str) -> None:
        """Open a URL in a new tab, as a person would."""
        async with httpx.AsyncClient(trust_env=False) as http:
            (await http.put(f"{self.url}/json/new?{url}")).raise_for_status()

    def end(self) -> None:
        children = psutil.Process(self.process.pid).children(recursive=True) if self.runs else []
        self.process.terminate()
        self.process.wait(10)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


@pytest.fixture
async def persons(tmp_path: Path) -> AsyncIterator[Persons]:
    """Run a person's browser."""
    browser = Persons(tmp_path / "persons")
    try:
        await browser.ready()
        yield browser
    finally:
        browser.end()


@pytest.fixture
async def windows(tmp_path: Path) -> AsyncIterator[Persons]:
    """Run a person's browser whose windows are on a screen."""
    with screen() as display:
        browser = Persons(tmp_path / "windows", display=display)
        try:
            await browser.ready()
            yield browser
        finally:
            browser.end()
