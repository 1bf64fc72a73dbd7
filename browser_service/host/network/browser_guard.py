"""Guards whole browsers: what no page's own guard sees are a popup's first document, frames in processes of their own,
images, redirects of what pages send, and service workers, also those of closed pages."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from playwright.async_api import Browser, CDPSession

from browser_service.host.network.guard import pause
from browser_service.rules.bounded import Bounded
from browser_service.security.act_rules import ActRules
from browser_service.security.urls import UrlPolicy
from shared.model import Json

_NULL: Final = "null"
_TO_SERVERS: Final = ("http:", "https:")
_MOST_FRAMES: Final = 5_000
_DEEPEST: Final = 20


class Sent(NamedTuple):
    """Is a request that something in a browser is about to send."""

    method: str
    url: str
    frame_id: str = ""
    """Is Chromium's name of the page, frame or worker that sends it."""
    within: tuple[str, ...] = ()
    """Are its names of the pages that hold that frame, or opened that page, the nearest first."""
    sender: str = ""
    """Is the origin, or the address, of the document or worker that sends it."""
    document: bool = False
    leads_on: bool = False
    """Says that it is for a document, and follows a redirect."""


class BrowserGuard:
    """Has Chromium ask about each request that may have to be refused, once for each browser."""

    def __init__(
        self,
        policy: UrlPolicy,
        rules: ActRules,
        refuses: Callable[[Sent, bool], bool],
        is_persons: Callable[[Sent], bool],
    ) -> None:
        """`refuses` decides by the owner's rules for acts; it is told whether the browser is ours. `is_persons` says
        what a person sends in one that is not."""
        self._policy = policy
        self._rules = rules
        self._refuses = refuses
        self._is_persons = is_persons
        self._guarding = WeakKeyDictionary[Browser, asyncio.Task[None]]()

    async def guard(self, browser: Browser, *, ours: bool) -> None:
        """Guard a browser from now on. One that is not ours shows its person also what our pages may not, and nothing
        of its own settings keeps our pages from it."""
        guarding = self._guarding.get(browser)
        if guarding is None or (guarding.done() and guarding.exception() is not None):
            guarding = self._guarding[browser] = asyncio.create_task(self._begin(browser, ours=ours))
        await asyncio.shield(guarding)

    async def _begin(self, browser: Browser, *, ours: bool) -> None:
        session = await browser.new_browser_cdp_session()
        holders = await _holders(session) if not ours else {}

        def refuses(event: Json) -> bool:
            sent = _sent(event, holders)
            forbidden = not ours and sent.url.startswith(_TO_SERVERS) and not self._policy.permits(sent.url)
            return (forbidden and not self._is_persons(sent)) or self._refuses(sent, ours)

        permits = self._policy.permits if ours else lambda _: True
        await pause(session, permits, [*self._policy.suspicious(), *self._rules.request_patterns], refuses=refuses)


async def _holders(session: CDPSession) -> Mapping[str, str]:
    """Return by which page each frame in a process of its own is held from now on, and each popup was opened: the
    documents of both are asked for before anybody else knows them."""
    holders = Bounded[str, str](_MOST_FRAMES)

    def note(event: dict[str, dict[str, str]]) -> None:
        target = event["targetInfo"]
        if holder := target.get("parentId") or target.get("openerId"):
            holders[target["targetId"]] = holder

    session.on("Target.targetCreated", note)
    await session.send("Target.setDiscoverTargets", {"discover": True})
    return holders


def _sent(event: Json, holders: Mapping[str, str]) -> Sent:
    """Read `Fetch.requestPaused`."""
    request = event["request"]
    if not isinstance(request, dict):
        return Sent("", "")
    given = request.get("headers")
    headers = {name.lower(): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
    origin = headers.get("origin", _NULL)
    sender = headers.get("referer", "") if origin == _NULL else origin
    frame_id, document = str(event.get("frameId", "")), event.get("resourceType") == "Document"
    within = list[str]()
    while (holder := holders.get(within[-1] if within else frame_id)) and len(within) < _DEEPEST:
        within.append(holder)
    leads_on = document and "redirectedRequestId" in event
    return Sent(str(request["method"]), str(request["url"]), frame_id, tuple(within), sender, document, leads_on)
