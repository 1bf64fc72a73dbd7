"""Drives the yardstick: Playwright in this process, with the service's browser and flags."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from playwright.async_api import Browser, Page, Playwright, ViewportSize, async_playwright
from playwright.sync_api import BrowserContext, sync_playwright

from browser_service.host.sessions.executables import find_executable
from browser_service.host.sessions.options import HEADLESS_ARGS, UNWANTED_ARGS, LaunchOptions

_WIDTH, _HEIGHT = LaunchOptions(Path()).viewport
_SIZE: Final = ViewportSize(width=_WIDTH, height=_HEIGHT)


@dataclass(frozen=True)
class Plain:
    """A browser of the yardstick's own."""

    browser: Browser

    async def page(self, url: str) -> Page:
        """Open a page in its own context and so in its own window, so that none is behind another."""
        context = await self.browser.new_context(viewport=_SIZE)
        page = await context.new_page()
        await page.goto(url)
        return page


def _options(playwright: object) -> dict[str, Any]:  # Any: what launch takes
    options = LaunchOptions(Path())
    return {
        "executable_path": find_executable(cast("Playwright", playwright), options),  # the sync API has the same
        "headless": options.headless,
        "chromium_sandbox": options.sandboxed,
        "args": HEADLESS_ARGS,
        "ignore_default_args": UNWANTED_ARGS,
    }


@asynccontextmanager
async def plain_playwright() -> AsyncIterator[Plain]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**_options(playwright))
        try:
            yield Plain(browser)
        finally:
            await browser.close()


Timed = Callable[[str, Sequence[str], Sequence[Any]], Awaitable[float]]  # Any: cookies, as Playwright has them
"""Runs an exported flow with these values on a new page that has these cookies. Returns its seconds."""


@asynccontextmanager
async def plain_scripts() -> AsyncIterator[Timed]:
    """Run a browser for exported flows, in a thread of its own, as Playwright's sync API wants it."""
    with ThreadPoolExecutor(1) as thread:
        run = partial(asyncio.get_running_loop().run_in_executor, thread)
        playwright = await run(sync_playwright().start)
        try:
            browser = await run(lambda: playwright.chromium.launch(**_options(playwright)))
            context = await run(lambda: browser.new_context(viewport=_SIZE))
            yield partial(run, _seconds, context)
        finally:
            await run(playwright.stop)


def _seconds(
    context: BrowserContext, script: str, values: Sequence[str], cookies: Sequence[Any]
) -> float:  # Any: as above
    names: dict[str, Any] = {}  # Any: what a module has
    exec(script, names)  # noqa: S102 - our own export
    context.add_cookies(cookies)
    page = context.new_page()
    try:
        began = time.perf_counter()
        names["run"](page, *values)
        return time.perf_counter() - began
    finally:
        page.close()
