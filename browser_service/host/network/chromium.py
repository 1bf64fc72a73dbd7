"""Answers the requests that Chromium has paused, because only its own protocol sees all of them."""

import contextlib

from playwright.async_api import BrowserContext, CDPSession
from playwright.async_api import Error as PlaywrightError

from shared.model import Json


def is_chromium(context: BrowserContext) -> bool:
    return context.browser is not None and context.browser.browser_type.name == "chromium"


async def resolve_paused(session: CDPSession, event: Json, *, blocked: bool) -> None:
    """Block a request of `Fetch.requestPaused`, or let it continue. Its page may have gone meanwhile."""
    reply = {"requestId": event["requestId"]}
    with contextlib.suppress(PlaywrightError):
        if blocked:
            await session.send("Fetch.failRequest", {**reply, "errorReason": "BlockedByClient"})
        else:
            await session.send("Fetch.continueRequest", reply)
