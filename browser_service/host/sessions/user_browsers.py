"""Finds a browser that runs on this machine, by its name or its user data directory. It opens no profile, and asks
nobody."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from browse_together.contract.attached import AttachTarget
from browse_together.contract.errors import BrowserLaunchFailed
from browse_together.contract.installation import command
from browser_service.host.sessions import profile_owner

PORT_FILE: Final = "DevToolsActivePort"
SWITCH: Final = "chrome://inspect/#remote-debugging"
TICKED: Final = "Allow remote debugging for this browser instance"
_ANSWERS_WITHIN_S: Final = 3.0
_MOST_ANSWER: Final = 64_000


class UserBrowser(NamedTuple):
    """A browser that people use: what it is called, and where its user data lies on each platform."""

    title: str
    linux: tuple[str, ...]
    """Below the home directory; those of Flatpak and Snap included."""
    darwin: str
    windows: str


BROWSERS: Final[Mapping[str, UserBrowser]] = {
    "chrome": UserBrowser(
        "Google Chrome",
        (".config/google-chrome", ".var/app/com.google.Chrome/config/google-chrome"),
        "Google/Chrome",
        "Google/Chrome/User Data",
    ),
    "chrome-beta": UserBrowser(
        "Google Chrome Beta",
        (".config/google-chrome-beta",),
        "Google/Chrome Beta",
        "Google/Chrome Beta/User Data",
    ),
    "msedge": UserBrowser(
        "Microsoft Edge",
        (".config/microsoft-edge", ".var/app/com.microsoft.Edge/config/microsoft-edge"),
        "Microsoft Edge",
        "Microsoft/Edge/User Data",
    ),
    "brave": UserBrowser(
        "Brave",
        (
            ".config/BraveSoftware/Brave-Browser",
            ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
            "snap/brave/current/.config/BraveSoftware/Brave-Browser",
        ),
        "BraveSoftware/Brave-Browser",
        "BraveSoftware/Brave-Browser/User Data",
    ),
    "chromium": UserBrowser(
        "Chromium",
        (
            ".config/chromium",
            ".var/app/org.chromium.Chromium/config/chromium",
            "snap/chromium/common/chromium",
        ),
        "Chromium",
        "Chromium/User Data",
    ),
}


class Listening(NamedTuple):
    """Where a browser listens for programs that attach to it."""

    title: str
    url: str
    asks: bool = False
    """Whether it asks its person about each connection."""
    directory: Path | None = None


def title_of(target: AttachTarget) -> str:
    """Return what people call the browser, within a sentence."""
    if target.browser not in BROWSERS:
        where = f"with the profile {target.profile_dir}" if target.profile_dir else "at BROWSE_CDP_URL"
        return f"the browser {where}"
    title = BROWSERS[target.browser].title
    return f"{title} at {target.profile_dir}" if target.profile_dir else title


def at_start(title: str) -> str:
    """Return a browser's title as a sentence begins with it."""
    return title[:1].upper() + title[1:]


def user_data_dirs(
    name: str, home: Path | None = None, platform: str = sys.platform, environment: Mapping[str, str] = os.environ
) -> list[Path]:
    """Return where the browser of this name keeps its user data, whether or not that exists."""
    browser, home = BROWSERS[name], home or Path.home()
    if platform == "darwin":
        return [home / "Library" / "Application Support" / browser.darwin]
    if platform == "win32":
        return [Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / browser.windows]
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return [
        config / path.removeprefix(".config/") if path.startswith(".config/") else home / path for path in browser.linux
    ]


async def find(target: AttachTarget) -> Listening:
    """Return where the browser listens. Raises BrowserLaunchFailed, which says why it cannot be attached to, and
    what its person does about it."""
    if target.profile_dir:
        directories = [Path(target.profile_dir)]
    else:
        directories = [each for each in user_data_dirs(target.browser) if each.exists()]
    title, problem = title_of(target), _never_used(target)
    for directory in directories:
        try:
            return await _listening(title, directory)
        except BrowserLaunchFailed as error:
            problem = error
    raise problem


