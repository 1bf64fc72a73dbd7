"""The connections to the browsers in which people live, each under the session that has it."""

import asyncio

from playwright.async_api import Playwright

from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.host.sessions.attachment import Attachment
from browser_service.host.sessions.driver import Started
from browser_service.host.sessions.options import LaunchOptions


class Attachments:
    """One attachment a session. That of the shared login is the browser at BROWSE_CDP_URL."""

    def __init__(self, options: LaunchOptions, early: asyncio.Task[Started] | None = None) -> None:
        """`early` is the driver for the browser at BROWSE_CDP_URL, which may still be starting."""
        self._options = options
        self._all = {DEFAULT_SESSION: Attachment(options, early)} if options.cdp_url else {}

    def of(self, session_id: str) -> Attachment:
        """Return a session's attachment, which has no browser until one is chosen."""
        if session_id not in self._all:
            self._all[session_id] = Attachment(self._options)
        return self._all[session_id]

    @property
    def running(self) -> int:
        """Return how many browsers are attached to."""
        return sum(each.runs for each in self._all.values())

    @property
    def hosts(self) -> frozenset[str]:
        """Return where the browsers listen. A page that reached one could drive it."""
        return frozenset[str]().union(*(each.hosts for each in self._all.values()))

    @property
    def playwright(self) -> Playwright | None:
        return next((each.playwright for each in self._all.values() if each.playwright is not None), None)

    async def stop(self) -> None:
        await asyncio.gather(*(each.detach() for each in self._all.values()))
