"""Enforces the URL policy where nothing can bypass it.

A page's guard checks each of its documents, redirects and frames included. A whole browser's guard checks what no
page's guard sees: a popup's first document, frames in separate processes, images, redirects of other requests, and
service workers, also those of closed pages.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from playwright.async_api import Browser, CDPSession, Page, Request, Route
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.background import Background
from browse_together.contract.model import Json, object_at
from browser_service.host.network.sign_in import SignIn
from browser_service.host.world.ties import is_chromium, open_session
from browser_service.rules.bounded import Bounded
from browser_service.security.act_rules import ActRules
from browser_service.security.urls import UrlPolicy

_TO_SERVERS: Final = ("http:", "https:", "ws:", "wss:")
_NULL: Final = "null"
_MOST_FRAMES: Final = 5_000
_DEEPEST: Final = 20


class Documents(Protocol):
    """Whatever decides on a page's documents, by their addresses."""

    def permits(self, url: str) -> bool: ...
    def refuse(self, url: str) -> None:
        """Note that a document was refused."""


class RequestRefusals(Protocol):
    """The owner's rules for acts, applied to what browsers send."""

    def refuses(self, sent: "Sent", ours: bool) -> bool: ...  # noqa: FBT001 - says it of the browser
    def is_persons(self, sent: "Sent") -> bool:
        """Say if a person sends a request, in a browser that is not ours."""


async def guard(page: Page, documents: Documents | None, sign_in: SignIn) -> tuple[CDPSession | None, str]:
    """Have Chromium ask before it loads a document. Returns the session for that, and Chromium's target id of the page.

    Only other engines use `route`, because it sees no redirects and disables the cache. Without `documents` nothing is
    checked: a person's tab in an attached browser goes wherever the person wants.
    """
    if not is_chromium(page.context):
        if documents is not None:
            await _route(page, documents)
        return None, ""
    session = await open_session(page)
    guarding = _guard_documents(session, documents, sign_in) if documents is not None else asyncio.sleep(0)
    info, _ = await asyncio.gather(session.send("Target.getTargetInfo"), guarding)
    sign_in.target_id = str(info["targetInfo"]["targetId"])
    return session, sign_in.target_id


async def _guard_documents(session: CDPSession, documents: Documents, sign_in: SignIn) -> None:
    async def decide(event: Json) -> None:
        url, refused = _url(event), False
        if event.get("resourceType") == "Document" and not documents.permits(url):
            refused = True
            documents.refuse(url)
        await resolve_paused(session, event, blocked=refused, other=None if refused else sign_in.command(event, url))

    background = Background()
    session.on("Fetch.requestPaused", lambda event: background.spawn(decide(event)))
    await sign_in.attach(session)


async def refuse_requests(page: Page, refuses: Callable[[Request], bool]) -> None:
    """Check each request of a page, also in frames with separate processes. This sees no redirects, and disables the
    cache."""

    async def decide(route: Route) -> None:
        with contextlib.suppress(PlaywrightError):  # the page is gone
            await (route.abort("blockedbyclient") if refuses(route.request) else route.fallback())

    await page.route("**/*", decide)


async def _route(page: Page, documents: Documents) -> None:
    def refuses(request: Request) -> bool:
        if not request.is_navigation_request() or documents.permits(request.url):
            return False
        documents.refuse(request.url)
        return True

    await refuse_requests(page, refuses)


async def pause(
    session: CDPSession, policy: UrlPolicy | None, patterns: list[Json], refuses: Callable[[Json], bool]
) -> None:
    """Pause matching requests, and block those that the policy, if any, or `refuses` refuses."""
    background = Background()

    async def decide(event: Json) -> None:
        url = _url(event)
        is_document = event.get("resourceType") == "Document"
        permitted = (
            policy is None or policy.permits(url) or not (is_document or url.startswith(_TO_SERVERS))
        )  # so data: pictures pass
        await resolve_paused(session, event, blocked=not permitted or refuses(event))

    session.on("Fetch.requestPaused", lambda event: background.spawn(decide(event)))
    await session.send("Fetch.enable", {"patterns": patterns})


async def resolve_paused(
    session: CDPSession, event: Json, *, blocked: bool, other: tuple[str, Json] | None = None
) -> None:
    """Block a paused request (`Fetch.requestPaused`), let it continue, or send another command for it. Ignores a page
    that is gone."""
    command, given = other or ("Fetch.continueRequest", {})
    if blocked:
        command, given = "Fetch.failRequest", {"errorReason": "BlockedByClient"}
    with contextlib.suppress(PlaywrightError):
        await session.send(command, {"requestId": event["requestId"], **given})


def _url(event: Json) -> str:
    request = event["request"]
    return str(request["url"]) if isinstance(request, dict) else ""


class Sent(NamedTuple):
    """A request that a browser is about to send."""

    method: str
    url: str
    frame_id: str = ""
    """Chromium's id of the page, frame or worker that sends it."""
    within: tuple[str, ...] = ()
    """Chromium's ids of the pages around that frame, or that opened that page, the nearest first."""
    sender: str = ""
    """The origin or address of the document or worker that sends it."""
    document: bool = False
    leads_on: bool = False
    """True if it is for a document after a redirect."""


class BrowserGuard:
    """The guard of whole browsers: once per browser, Chromium is asked to pause requests that may have to be
    refused."""

    def __init__(self, policy: UrlPolicy, rules: ActRules, refusals: RequestRefusals) -> None:
        self._policy, self._rules, self._refusals = policy, rules, refusals
        self._guarding = WeakKeyDictionary[Browser, asyncio.Task[None]]()

    async def guard(self, browser: Browser, *, ours: bool) -> None:
        """Guard a browser from now on. In an attached one (not `ours`), its person may go anywhere, and only this guard
        limits our pages."""
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
            return (forbidden and not self._refusals.is_persons(sent)) or self._refusals.refuses(sent, ours)

        policy = self._policy if ours else None
        await pause(session, policy, [*self._policy.suspicious(), *self._rules.request_patterns], refuses=refuses)


async def _holders(session: CDPSession) -> Mapping[str, str]:
    """Return a live map from each frame in a separate process to the page around it, and from each popup to its opener.
    Their first requests come before anything else knows them."""
    holders = Bounded[str, str](_MOST_FRAMES)

    def note(event: dict[str, dict[str, str]]) -> None:
        target = event["targetInfo"]
        if holder := target.get("parentId") or target.get("openerId"):
            holders[target["targetId"]] = holder

    session.on("Target.targetCreated", note)
    await session.send("Target.setDiscoverTargets", {"discover": True})
    return holders


def _sent(event: Json, holders: Mapping[str, str]) -> Sent:
    """Parse `Fetch.requestPaused`."""
    request = event["request"]
    if not isinstance(request, dict):
        return Sent("", "")
    headers = {name.lower(): str(value) for name, value in object_at(request, "headers").items()}
    origin = headers.get("origin", _NULL)
    sender = headers.get("referer", "") if origin == _NULL else origin
    frame_id, document = str(event.get("frameId", "")), event.get("resourceType") == "Document"
    within = list[str]()
    while (holder := holders.get(within[-1] if within else frame_id)) and len(within) < _DEEPEST:
        within.append(holder)
    leads_on = document and "redirectedRequestId" in event
    return Sent(str(request["method"]), str(request["url"]), frame_id, tuple(within), sender, document, leads_on)
