"""Types the commands of the pages, in their order, as a reader does."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browse_together.client.credentials import token_claims
from tests.support.docs import PAGES, ROOT, commands
from tests.support.terminal import Terminal
from tests.support.waiting import PATIENCE_S

ELSEWHERE = {
    "make demo": "it is a target of its own, which sets up",
    "make test": "it is this run",
    "make setup": "it is what this run begins with",
    "make clean": "it would remove this run's own packages",
    "make bundle": "what it builds is built by the tests of the wheel and of the bundle",
    "uv tool install": "it needs uv and a package index; the wheel is tested in an environment of its own",
    "uvx": "it needs them too; its command is tested from the wheel",
    "git pull": "it needs the clone's origin",
    "docker compose": "it needs an engine; its file is tested by itself",
    "browse-together up --hosts": "it needs a certificate, and hosts are tested as processes of their own",
    "browse-together token host": "it is tested with the hosts that it admits",
    "browse-together host --join": "it runs until it is ended, and is tested as a process of its own",
    "browse-together host --engine": "it needs a cluster of Ray, and is tested with one",
    "pip install": "it needs a package index",
    "browse-together service --host": "it is for root, and what it prints is tested",
    "systemctl enable": "it needs systemd",
    "kubectl": "it needs a cluster; the objects for it are checked by themselves",
    "browse-together setup": "it may download a browser, and is tested with downloads of its own",
    "browse-together login": "it opens a window on a screen, and is tested with one",
    "browse-together attach": "it needs a person and their browser, and is tested with both",
    "browse-together extension": "it needs a service that runs, and is tested with one, and with a browser",
    "browse-together show": "it opens the own browser of who types it, and is tested without that",
    "browse-together replay": "it needs something that was done, and is tested with that",
    "browse-together secret": "it asks for values on a terminal, and is tested with one",
    "mcp-gateway --transport": "it runs until it is ended, and is tested with clients",
    "python -m mcp_home_simulator": "it runs until its client ends, and is tested with one",
    "python -m examples.smart_home": "it runs until it is ended; here it is the site of the tutorial",
}
"""Beginnings of commands that other tests prove."""
CURL = """#!{python}
import argparse, sys, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("-s", action="store_true")
parser.add_argument("-H", action="append")
parser.add_argument("-d")
parser.add_argument("url")
given = parser.parse_args()
lines = [sys.stdin.read().strip() if header == "@-" else header for header in given.H]
headers = dict(line.split(": ", 1) for line in lines)
print(urllib.request.urlopen(urllib.request.Request(given.url, given.d.encode(), headers)).read().decode())
"""
"""Does what the docs ask of curl, on a machine without it."""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path / "data")
    yield terminal
    terminal.end()


@contextmanager
def smart_home() -> Iterator[str]:
    """Run the house of the examples on a free port, and return its address."""
    command = [sys.executable, "-m", "examples.smart_home", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as house:
        try:
            assert house.stdout is not None
            yield house.stdout.readline().split()[1]
        finally:
            house.terminate()


def typed(name: str) -> list[str]:
    return [line for line in commands(name) if not line.startswith(tuple(ELSEWHERE))]


def enter(terminal: Terminal, line: str) -> str:
    """Type a line; one that a shell must take apart is given to one."""
    words = shlex.split(line)
    if words[0] == "browse-together" and "|" not in words:
        return terminal.succeed(*words[1:]).out
    environment = terminal.environment(PORT=terminal.url.rpartition(":")[2])
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    if shutil.which("curl") is None:
        programs = terminal.data_dir.parent / "programs"
        programs.mkdir(exist_ok=True)
        (programs / "curl").write_text(CURL.format(python=sys.executable), encoding="utf-8")
        (programs / "curl").chmod(0o755)
        environment["PATH"] += f":{programs}"
    done = subprocess.run(
        ["/bin/bash", "-c", line.replace("http://127.0.0.1:8888", terminal.url)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    return done.stdout


def test_every_command_is_typed_here_or_proven_elsewhere() -> None:
    pages = {name for name in PAGES if typed(name)}
    assert pages == {
        *("README.md", "docs/connecting.md", "docs/installing.md"),
        *("docs/scripts.md", "docs/settings.md", "docs/tokens.md", "docs/tutorial.md", "docs/upgrade.md"),
    }
    assert {
        word for word in ELSEWHERE if not any(line.startswith(word) for name in PAGES for line in commands(name))
    } <= {"make clean"}


@pytest.mark.long
def test_the_commands_for_scripts_do_what_their_page_says(terminal: Terminal) -> None:
    shown = [enter(terminal, line) for line in typed("docs/scripts.md")]
    assert any('heading "Shop"' in each for each in shown)
    assert any('"pageId":"shop"' in each for each in shown)
    assert any('{"type":"result","id":1,"ok":true,"result":{"yours":[],' in each for each in shown)


def test_a_token_is_made_shown_taken_back_and_restored_as_its_page_says(terminal: Terminal) -> None:
    shown = {tuple(shlex.split(line)[1:3]): enter(terminal, line) for line in typed("docs/tokens.md")}
    claims = token_claims(shown["token", "create"].strip())
    assert (claims["name"], claims["sub"]) == ("price-watch", "token:price-watch")
    (row,) = [line for line in shown["token", "list"].splitlines() if "price-watch" in line]
    assert "--read-only --no-scripting --no-cookies --origin https://shop.example --pages 2" in row
    assert "revoked" in shown["token", "revoke"]
    assert shown["token", "restore"] == "price-watch: let in again.\n"


def test_the_tutorial_ends_with_a_login_that_outlived_the_service(terminal: Terminal, tmp_path: Path) -> None:
    asked_for = tmp_path / "password"
    asked_for.write_text("casa", encoding="utf-8")
    with smart_home() as site:
        shown = {
            line: enter(
                terminal,
                line.replace("http://127.0.0.1:8900", site).replace("--secret -", f"--secret {asked_for}"),
            )
            for line in typed("docs/tutorial.md")
        }
    acted = next(text for line, text in shown.items() if "salon" in line)
    assert "POST /api/lights/salon → 200" in acted
    again = next(text for line, text in shown.items() if "--page later" in line)
    assert "/login" not in again


def test_settings_of_the_file_that_their_page_has_are_shown_as_it_says(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    text, *_ = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/settings.md").read_text(encoding="utf-8"), re.DOTALL)
    file.write_text(text, encoding="utf-8")
    terminal = Terminal(tmp_path / "data", config=str(file))
    (words,) = [shlex.split(line) for line in typed("docs/settings.md")]
    shown = terminal.succeed(*words[1:], PORT="8888").out
    assert re.search(rf"max_pages +50 +{file}", shown)
    assert re.search(rf"url_whitelist +example\.com, example\.org +{file}", shown)


def test_the_commands_for_trouble_work_without_a_service(terminal: Terminal) -> None:
    for name in ("README.md", "docs/connecting.md", "docs/installing.md", "docs/upgrade.md"):
        for line in typed(name):
            done = terminal.run(*shlex.split(line)[1:], **nobody(terminal))
            assert done.code in {0, 1, 3}, (line, done)  # 1: it has found something; 3: no service runs


def nobody(terminal: Terminal) -> dict[str, str]:
    """Return the environment of a user with an empty home, whose chat clients and platform are not on the PATH."""
    home = terminal.data_dir.parent
    return {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "PATH": str(Path(sys.executable).parent)}
