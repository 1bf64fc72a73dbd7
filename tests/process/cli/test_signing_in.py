"""Tests `login` and `import`: a person at the terminal."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.processes import command, runs
from tests.support.screen import screen
from tests.support.site import Answer, Received, Site
from tests.support.terminal import Terminal, eventually

pytestmark = pytest.mark.whole_browser


@pytest.fixture
def known(site: Site) -> str:
    """Serve a page that tells what its visitor brings."""

    def home(received: Received) -> Answer:
        return Answer(f"<title>home</title><h1>{received.headers.get('Cookie', 'a stranger')}</h1>")

    return site.page("/home", home)


@pytest.fixture
def display() -> Iterator[str]:
    with screen() as name:
        yield name


def test_import_reads_the_file_and_says_what_it_brought(running: Terminal, known: str, tmp_path: Path) -> None:
    cookie = {"name": "sid", "value": "s3cret", "domain": "127.0.0.1", "path": "/", "expires": -1}
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"cookies": [cookie, {**cookie, "domain": "other.test"}], "origins": []}))
    done = running.succeed("import", str(file), "--site", "127.0.0.1")
    assert done.out.strip() == "brought: 127.0.0.1 (1 cookie)"
    running.succeed("run", "goto", "--page", "home", "--url", known)
    assert "sid=s3cret" in running.succeed("run", "content", "--page", "home").out
    assert "s3cret" not in done.out + done.err


def test_import_of_what_is_no_login_fails_and_says_what_is_one(running: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\xff")
    done = running.run("import", str(file))
    assert (done.code, "cookies.txt" in done.err) == (1, True)
    missing = running.run("import", str(tmp_path / "missing"))
    assert missing.code == 2


def test_login_opens_a_window_waits_for_its_end_and_tells_what_changed(
    terminal: Terminal, display: str, site: Site
) -> None:
    page = "<script>document.cookie = 'sid=1'; fetch('/in').then(() => window.close())</script>"
    terminal.succeed("up", "--detach", DISPLAY=display)
    done = terminal.succeed("login", site.page("/sign-in", page))
    assert "A browser window opens" in done.err
    assert done.out.strip() == "the window was closed; cookies are new or changed of: 127.0.0.1"


def test_an_interrupted_login_closes_its_window(terminal: Terminal, display: str, site: Site) -> None:
    terminal.succeed("up", "--detach", DISPLAY=display)
    with terminal.start("login", site.page("/sign-in", "a form")) as asking:
        eventually(lambda: site.counts["/sign-in"] > 0)
        assert terminal.service is not None
        children = psutil.Process(terminal.service.pid).children(recursive=True)
        (window,) = [p for p in children if site.url("/sign-in") in command(p)]
        asking.send_signal(signal.SIGINT)
        asking.communicate(timeout=30)
    eventually(lambda: not runs(window))


def test_login_without_a_screen_fails_and_names_import(terminal: Terminal) -> None:
    terminal.succeed("up", "--detach", DISPLAY="", WAYLAND_DISPLAY="")
    done = terminal.run("login")
    assert (done.code, "browse-together import" in done.err) == (1, True)
