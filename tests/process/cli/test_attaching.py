"""Tests `attach` and `detach`: a person's own browser on the command line."""

import asyncio
from pathlib import Path

import pytest

from tests.support.persons_chrome import PersonsChrome
from tests.support.terminal import Terminal

pytestmark = pytest.mark.anyio


async def test_a_person_attaches_allows_it_in_the_browser_and_takes_it_back(
    tmp_path: Path, chrome: PersonsChrome
) -> None:
    terminal = Terminal(tmp_path / "data")
    try:
        assert "not running" in terminal.run("attach", "chromium").err
        terminal.succeed("up", "--detach")
        assert "no browser is called 'firefox'" in terminal.run("attach", "firefox").err
        command = ("attach", "--profile-dir", str(chrome.directory), "--default")
        attaching = asyncio.create_task(asyncio.to_thread(terminal.run, *command))
        await chrome.allow()
        done = await attaching
        assert done.code == 0, done.err
        assert "asks you to allow it. Press Allow there." in done.err
        assert 'session chrome: goto {"sessionId": "chrome"' in done.out
        assert "Your tab there is yours" in done.out
        assert "Attached to" in terminal.succeed("status").out
        assert "session chrome" in terminal.succeed("run", "goto", "--url", "about:blank").err
        assert "Your tabs are as they were" in terminal.succeed("detach").out
        assert "yours" not in terminal.succeed("status").out
        assert chrome.runs
    finally:
        terminal.end()


async def test_doctor_looks_for_it_without_asking(tmp_path: Path, chrome: PersonsChrome) -> None:
    terminal = Terminal(tmp_path / "data")
    found = terminal.run("doctor", "--attach", str(chrome.directory)).out
    assert "asks its person who may attach to it" in found
    assert not chrome.asks
    chrome.kill()
    assert "does not run any more" in terminal.run("doctor", "--attach", str(chrome.directory)).out
