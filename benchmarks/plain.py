"""Drives the yardstick: Playwright's async API in this process, with the service's browser and flags."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from benchmarks.processes import Failed, children
from browser_service.host.sessions.executables import find_executable
from browser_service.host.sessions.options import HEADLESS_ARGS, UNWANTED_ARGS, LaunchOptions

_BY_THE_WAY_OF_STARTING: Final = (
    *("--user-data-dir=", "--no-startup-window", "--remote-debugging-"),
    *("--host-resolver-rules=", "--force-webrtc-ip-handling-policy="),
)
"""Flags that differ between a browser with a profile, which the service starts, and one without. The last keep pages
from the service's own port, and their cost counts."""


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


def check_same_browser(service_pid: int, own_pid: int) -> None:
    """Raise Failed if the two browsers were started differently, because then the comparison means nothing."""
    ours, theirs = _browser(service_pid), _browser(own_pid, not_under=service_pid)
    if ours != theirs:
        raise Failed(f"the two browsers differ by {sorted(ours ^ theirs)}")


def _browser(pid: int, *, not_under: int | None = None) -> set[str]:
    """Return executable and flags of the browser under a process: of the one that is not a browser's child."""
    others = {process.pid for process in children(not_under)} if not_under else set()
    for process in children(pid):
        command = process.cmdline()
        if process.pid in others or not any(word.startswith("--user-data-dir=") for word in command):
            continue
        if not any(word.startswith("--type=") for word in command):
            return {word for word in command if word.startswith("-") and not word.startswith(_BY_THE_WAY_OF_STARTING)}
    raise Failed(f"no browser runs under process {pid}")
