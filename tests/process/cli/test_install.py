"""Tests `install`, `uninstall`, `service` and `setup` with the programs that they start."""

import io
import json
import re
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from browse_together.contract.installation import GATEWAY, program
from browser_service.host.sessions.executables import installed_browser
from tests.support import browsers
from tests.support.home import Home
from tests.support.terminal import Terminal

EDITOR = f"""#!{sys.executable}
import json, os, pathlib, sys
(pathlib.Path(__file__).parent / "said").open("a").write(" ".join(sys.argv[1:]) + chr(10))
file = pathlib.Path(os.environ["HOME"], ".claude.json")
content = json.loads(file.read_text()) if file.exists() else {{}}
servers = content.setdefault("mcpServers", {{}})
words = [word for word in sys.argv[2:] if word not in ("--", "--scope", "user")]
if words[0] == "add":
    servers[words[1]] = {{"type": "stdio", "command": words[2], "args": words[3:], "env": {{}}}}
else:
    del servers[words[1]]
file.write_text(json.dumps(content, indent=2))
"""
FAILING = "#!/bin/sh\necho 'you are not signed in' >&2\nexit 4\n"
SILENT = "#!/bin/sh\nexit 0\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "bin").mkdir()
    return Home(tmp_path)


def add_program(home: Home, name: str, text: str) -> None:
    path = home.path / "bin" / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def test_a_client_with_a_command_of_its_own_is_changed_by_that(home: Home) -> None:
    add_program(home, "claude", EDITOR)
    file = home.path / ".claude.json"
    file.write_text('{"numStartups": 7}', encoding="utf-8")
    said = home.succeed("install", "claude-code", BROWSE_DATA_DIR="")
    gateway = program(GATEWAY)[0]
    assert f"$ claude mcp add --scope user browse-together -- {gateway}\n" in said
    assert json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["browse-together"]["command"] == gateway
    assert (home.path / ".claude.json.browse-together.bak").read_text(encoding="utf-8") == '{"numStartups": 7}'
    assert "nothing changes" in home.succeed("install", "claude-code", BROWSE_DATA_DIR="")
    home.succeed("uninstall", "claude-code")
    assert json.loads(file.read_text(encoding="utf-8")) == {"numStartups": 7, "mcpServers": {}}
    lines = (home.path / "bin" / "said").read_text(encoding="utf-8").splitlines()
    assert lines == [f"mcp add --scope user browse-together -- {gateway}", "mcp remove --scope user browse-together"]


@pytest.mark.parametrize(("text", "why"), [(FAILING, "you are not signed in"), (SILENT, "has not changed this file")])
def test_where_its_command_cannot_do_it_the_file_is_edited(home: Home, text: str, why: str) -> None:
    add_program(home, "codex", text)
    done = home.run("install", "codex", BROWSE_DATA_DIR="")
    assert (done.exit_code, why in done.stderr) == (0, True)
    assert "[mcp_servers.browse-together]" in (home.path / ".codex" / "config.toml").read_text(encoding="utf-8")


def test_the_platform_is_asked_to_enable_the_start_at_login_and_a_refusal_is_an_error(home: Home) -> None:
    add_program(home, "systemctl", f'#!/bin/sh\necho "$@" >> {home.path}/said\n')
    assert "starts at each login" in home.succeed("service", "install")
    assert "platform enabled" in home.succeed("service", "status")
    home.succeed("service", "uninstall")
    assert (home.path / "said").read_text(encoding="utf-8").splitlines() == [
        "--user daemon-reload",
        "--user enable --now browse-together.service",
        "--user is-enabled browse-together.service",
        "--user disable --now browse-together.service",
    ]
    add_program(home, "systemctl", "#!/bin/sh\necho 'no bus' >&2\nexit 1\n")
    refused = home.run("service", "install")
    assert (refused.exit_code, "no bus" in refused.stderr, "enable --now" in refused.stderr) == (1, True, True)


def test_uninstall_says_that_the_service_runs_and_its_folder_stays(terminal: Terminal) -> None:
    home = Home(terminal.data_dir.parent)
    settings = {name: home.environment[name] for name in ("HOME", "PATH")}
    terminal.succeed("up", "--detach", **settings)
    home.succeed("install", "cursor")
    said = home.succeed("uninstall")
    assert list((home.path / ".cursor").iterdir()) == []
    assert re.search(r"^The service runs\. End it: \S+ down$", said, re.MULTILINE)
    assert f"  {terminal.data_dir}, with all logins\n" in said
    assert terminal.service


class Downloads(BaseHTTPRequestHandler):
    """Serves archives of browsers as Playwright's place of downloads does: each holds the browser of this machine."""

    browser = ""

    def do_GET(self) -> None:
        folder = Path(self.path).stem
        name = "chrome-headless-shell" if "headless" in folder else "ffmpeg-linux" if "ffmpeg" in folder else "chrome"
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as made:
            program = zipfile.ZipInfo(name if "ffmpeg" in folder else f"{folder}/{name}")
            program.external_attr = 0o755 << 16
            made.writestr(program, f'#!/bin/sh\nexec {self.browser} "$@"\n')
        self.send_response(200)
        self.send_header("Content-Length", str(len(archive.getvalue())))
        self.end_headers()
        self.wfile.write(archive.getvalue())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def downloads() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Downloads)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_where_no_browser_is_installed_setup_has_playwright_bring_one(terminal: Terminal, downloads: str) -> None:
    Downloads.browser = str(browsers.executable() or installed_browser())
    nothing = terminal.data_dir.parent / "bin"
    variables = {"PATH": str(nothing), "PLAYWRIGHT_BROWSERS_PATH": str(nothing), "BROWSE_EXECUTABLE_PATH": ""}
    done = terminal.succeed("setup", PLAYWRIGHT_DOWNLOAD_HOST=downloads, **variables)
    assert re.search(r"^No chromium was found on this machine\. Installing", done.out, re.MULTILINE)
    assert re.search(r"^Now set up a chat client: (/\S+) install claude-code$", done.out, re.MULTILINE)
    assert "The browser is " in done.out