async def _listening(title: str, directory: Path) -> Listening:
    try:
        lines = (directory / PORT_FILE).read_text(encoding="utf-8").splitlines()
        port, path = int(lines[0]), lines[1]
    except FileNotFoundError:
        raise _not_listening(title, directory) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise BrowserLaunchFailed(
            f"{directory / PORT_FILE} cannot be read: {reason}.",
            hint="Run the service as the account that the browser runs as.",
        ) from None
    except (ValueError, IndexError):
        raise BrowserLaunchFailed(
            f"{directory / PORT_FILE} names no port.", hint=f"Restart the browser, which writes it anew. {_repeat()}"
        ) from None
    asks = await asks_person("127.0.0.1", port, path, title)
    if not await asyncio.to_thread(profile_owner.listens, directory, port):
        raise _another(title, port)
    return Listening(title, f"ws://127.0.0.1:{port}{path}", asks, directory)


async def asks_person(host: str, port: int, path: str, title: str) -> bool:
    """Say if the browser at a port asks its person about each connection. One that does answers no other question.

    Raises BrowserLaunchFailed if nobody listens there, or not this browser.
    """
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            status, head, body = await _ask(host, port)
    except ConnectionRefusedError:
        raise BrowserLaunchFailed(
            f"{at_start(title)} does not run any more: nobody listens at port {port}, where it last did.",
            hint=f"Start it. {_repeat()}",
        ) from None
    except (OSError, TimeoutError, ValueError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        status, head, body = 0, "", b""
    if status == 404 and "content-length:0" in head.replace(" ", "") and "server:" not in head:  # noqa: PLR2004 - HTTP
        return True
    with contextlib.suppress(ValueError, TypeError, KeyError):
        if status == 200 and str(json.loads(body)["webSocketDebuggerUrl"]).endswith(path):  # noqa: PLR2004 - HTTP
            return False
    raise _another(title, port)


async def _ask(host: str, port: int) -> tuple[int, str, bytes]:
    """Ask for a browser's version, and return the status, the head in small letters, and the body."""
    reader, writer = await asyncio.open_connection(host, port, limit=_MOST_ANSWER)
    try:
        writer.write(f"GET /json/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next((line[15:] for line in head.split("\r\n") if line.startswith("content-length:")), "0")
        return int(head.split()[1]), head, await reader.readexactly(min(int(length), _MOST_ANSWER))
    finally:
        writer.close()


def _another(title: str, port: int) -> BrowserLaunchFailed:
    return BrowserLaunchFailed(
        f"Another program, and not {title}, listens at port {port}, where it last did.",
        hint=f"Restart the browser, which takes another port. {_repeat()}",
    )


def _never_used(target: AttachTarget) -> BrowserLaunchFailed:
    places = ", ".join(map(str, user_data_dirs(target.browser))) if target.browser else ""
    return BrowserLaunchFailed(
        f"{at_start(title_of(target))} was never used by this account: there is no {places}.",
        hint=f"Name another ({', '.join(BROWSERS)}), or its user data directory, which chrome://version shows as the "
        f"profile path's parent: {command('attach', '--profile-dir', 'DIR')}",
    )


def _not_listening(title: str, directory: Path) -> BrowserLaunchFailed:
    if not directory.is_dir():
        return BrowserLaunchFailed(
            f"There is no directory {directory}.",
            hint="chrome://version in the browser shows its profile path; the directory above that is meant.",
        )
    if not profile_owner.runs(directory):
        return BrowserLaunchFailed(
            f"{title} does not run.", hint=f'Start it, and tick "{TICKED}" at {SWITCH} there, once. {_repeat()}'
        )
    return BrowserLaunchFailed(
        f"{title} runs, and remote debugging is off in it.",
        hint=f'Open {SWITCH} in it (version 144 or newer), and tick "{TICKED}". {_repeat()}',
        details={"context": {"open": SWITCH}},
    )


def _repeat() -> str:
    return f"Then repeat this; `{command('doctor')}` checks."
