"""Enforces the URL policy where nothing gets round it: on every document, redirects and frames included."""

import asyncio
from collections.abc import Callable

from playwright.async_api import CDPSession, Page, Route
from playwright.async_api import Error as PlaywrightError

from browser_service.security.urls import UrlPolicy
from shared.model import Json

OnRefused = Callable[[str], None]


async def guard(page: Page, policy: UrlPolicy | None, on_refused: OnRefused) -> tuple[CDPSession | None, str]:
    """Have Chromium ask before it loads a document; return the session for that, and Chromium's name for the page.

    `route` sees no redirects and disables the cache; only the other engines use it. Without a policy nothing is asked:
    a person's tab of a browser that we attached to goes where the person wants.
    """
    browser = page.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        if policy is not None:
            await _route(page, policy, on_refused)
        return None, ""
    session = await page.context.new_cdp_session(page)
    if policy is not None:
        await _watch(session, policy, [{"urlPattern": "*", "resourceType": "Document"}], on_refused)
    info = await session.send("Target.getTargetInfo")
    return session, str(info["targetInfo"]["targetId"])


async def _route(page: Page, policy: UrlPolicy, on_refused: OnRefused) -> None:
    async def decide(route: Route) -> None:
        request = route.request
        if request.is_navigation_request() and not policy.permits(request.url):
            on_refused(request.url)
            await route.abort("blockedbyclient")
        else:
            await route.fallback()

    await page.route("**/*", decide)


async def guard_all(browser: CDPSession, policy: UrlPolicy, *, documents: bool) -> None:
    """Guard what no page's own guard sees: a popup's first document, frames in processes of their own, images.

    This concerns a whole browser, so only requests that may have to be refused are paused; with `documents`, those of
    hosts that the operator has not allowed, too.
    """
    await _watch(browser, policy, policy.suspicious(documents=documents), lambda _: None)


async def _watch(session: CDPSession, policy: UrlPolicy, patterns: list[Json], on_refused: OnRefused) -> None:
    tasks: set[asyncio.Task[None]] = set()

    async def decide(event: dict[str, dict[str, str] | str]) -> None:
        request = event["request"]
        url = request["url"] if isinstance(request, dict) else ""
        try:
            if policy.permits(url):
                await session.send("Fetch.continueRequest", {"requestId": event["requestId"]})
            else:
                on_refused(url)
                blocked = {"requestId": event["requestId"], "errorReason": "BlockedByClient"}
                await session.send("Fetch.failRequest", blocked)
        except PlaywrightError:
            return  # the page went meanwhile

    def ask(event: dict[str, dict[str, str] | str]) -> None:
        task = asyncio.create_task(decide(event))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    session.on("Fetch.requestPaused", ask)
    await session.send("Fetch.enable", {"patterns": patterns})
