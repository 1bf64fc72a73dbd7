"""Reports where a navigation arrived, or, if loading does not end, that the page is usable and what is pending."""

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from http import HTTPStatus
from typing import Any, Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Response

from browse_together.contract.actions.base import NavigationAction, VisitingAction
from browse_together.contract.cuts import cut
from browse_together.contract.errors import LoginRequired, NavigationFailed
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import address
from browser_service.actions.support.secret_values import password_for
from browser_service.host import errors
from browser_service.host.handle.page import BrowserPage
from browser_service.host.network.act_requests import ASKS_FOR_PAUSE, NO_CONTENT, describe_pause
from browser_service.host.network.sign_in import with_userinfo
from browser_service.host.tabs.observation import Observation
from browser_service.host.world.ties import is_chromium
from browser_service.security.http_logins import Challenge, Credentials
from browser_service.security.urls import origin_of
from browser_service.waits import wait_until

LOADING_S: Final = 8.0
"""How long a page that is already usable may still load before the reply."""
_LOAD_FOLLOWS_S: Final = 1.0
_ERROR_PAGES: Final = 2
"""The most error pages of earlier navigations that end a visit before it fails."""
_LISTED_URLS: Final = 5
_URL_CHARACTERS: Final = 120


async def visit(page: BrowserPage, action: VisitingAction) -> Json:
    """Go to the URL of an action, and use its credentials for that origin. Credentials that the origin refuses are not
    kept."""
    arguments, url = action.own_arguments(), action.requested_url or ""
    origin = origin_of(url)
    if action.auth is None or origin is None:
        return await arrive(page, action, _go(page, arguments, action.timeout))
    given = Credentials(action.auth.username, password_for(page, action.auth.password, url))
    if not is_chromium(page.playwright.context):  # other engines keep the credentials themselves
        arguments["url"] = with_userinfo(url, given)
    async with page.session.sign_ins.trying(origin, given, page.record):
        return await arrive(page, action, _go(page, arguments, action.timeout))


async def _go(page: BrowserPage, arguments: Mapping[str, Any], timeout_ms: float) -> Response | None:  # Any: as there
    """Go to a URL, and again if the error page of an earlier navigation comes meanwhile: it ends every other."""
    for _ in range(_ERROR_PAGES):
        try:
            return await page.playwright.goto(**arguments, timeout=timeout_ms)
        except PlaywrightError as error:
            if not errors.is_ended_by_error_page(error):
                raise
    return await page.playwright.goto(**arguments, timeout=timeout_ms)


async def arrive(
    page: BrowserPage, action: NavigationAction, navigation: Coroutine[None, None, Response | None]
) -> Json:
    """Wait for the arrival, and report it. A server's error page counts as an arrival."""
    observer = page.observer
    observation, began = observer.begin(navigates=True), asyncio.get_running_loop().time()
    task, readying = asyncio.ensure_future(navigation), asyncio.ensure_future(_make_readable(page, observation))
    try:
        await _wait_until_usable(task, observation)
        if task.done():
            return _arrived(page, task.result())
    except PlaywrightError as error:
        if (challenge := page.record.challenge) is not None:  # for a 401 without a body, Chromium shows an error page
            if errors.shows_error_page(error):
                await observation.wait_for_error_page()
            raise login_required(page, challenge) from error
        if observation.status in ASKS_FOR_PAUSE and errors.shows_error_page(error):  # as for a 401
            await observation.wait_for_error_page()
            raise _paused(page, action, observation) from error
        if observation.status in NO_CONTENT and not observation.visited_urls:
            raise _nowhere(page, action, observation) from error
        if not (errors.is_timeout(error) and observation.ready):
            raise
    finally:
        observer.end(observation)  # whatever happened to the page
        task.cancel()
        readying.cancel()
    return _still_loading(page, action, observation, asyncio.get_running_loop().time() - began)


async def _make_readable(page: BrowserPage, observation: Observation) -> None:
    """Have Playwright inject its script into the new document while that loads, so that reading it later need not
    wait."""
    with contextlib.suppress(PlaywrightError):
        await wait_until(lambda: bool(observation.visited_urls), observation.changed)
        await page.playwright.locator("html").count()


async def _wait_until_usable(task: asyncio.Future[Response | None], observation: Observation) -> None:
    await asyncio.wait({task}, timeout=LOADING_S)
    if task.done():
        return
    usable = asyncio.ensure_future(observation.wait_until_usable())
    futures: set[asyncio.Future[Response | None] | asyncio.Future[None]] = {task, usable}
    try:
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        if not observation.pending_urls():  # the load follows at once
            await asyncio.wait({task}, timeout=_LOAD_FOLLOWS_S)
    finally:
        usable.cancel()


def _arrived(page: BrowserPage, response: Response | None) -> Json:
    if response is None:
        return {"url": page.url}
    if response.status == HTTPStatus.UNAUTHORIZED and (challenge := page.record.challenge) is not None:
        raise login_required(page, challenge)
    pause = describe_pause(response.status, response.headers)
    return {"url": page.url, "status": response.status, "observed": f"HTTP {response.status}{pause}"}


def _still_loading(page: BrowserPage, action: NavigationAction, observation: Observation, seconds: float) -> Json:
    urls = observation.pending_urls()
    status = f"HTTP {observation.status}{observation.retry_after}; " if observation.status else ""
    listed = ", ".join(cut(url, _URL_CHARACTERS) for url in urls[:_LISTED_URLS])
    pending = (
        f"{len(urls)} request{'s' if len(urls) > 1 else ''} pending: {listed}" if urls else "no request is pending"
    )
    return {
        "url": page.url,
        **({"status": observation.status} if observation.status else {}),
        "observed": f"{status}the page can be used; after {seconds:.0f} s it had not reached "
        f"{action.own_arguments()['wait_until']!r} ({pending})",
        "pending": {"count": len(urls), "urls": [*urls[:_LISTED_URLS]]},
    }


def _nowhere(page: BrowserPage, action: NavigationAction, observation: Observation) -> NavigationFailed:
    url = action.requested_url or page.url
    return NavigationFailed(
        f"Navigation to {url} led nowhere: the server answered {observation.status}, no content.",
        hint=f"The page stays where it was: {next_call('snapshot')}. To only send the request: fetch.",
        details={"url": url, "context": {"status": observation.status}},
    )


def _paused(page: BrowserPage, action: NavigationAction, observation: Observation) -> NavigationFailed:
    url = action.requested_url or page.url
    return NavigationFailed(
        f"{url} answered HTTP {observation.status}{observation.retry_after}, and nothing to show.",
        details={"url": url, "context": {"status": observation.status}},
    )


def login_required(page: BrowserPage, challenge: Challenge) -> LoginRequired:
    """Make the error for a page whose site wants a name and a password by HTTP authentication."""
    auth = {"username": "...", "password": "..."}
    goto = next_call("goto", page_id=page.page_id, url=address(challenge.url), auth=auth)
    person = next_call("request_human", page_id=page.page_id, kind="login", message="...")
    return LoginRequired(
        f"{challenge.words}.",
        hint=f'Give them: {goto}; the password may be {{"secret": NAME}}. Or have a person give them: {person}.',
        details={"url": challenge.url, "origin": challenge.origin, "context": {"scheme": challenge.scheme}},
    )
