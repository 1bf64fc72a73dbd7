"""Tests how a person's running browser is found, and what is said if it cannot be."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from pydantic import ValidationError

from browse_together.contract.attached import BROWSER_NAMES, AttachTarget
from browse_together.contract.errors import BrowserLaunchFailed
from browser_service.host.sessions.user_browsers import PORT_FILE, Listening, find, user_data_dirs
from browser_service.settings import Settings

pytestmark = pytest.mark.anyio

PATH = "/devtools/browser/0a1b"
ASKS = "HTTP/1.1 404 Not Found\r\nContent-Length:0\r\nContent-Type:text/html\r\n\r\n"
"""What Chromium answers to everything while it asks its person about connections."""


def version(path: str) -> str:
    body = f'{{"webSocketDebuggerUrl": "ws://127.0.0.1:1{path}"}}'
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}"


@asynccontextmanager
async def answering(answer: str) -> AsyncIterator[int]:
    """Run a program that answers everybody the same, and return its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer.encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield int(server.sockets[0].getsockname()[1])


@asynccontextmanager
async def holding(directory: Path) -> AsyncIterator[None]:
    """Run a process that has the user data directory open, as its lock says."""
    opens = "f = open('History', 'w'); print(1, flush=True); input()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", opens), cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        (directory / "SingletonLock").symlink_to(f"{socket.gethostname()}-{process.pid}")
        yield
    finally:
        process.kill()
        await process.wait()


def in_directory(directory: Path, text: str | None, *, runs: bool = True) -> AttachTarget:
    """Return the browser with this user data directory, in which it has written its port file."""
    if text is not None:
        (directory / PORT_FILE).write_text(text)
    if runs:
        (directory / "SingletonLock").symlink_to(f"{socket.gethostname()}-{os.getpid()}")
    return AttachTarget(profile_dir=str(directory))


async def test_it_listens_where_its_port_file_says_and_its_answer_tells_whether_it_asks(tmp_path: Path) -> None:
    in_directory(tmp_path, "")
    for answer, asks in ((ASKS, True), (version(PATH), False)):
        async with answering(answer) as port:
            (tmp_path / PORT_FILE).write_text(f"{port}\n{PATH}")
            with (tmp_path / "History").open("w"):
                found = await find(AttachTarget(profile_dir=str(tmp_path)))
        assert found == Listening(found.title, f"ws://127.0.0.1:{port}{PATH}", asks, tmp_path)


@pytest.mark.parametrize("answer", [ASKS, version(PATH)])
@pytest.mark.parametrize("holder", ["nobody", "another process"])
async def test_who_took_its_port_and_answers_as_it_did_is_told_from_it(
    tmp_path: Path, answer: str, holder: str
) -> None:
    async with answering(answer) as port:
        target = in_directory(tmp_path, f"{port}\n{PATH}", runs=holder == "nobody")
        async with AsyncExitStack() as stack:
            if holder == "another process":
                await stack.enter_async_context(holding(tmp_path))
            with pytest.raises(BrowserLaunchFailed, match="Another program"):
                await find(target)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (version("/devtools/browser/another"), "Another program"),
        ("HTTP/1.1 404 Not Found\r\nServer: site\r\nContent-Length: 0\r\n\r\n", "Another program"),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", "Another program"),
        ("", "Another program"),
    ],
)
async def test_another_program_at_its_port_is_told(tmp_path: Path, answer: str, says: str) -> None:
    async with answering(answer) as port:
        with pytest.raises(BrowserLaunchFailed, match=says):
            await find(in_directory(tmp_path, f"{port}\n{PATH}"))


@pytest.mark.parametrize(
    ("make", "says", "hint"),
    [
        (lambda path: in_directory(path / "no", None, runs=False), "There is no directory", "chrome://version"),
        (lambda path: in_directory(path, None, runs=False), "does not run", "chrome://inspect/#remote-debugging"),
        (lambda path: in_directory(path, None), "remote debugging is off", "chrome://inspect/#remote-debugging"),
        (lambda path: in_directory(path, "not a port"), "names no port", "Restart"),
        (lambda path: in_directory(path, f"1\n{PATH}"), "nobody listens at port 1", "Start it"),
    ],
)
async def test_each_obstacle_has_its_line_and_its_next_step(
    tmp_path: Path, make: Callable[[Path], AttachTarget], says: str, hint: str
) -> None:
    with pytest.raises(BrowserLaunchFailed, match=says) as caught:
        await find(make(tmp_path))
    assert hint in (caught.value.advice or "")


async def test_a_browser_that_was_never_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BrowserLaunchFailed, match="Google Chrome Beta was never used"):
        await find(AttachTarget(browser="chrome-beta"))


def test_user_data_lies_where_each_platform_has_it() -> None:
    home = Path("/home/me")

    def places(name: str, platform: str, **environment: str) -> list[str]:
        return [path.as_posix() for path in user_data_dirs(name, home, platform, environment)]

    assert places("chromium", "linux", XDG_CONFIG_HOME="/x") == [
        "/x/chromium",
        "/home/me/.var/app/org.chromium.Chromium/config/chromium",
        "/home/me/snap/chromium/common/chromium",
    ]
    assert places("chrome", "darwin") == ["/home/me/Library/Application Support/Google/Chrome"]
    assert places("msedge", "win32", LOCALAPPDATA="C:/L") == ["C:/L/Microsoft/Edge/User Data"]
    assert all(places(name, platform) for name in BROWSER_NAMES for platform in ("linux", "darwin", "win32"))


@pytest.mark.parametrize(
    ("text", "browser", "profile_dir", "default"),
    [("chrome", "chrome", "", False), ("brave default", "brave", "", True), ("/a b/c default", "", "/a b/c", True)],
)
def test_a_setting_names_a_browser(text: str, browser: str, profile_dir: str, default: bool) -> None:  # noqa: FBT001 - of the table
    expected = AttachTarget(browser=browser, profile_dir=profile_dir, default=default)
    assert AttachTarget.parse(text) == Settings.alone({"attach": text}).attach_target == expected


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"attach": "firefox"}, "no browser is called 'firefox'"),
        ({"attach": "chrome", "cdp_url": "http://127.0.0.1:9222"}, "one browser"),
        ({"cdp_url": "ws://10.0.0.5:9222/x"}, "write https:// or wss://"),
        ({"cdp_url": "http://browser.example:9222"}, "write https:// or wss://"),
        ({"cdp_headers": "no header"}, "Name: value"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_start(given: dict[str, str], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Settings.alone(given)
    several = Settings.alone({"cdp_url": "wss://browser.example/x", "cdp_headers": "Authorization: Bearer a:b\nX-A: 1"})
    assert several.header_values == {"Authorization": "Bearer a:b", "X-A": "1"}
