"""Opens an ordinary window of the shared browser on its profile, with no sign of automation."""

import asyncio
import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import IO, Final, Self

import psutil

from browser_service.host.launching.options import LaunchOptions
from browser_service.host.launching.processes import interrupt
from shared.errors import BrowserLaunchFailed

_OTHER_WAYS: Final = (
    "Bring a login from another browser: browse-together import FILE. Or work in a browser that runs already: "
    "BROWSE_CDP_URL. Or start the service where there is a display."
)
_SWITCHES: Final = (
    "--password-store=basic",
    "--use-mock-keychain",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-crash-restore-bubble",
)
"""The first two say where Playwright's browsers keep the key of their cookies: with another both would lose them."""
_SHOWN_OUTPUT: Final = 2_000


def check_display() -> None:
    """Raise BrowserLaunchFailed if no window could be seen."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise BrowserLaunchFailed("No window can be opened: the service has no display.", hint=_OTHER_WAYS)


class OrdinaryWindow:
    """Is a browser process that ends when the person closes its last window."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: IO[bytes]) -> None:
        self._process = process
        self._stderr = stderr
        self.process = psutil.Process(process.pid)

    @classmethod
    async def open(cls, executable: Path, options: LaunchOptions, url: str | None) -> Self:
        """Start the browser on the profile that the options name."""
        switches = [f"--user-data-dir={options.profile_dir}", *_SWITCHES]
        if not options.sandboxed:
            switches.append("--no-sandbox")
        if options.proxy:
            switches.append(f"--proxy-server={options.proxy}")
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        process = await asyncio.create_subprocess_exec(
            executable,
            *switches,
            *([url] if url else []),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        return cls(process, stderr)

    async def closed(self) -> None:
        """Wait until the person closes it. Raises BrowserLaunchFailed if it ended badly, as on a broken display."""
        code = await self._process.wait()
        if code != 0:
            self._stderr.seek(0)
            output = self._stderr.read()[-_SHOWN_OUTPUT:].decode(errors="replace")
            raise BrowserLaunchFailed(
                f"The window for signing in ended with exit code {code}.",
                hint=_OTHER_WAYS,
                details={"context": {"lastError": output}},
            )

    async def close(self) -> None:
        """Close it if it is still open, in a way that lets it write its cookies."""
        if self._process.returncode is None:
            await asyncio.to_thread(interrupt, self.process)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._process.wait()
        self._stderr.close()
