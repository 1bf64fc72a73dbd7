"""Drives the yardstick: Playwright's async API in this process, with the service's browser and flags."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from browser_service.host.sessions.executables import find_executable
from browser_service.host.sessions.options import HEADLESS_ARGS, UNWANTED_ARGS, LaunchOptions


@dataclass(frozen=True)
class Plain:
    """A browser of the yardstick's own."""

    browser: Browser

    async def page(self, url: str) -> Page:
        """Open a page in its own context and so in its own window, so that none is behind another."""
        width, height = LaunchOptions(Path()).viewport
        context = await self.browser.new_context(viewport=ViewportSize(width=width, height=height))
        page = await context.new_page()
        await page.goto(url)
        return page


@asynccontextmanager
async def plain_playwright() -> AsyncIterator[Plain]:
    options = LaunchOptions(Path())
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_executable(playwright, options),
            headless=options.headless,
            chromium_sandbox=options.sandboxed,
            args=HEADLESS_ARGS,
            ignore_default_args=UNWANTED_ARGS,
        )
        try:
            yield Plain(browser)
        finally:
            await browser.close()
