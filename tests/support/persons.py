"""Runs a person's own browser, which is attached to."""

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import psutil
import pytest
from websockets.asyncio.client import connect

from browser_service.host.sessions.executables import installed_browser
from tests.support.json import AnyJson
from tests.support.screen import screen
from tests.support.service import Agent, RunningService, running_service, settings_for, visiting
from tests.support.waiting import PATIENCE_S, become


class Persons:
    """A person's browser: an ordinary one that accepts whoever attaches to it."""

    def __init__(self, profile: Path, port: int = 0, display: str | None = None, extension: Path | None = None) -> None:
        executable = installed_browser()
        assert executable is not None
        self._executable = executable
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

    async def open_profile(self, profile: str, url: str) -> None:
        """Open a URL in a window of another of its profiles, as a person would, and wait until it shows."""
        switches = ["--no-sandbox", "--no-first-run", f"--user-data-dir={self.port_file.parent}"]
        asking = await asyncio.create_subprocess_exec(
            self._executable,
            *switches,
            f"--profile-directory={profile}",
            "--new-window",
            url,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "DISPLAY": self.display},
        )
        async with asyncio.timeout(PATIENCE_S):
            await asking.wait()
        await self.until_shown(url)

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
            targets = await self._targets(http)
        return sorted(target["url"] for target in targets if target["type"] == "page")

    async def open(self, url: str) -> None:
        """Open a URL in a new tab, as a person would, and wait until the tab has an address."""
        async with httpx.AsyncClient(trust_env=False) as http:
            opened = (await http.put(f"{self.url}/json/new?{url}")).raise_for_status().json()["id"]
            async with asyncio.timeout(PATIENCE_S):
                while not await self._url(http, opened):
                    pass  # asking takes a moment each time

    async def until_shown(self, *urls: str) -> None:
        """Wait until tabs show these URLs: one that has just been opened may have none for a moment."""
        async with asyncio.timeout(PATIENCE_S):
            while not {*urls} <= {*await self.tabs()}:
                pass  # asking takes a moment each time

    async def forget(self) -> None:
        """Close all tabs but a new one, and forget all logins, for the next test."""
        async with httpx.AsyncClient(trust_env=False) as http:
            before = await self._targets(http)
            (await http.put(f"{self.url}/json/new?about:blank")).raise_for_status()
            for target in before:
                await http.get(f"{self.url}/json/close/{target['id']}")
            browser = (await http.get(f"{self.url}/json/version")).json()["webSocketDebuggerUrl"]
        async with connect(browser) as cdp:
            await cdp.send(json.dumps({"id": 1, "method": "Storage.clearCookies"}))
            await cdp.recv()
        async with asyncio.timeout(PATIENCE_S):
            while await self.tabs() != ["about:blank"]:
                pass  # asking takes a moment each time

    async def _url(self, http: httpx.AsyncClient, target_id: str) -> str:
        return next(target["url"] for target in await self._targets(http) if target["id"] == target_id)

    async def _targets(self, http: httpx.AsyncClient) -> list[dict[str, str]]:
        listed: list[dict[str, str]] = (await http.get(f"{self.url}/json/list")).json()
        return listed

    def end(self, *, crashes: bool = False) -> None:
        """End it, as its person does, or as a crash would."""
        children = psutil.Process(self.process.pid).children(recursive=True) if self.runs else []
        (self.process.kill if crashes else self.process.terminate)()
        self.process.wait(PATIENCE_S)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


async def open_tab(service: RunningService, persons: Persons, url: str) -> None:
    """Open a URL in a new tab of a browser that the service is attached to, and wait until it has the tab."""
    await persons.open(url)
    await become(lambda: any(page.url == url for page in service.context().pages))


async def list_until(agent: Agent, holds: Callable[[dict[str, AnyJson]], bool]) -> dict[str, AnyJson]:
    """Return the list of pages once it holds: some tabs of a browser come a moment after it is attached to."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds(listed := await agent.call("list_pages", all=True)):
            pass  # asking takes a moment each time
    return listed


async def their_page(agent: Agent, url: str) -> str:
    """Return what agents call the person's tab that shows an address."""

    def at(listed: dict[str, AnyJson]) -> list[str]:
        return [page["pageId"] for page in listed["people"] if page["url"] == url]

    return at(await list_until(agent, lambda listed: bool(at(listed))))[0]


@pytest.fixture(scope="session")
async def _persons(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Persons]:
    browser = Persons(tmp_path_factory.mktemp("persons"))
    try:
        await browser.ready()
        yield browser
    finally:
        browser.end()


@pytest.fixture
async def persons(_persons: Persons) -> AsyncIterator[Persons]:
    """Return a person's browser with a blank tab, which all tests share. Each leaves it no other."""
    yield _persons
    await _persons.forget()


@pytest.fixture(scope="module")
async def _attached(
    _persons: Persons, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningService]:
    settings = settings_for(tmp_path_factory.mktemp("attached"), cdp_url=_persons.url, **request.module.ATTACHED)
    async with running_service(settings) as service:
        yield service


@pytest.fixture
async def attached(_attached: RunningService, persons: Persons) -> AsyncIterator[RunningService]:  # noqa: ARG001 - whose tabs are closed before
    """Return a service that is attached to the person's browser, which a module's tests share: each leaves no page of
    its agents. The module's ATTACHED has the service's other settings."""
    await _attached.session().context()
    async with visiting(_attached):
        yield _attached


@pytest.fixture(scope="session")
async def _windows(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Persons]:
    with screen() as display:
        browser = Persons(tmp_path_factory.mktemp("windows"), display=display)
        try:
            await browser.ready()
            yield browser
        finally:
            browser.end()


@pytest.fixture
async def windows(_windows: Persons) -> AsyncIterator[Persons]:
    """Return a person's browser whose windows are on a screen, which all tests share. Each leaves it no other tab."""
    yield _windows
    await _windows.forget()


@pytest.fixture(scope="session")
async def _at_windows(_windows: Persons, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    settings = settings_for(tmp_path_factory.mktemp("at_windows"), attached_tabs="shared", cdp_url=_windows.url)
    async with running_service(settings) as service:
        yield service


@pytest.fixture
async def at_windows(_at_windows: RunningService, windows: Persons) -> RunningService:  # noqa: ARG001 - as there
    """Return a service that has the tabs of that browser, which all tests share as well."""
    await _at_windows.session().context()
    await become(lambda: len(_at_windows.known_pages()) == 1)
    return _at_windows
