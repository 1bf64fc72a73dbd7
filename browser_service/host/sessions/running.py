"""A browser from its start, or from our coming, until its end."""

import secrets
from collections.abc import Callable, Sequence

from playwright.async_api import Browser, BrowserContext

from browse_together.contract.errors import BrowserCrashed
from browser_service.host.sessions.processes import WatchedProcess


class RunningBrowser:
    """A browser that runs until the first end of its connection, its processes or its driver. That is told once.

    Playwright tells nothing of the end of a driver, and calls the pages of a dead one open for ever."""

    def __init__(
        self, browser: Browser | None, context: BrowserContext | None, processes: Sequence[WatchedProcess]
    ) -> None:
        """`context` is the one with the logins on disk, if there is one; an engine may have it without a `browser`."""
        self.id = f"browser_{secrets.token_hex(3)}"
        """The id of this start, by which errors name it if it crashes."""
        self.browser, self.context = browser, context
        self.runs = True
        self._processes = processes
        self._on_end = list[Callable[[], None]]()
        if browser is not None:
            browser.on("disconnected", lambda _: self.end())
        if context is not None:
            context.on("close", lambda _: self.end())
        for process in processes:
            process.on_end(self.end)

    @property
    def profile(self) -> BrowserContext:
        """Return the context with the logins on disk. Raises BrowserCrashed if the browser has none."""
        if self.context is None:
            raise BrowserCrashed("The browser has no profile.")
        return self.context

    def on_end(self, tell: Callable[[], None]) -> None:
        """Have its end told by `tell`."""
        self._on_end.append(tell)

    def forget(self, tell: Callable[[], None]) -> None:
        """Tell somebody nothing more, who else would be kept for as long as it runs."""
        if tell in self._on_end:
            self._on_end.remove(tell)

    def end(self) -> None:
        """Note that it has ended, or is about to by our doing."""
        if not self.runs:
            return
        self.runs = False
        for process in self._processes:  # the driver may outlast it
            process.forget(self.end)
        tellers, self._on_end = self._on_end, []
        for tell in tellers:
            tell()

    def look(self) -> None:
        """Look whether it has ended by now: what shows it otherwise may come before the news of it."""
        connected = self.browser is None or self.browser.is_connected()
        if not (connected and all(process.runs for process in self._processes)):
            self.end()
