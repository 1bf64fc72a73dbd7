"""Puts saved logins into a new context: the newest state that the browser accepts, else those cookies that it
accepts."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.async_api import Browser, BrowserContext
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.errors import BrowserLaunchFailed
from browse_together.contract.model import Json
from browser_service.host import errors
from browser_service.host.sessions.errors import REPEAT_HINT
from browser_service.host.sessions.logins import cookies_in, cookies_of
from browser_service.host.sessions.person_window import cookie_key
from browser_service.security.http_logins import of_playwright

Options = Mapping[str, Any]  # Any: Playwright's


async def restore_context(
    browser: Browser, options: Options, states: Sequence[Json], owner: str
) -> tuple[BrowserContext, Json, str]:
    """Return a context, its state, and a notice if that state is not the newest. `owner` names the session in the
    notice."""
    refusal = ""
    for number, state in enumerate(states):
        try:
            context = await _context(browser, options, state)
        except PlaywrightError as error:
            refusal = refusal or _first_line(error)
            continue
        notice = f"{owner} has its logins from before: the browser refuses the newest ({refusal})." if number else ""
        return context, state, notice
    try:
        context = await browser.new_context(**options)
    except PlaywrightError as error:
        raise BrowserLaunchFailed(f"{owner} cannot be opened: {_first_line(error)}", hint=REPEAT_HINT) from error
    if not states:
        return context, {}, ""
    count = sum([await _add(context, [cookie]) for cookie in cookies_of(states[0])])
    return context, {}, f"{owner} has {count} of its cookies and no storage: the browser refuses the rest ({refusal})."


async def _context(browser: Browser, options: Options, state: Json) -> BrowserContext:
    return await browser.new_context(**options, storage_state={"origins": [], **of_playwright(state)})  # type: ignore[arg-type] # as Playwright gave it


def _first_line(error: PlaywrightError) -> str:
    return str(error).splitlines()[0][:200]


async def restore_cookies(context: BrowserContext, saved: Sequence[Json], *, after_crash: bool) -> list[str]:
    """Add the cookies that a profile on disk lacks, and return the notices.

    A profile loses its session cookies whenever the browser ends, and in a crash also the cookies of the last 30 s,
    because Chromium writes no sooner.
    """
    present = {cookie_key(cookie) for cookie in await cookies_in(context)}
    persistent = {cookie_key(cookie) for cookie in saved if _is_persistent(cookie)}
    # a damaged profile begins anew, silently
    damaged = not after_crash and bool(persistent) and persistent.isdisjoint(present)
    missing = [
        cookie
        for cookie in saved
        if cookie_key(cookie) not in present and (after_crash or damaged or cookie.get("expires") == -1)
    ]
    if missing and not await _add(context, missing):
        for cookie in missing:  # one that the browser no longer accepts must not cost the others
            await _add(context, [cookie])
    return ["The profile had lost its cookies: they come back from what the service has saved."] if damaged else []


async def _add(context: BrowserContext, cookies: Sequence[Json]) -> bool:
    """Add all cookies or none, and say whether they were added. Raises PlaywrightError if the browser ended."""
    try:
        await context.add_cookies(cookies)  # type: ignore[arg-type] # as Playwright gave it
    except PlaywrightError as error:
        if errors.is_closed(error):
            raise
        return False
    return True


def _is_persistent(cookie: Json) -> bool:
    expires = cookie.get("expires")
    return isinstance(expires, int | float) and expires > time.time()
