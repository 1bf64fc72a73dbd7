"""Guards whole browsers: what no page's own guard sees are a popup's first document, frames in processes of their own,
images, redirects of what pages send, and service workers, also those of closed pages."""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from playwright.async_api import Browser

from browser_service.host.network.guard import pause
from browser_service.security.act_rules import ActRules
from browser_service.security.urls import UrlPolicy
from shared.model import Json

_NULL: Final = "null"


class Sent(NamedTuple):
    """Is a request that something in a browser is about to send."""

    method: str
    url: str
    frame_id: str = ""
    """Is Chromium's name of the page, frame or worker that sends it."""
    sender: str = ""
    """Is the origin, or the address, of the document or worker that sends it."""
    leads_on: bool = False
    """Says that it is for a document, and follows a redirect."""


class BrowserGuard:
    """Has Chromium ask about each request that may have to be refused, once for each browser."""

    def __init__(self, policy: UrlPolicy, rules: ActRules, refuses: Callable[[Sent, bool], bool]) -> None:
        """`refuses` decides by the owner's rules for acts; it is told whether the browser is ours."""
        self._policy = policy
        self._rules = rules
        self._refuses = refuses
        self._guarding = WeakKeyDictionary[Browser, asyncio.Task[None]]()

    async def guard(self, browser: Browser, *, ours: bool) -> None:
        """Guard a browser from now on. One that is not ours shows its person also what our pages may not."""
        guarding = self._guarding.get(browser)
        if guarding is None or (guarding.done() and guarding.exception() is not None):
            guarding = self._guarding[browser] = asyncio.create_task(self._begin(browser, ours=ours))
        await asyncio.shield(guarding)

    async def _begin(self, browser: Browser, *, ours: bool) -> None:
        session = await browser.new_browser_cdp_session()

        def refuses(event: Json) -> bool:
            return self._refuses(_sent(event), ours)

        patterns = [*self._policy.suspicious(documents=ours), *self._rules.request_patterns]
        await pause(session, self._policy.permits, patterns, refuses=refuses)


def _sent(event: Json) -> Sent:
    """Read `Fetch.requestPaused`."""
    request = event["request"]
    if not isinstance(request, dict):
        return Sent("", "")
    given = request.get("headers")
    headers = {name.lower(): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
    origin = headers.get("origin", _NULL)
    sender = headers.get("referer", "") if origin == _NULL else origin
    leads_on = event.get("resourceType") == "Document" and "redirectedRequestId" in event
    return Sent(str(request["method"]), str(request["url"]), str(event.get("frameId", "")), sender, leads_on)
