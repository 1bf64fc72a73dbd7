"""Reports where a navigation arrived, or, if loading does not end, that the page can be used and what is pending."""

import asyncio
from collections.abc import Coroutine
from http import HTTPStatus
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Response

from browser_service.host import errors
from browser_service.host.observation import Observation
from browser_service.host.page.handle import BrowserPage
from shared.actions.base import NavigationAction
from shared.errors import NavigationFailed
from shared.model import Json
from shared.next_calls import next_call

PATIENCE_S: Final = 8.0
"""A page that can be used already gets this long to finish loading."""
_EMPTY: Final = {HTTPStatus.NO_CONTENT, HTTPStatus.RESET_CONTENT}
_SHOWN: Final = 5
_URL: Final = 120


async def arrive(page: BrowserPage, action: NavigationAction, going: Coroutine[None, None, Response | None]) -> Json:
    """Wait for the arrival, and report it. A server's error page is an arrival too."""
    if page.observer is None:
        return _arrived(page, await going)
    seen, began = page.observer.begin(navigates=True), asyncio.get_running_loop().time()
    task = asyncio.ensure_future(going)
    try:
        await _loaded_or_usable(task, seen)
        if task.done():
            return _arrived(page, task.result())
    except PlaywrightError as error:
        if seen.status in _EMPTY and not seen.navigated:
            raise _nowhere(page, action, seen) from error
        if not (errors.is_timeout(error) and seen.ready):
            raise
    finally:
        page.observer.end(seen)
        task.cancel()
    return _still_loading(page, action, seen, asyncio.get_running_loop().time() - began)


async def _loaded_or_usable(task: asyncio.Future[Response | None], seen: Observation) -> None:
    await asyncio.wait({task}, timeout=PATIENCE_S)
    if task.done():
        return
    usable = asyncio.ensure_future(seen.usable())
    either: set[asyncio.Future[Response | None] | asyncio.Future[None]] = {task, usable}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        usable.cancel()


def _arrived(page: BrowserPage, response: Response | None) -> Json:
    if response is None:
        return {"url": page.url}
    return {"url": page.url, "status": response.status, "observed": f"HTTP {response.status}"}


def _still_loading(page: BrowserPage, action: NavigationAction, seen: Observation, seconds: float) -> Json:
    urls, status = seen.pending(), f"HTTP {seen.status}; " if seen.status else ""
    named = ", ".join(url[:_URL] for url in urls[:_SHOWN])
    waits = f"{len(urls)} request{'s' if len(urls) > 1 else ''} pending: {named}" if urls else "no request is pending"
    missing = action.requested_load_state
    return {
        "url": page.url,
        **({"status": seen.status} if seen.status else {}),
        "observed": f"{status}the page can be used; after {seconds:.0f} s it had not reached {missing!r} ({waits})",
        "pending": {"count": len(urls), "urls": [*urls[:_SHOWN]]},
    }


def _nowhere(page: BrowserPage, action: NavigationAction, seen: Observation) -> NavigationFailed:
    url = action.requested_url or page.url
    return NavigationFailed(
        f"Navigation to {url} led nowhere: the server answered {seen.status}, no content.",
        hint=f"The page stays where it was: {next_call('snapshot')}. To only send the request: fetch.",
        details={"url": url, "context": {"status": seen.status}},
    )
