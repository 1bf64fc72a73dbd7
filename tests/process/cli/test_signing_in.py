"""Tests `login` and `import`: a person at the terminal."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.processes import command, runs
from tests.support.screen import screen
from tests.support.site import Answer, Received, Site
from tests.support.terminal import Terminal, eventually
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.whole_browser


@pytest.fixture
def known(site: Site) -> str:
    """Serve a page that tells what its visitor brings."""

    def home(received: Received) -> Answer:
        return Answer(f"<title>home</title><h1>{received.headers.get('Cookie', 'a stranger')}</h1>")

    return site.page("/home", home)


@pytest.fixture(scope="module")
def seated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """Return a terminal where a service runs that has a screen."""
    terminal = Terminal(tmp_path_factory.mktemp("seated") / "data")
    with screen() as display:
        try:
            terminal.succeed("up", "--detach", DISPLAY=display)
            yield terminal
        finally:
            terminal.end()


def test_import_reads_the_file_and_says_what_it_brought(running: Terminal, known: str, tmp_path: Path) -> None:
    cookie = {"name": "sid", "value": "s3cret", "domain": "127.0.0.1", "path": "/", "expires": -1}
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"cookies": [cookie, {**cookie, "domain": "other.test"}], "origins": []}))
    done = running.succeed("import", str(file), "--site", "127.0.0.1")
    assert done.out.strip() == "brought: 127.0.0.1 (1 cookie)"
    running.succeed("run", "goto", "--page", "home", "--url", known)
    assert "sid=s3cret" in running.succeed("run", "content", "--page", "home").out
    assert "s3cret" not in done.out + done.err


def test_logins_lists_where_one_is_signed_in_and_by_what_without_the_value(running: Terminal, tmp_path: Path) -> None:
    cookie = {"name": "sid", "value": "s3cret-s3cret-s3cret", "domain": "listed.test", "path": "/", "expires": -1}
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"cookies": [cookie]}))
    running.succeed("import", str(file), "--site", "listed.test")
    told = running.succeed("logins").out
    assert re.search(r"listed\.test +the browser forgets it +\S+Z ", told)
    (login,) = (each for each in json.loads(running.succeed("logins", "--json").out) if each["site"] == "listed.test")
    assert login["lastUsedBy"] == login["signedInBy"] != ""
    assert "s3cret" not in told


def test_import_of_what_is_no_login_fails_and_says_what_is_one(running: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    file.write_bytes(b"\x89PNG\xff")
    done = running.run("import", str(file))
    assert (done.code, "cookies.txt" in done.err) == (1, True)
    missing = running.run("import", str(tmp_path / "missing"))
    assert missing.code == 2


def test_login_opens_a_window_waits_for_its_end_and_tells_what_changed(seated: Terminal, site: Site) -> None:
    page = "<script>document.cookie = 'sid=1'; fetch('/in').then(() => window.close())</script>"
    done = seated.succeed("login", site.page("/sign-in", page))
    assert "A browser window opens" in done.err
    assert done.out.strip() == "the window was closed; cookies are new or changed of: 127.0.0.1"


def test_an_interrupted_login_closes_its_window(seated: Terminal, site: Site) -> None:
    with seated.start("login", site.page("/sign-in", "a form")) as asking:
        eventually(lambda: site.counts["/sign-in"] > 0)
        assert seated.service is not None
        children = psutil.Process(seated.service.pid).children(recursive=True)
        (window,) = [p for p in children if site.url("/sign-in") in command(p)]
        asking.send_signal(signal.SIGINT)
        asking.communicate(timeout=PATIENCE_S)
    eventually(lambda: not runs(window))


def test_login_without_a_screen_fails_and_names_import(running: Terminal) -> None:
    done = running.run("login")
    assert (done.code, "browse-together import" in done.err) == (1, True)
