"""Enforces the URL policy where nothing gets round it: on every document, redirects and frames included."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from playwright.async_api import BrowserContext, CDPSession, Page, Request, Route
from playwright.async_api import Error as PlaywrightError

from browser_service.host.background import Background
from browser_service.host.network.sign_in import SignIn
from shared.model import Json

_TO_SERVERS: Final = ("http:", "https:", "ws:", "wss:")
OnRefused = Callable[[str], None]
Permits = Callable[[str], bool]


async def guard(
    page: Page, permits: Permits | None, on_refused: OnRefused, sign_in: SignIn
) -> tuple[CDPSession | None, str]:
    """Have Chromium ask before it loads a document; return the session for that, and Chromium's name for the page.

    `route` sees no redirects and disables the cache; only the other engines use it. Without `permits` nothing is asked:
    a person's tab of a browser that we attached to goes where the person wants.
    """
    if not is_chromium(page.context):
        if permits is not None:
            await _route(page, permits, on_refused)
        return None, ""
    session = await page.context.new_cdp_session(page)
    guarding = _guard_documents(session, permits, on_refused, sign_in) if permits is not None else asyncio.sleep(0)
    info, _ = await asyncio.gather(session.send("Target.getTargetInfo"), guarding)
    sign_in.target_id = str(info["targetInfo"]["targetId"])
    return session, sign_in.target_id


async def _guard_documents(session: CDPSession, permits: Permits, on_refused: OnRefused, sign_in: SignIn) -> None:
    async def decide(event: Json) -> None:
        url, refused = _url(event), False
        if event.get("resourceType") == "Document" and not permits(url):
            refused = True
            on_refused(url)
        await resolve_paused(session, event, blocked=refused, other=None if refused else sign_in.command(event, url))

    background = Background()
    session.on("Fetch.requestPaused", lambda event: background.spawn(decide(event)))
    await sign_in.attach(session)


async def refuse_requests(page: Page, refuses: Callable[[Request], bool]) -> None:
    """Ask about each request of a page, those of frames in processes of their own too. Redirects are not seen, and the
    cache is off from then on."""

    async def decide(route: Route) -> None:
        with contextlib.suppress(PlaywrightError):  # its page has gone
            await (route.abort("blockedbyclient") if refuses(route.request) else route.fallback())

    await page.route("**/*", decide)


async def _route(page: Page, permits: Permits, on_refused: OnRefused) -> None:
    def refuses(request: Request) -> bool:
        if not request.is_navigation_request() or permits(request.url):
            return False
        on_refused(request.url)
        return True

    await refuse_requests(page, refuses)


async def pause(session: CDPSession, permits: Permits, patterns: list[Json], refuses: Callable[[Json], bool]) -> None:
    """Have the requests that match paused, and block those that the policy, or another rule, refuses."""
    background = Background()

    async def decide(event: Json) -> None:
        url = _url(event)
        is_document = event.get("resourceType") == "Document"
        permitted = permits(url) or not (is_document or url.startswith(_TO_SERVERS))  # a picture may be a data: URL
        await resolve_paused(session, event, blocked=not permitted or refuses(event))

    session.on("Fetch.requestPaused", lambda event: background.spawn(decide(event)))
    await session.send("Fetch.enable", {"patterns": patterns})


def is_chromium(context: BrowserContext) -> bool:
    return context.browser is not None and context.browser.browser_type.name == "chromium"


async def resolve_paused(
    session: CDPSession, event: Json, *, blocked: bool, other: tuple[str, Json] | None = None
) -> None:
    """Block a request of `Fetch.requestPaused`, or let it continue, or have Chromium do another thing with it. Its page
    may have gone meanwhile."""
    command, given = other or ("Fetch.continueRequest", {})
    if blocked:
        command, given = "Fetch.failRequest", {"errorReason": "BlockedByClient"}
    with contextlib.suppress(PlaywrightError):
        await session.send(command, {"requestId": event["requestId"], **given})


def _url(event: Json) -> str:
    request = event["request"]
    return str(request["url"]) if isinstance(request, dict) else ""
