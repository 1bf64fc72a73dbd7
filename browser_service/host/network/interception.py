"""Blocks what Playwright's routes do not see: redirects, answers of service workers and of the memory cache, and
WebSockets.

A separate Chromium session does this while the page has rules. Frames of other sites have sessions of their own, and a
shared worker belongs to no page: there, only the routes apply. Neither sees a prefetch by a document older than the
rule, nor a service worker's answer to a worker.
"""

import contextlib
from collections.abc import Collection
from typing import Final, Protocol

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browse_together.contract.model import Json
from browser_service.host.network.guard import resolve_paused
from browser_service.host.world.ties import is_chromium, open_session


class Blocking(Protocol):
    """The rules that block some of a page's requests."""

    def blocks(self, url: str, method: str) -> bool: ...


_LEAST_BYTES: Final = 1_000
"""Bytes of answers that Chromium buffers for the session, which reads none."""
_ALL: Final = {"patterns": [{"urlPattern": "*"}]}
_CUT: Final = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


class Interception:
    def __init__(self, rules: Blocking) -> None:
        self._rules = rules
        self._session: CDPSession | None = None
        self._pauses = False
        self._cuts = False
        self._background = Background()

    def attach(self) -> None:
        """Reset, because another Playwright page is behind the pageId."""
        self._session, self._pauses, self._cuts = None, False, False

    async def update(self, page: Page, *, rules: bool, redirects: bool, sockets: Collection[str]) -> None:
        """Intercept what the rules need: also redirects with `redirects`, and WebSockets that match `sockets`."""
        if not is_chromium(page.context):
            return
        if not rules:
            session, self._session = self._session, None
            if session is not None:
                self.attach()
                await session.detach()
            return
        session = self._session or await self._open(page)
        if redirects != self._pauses:
            self._pauses = redirects
            await session.send("Fetch.enable" if redirects else "Fetch.disable", _ALL if redirects else {})
        await self._cut(session, sockets)

    async def forget_answers(self, page: Page) -> None:
        """Empty the memory cache, which could still serve answers of a removed mock."""
        if not is_chromium(page.context):
            return
        session = self._session or await open_session(page)
        await _listen(session)
        await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        await session.send("Network.setCacheDisabled", {"cacheDisabled": False})
        if session is not self._session:
            await session.detach()

    async def _open(self, page: Page) -> CDPSession:
        """Open the session, and bypass service workers, which would answer before the network and the routes."""
        self._session = session = await open_session(page)
        session.on("Fetch.requestPaused", lambda event: self._background.spawn(self._decide(session, event)))
        session.on("Network.webSocketCreated", self._on_socket)
        await _listen(session)
        await session.send("Network.setBypassServiceWorker", {"bypass": True})
        return session

    def _on_socket(self, event: dict[str, str]) -> None:
        """Count a blocked WebSocket. The network conditions cut it by themselves."""
        self._rules.blocks(event["url"], "GET")

    async def _cut(self, session: CDPSession, sockets: Collection[str]) -> None:
        """Cut the network for these WebSockets, because Chromium cannot pause them."""
        if not sockets and not self._cuts:
            return
        self._cuts = bool(sockets)
        conditions = [{**_CUT, "urlPattern": url} for url in sockets]
        with contextlib.suppress(PlaywrightError):  # older Chromium lacks the command
            await session.send("Network.emulateNetworkConditionsByRule", {"matchedNetworkConditions": conditions})

    async def _decide(self, session: CDPSession, event: Json) -> None:
        """Block the request or let it continue. Checks no type: the first hop did, and CDP calls a fetch an XHR."""
        request = event["request"]
        blocked = isinstance(request, dict) and self._rules.blocks(str(request["url"]), str(request["method"]))
        await resolve_paused(session, event, blocked=blocked)


async def _listen(session: CDPSession) -> None:
    await session.send("Network.enable", {"maxTotalBufferSize": _LEAST_BYTES, "maxResourceBufferSize": _LEAST_BYTES})
