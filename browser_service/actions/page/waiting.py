"""Waits for time to pass, for an element, for a URL, or for what a caller expects."""

import asyncio

from browse_together.contract.actions import waiting
from browse_together.contract.model import Json
from browser_service.actions.support import expectations
from browser_service.host.elements.locators import is_ref
from browser_service.host.handle.page import BrowserPage
from browser_service.host.network.patterns import UrlPattern


async def wait_for_selector(page: BrowserPage, action: waiting.WaitForSelector) -> Json:
    """Wait for one visible match, or until no match is visible."""
    matches = await page.elements.find(action.selector, action.frame, strict=True, waits=False)
    element = matches if action.strict else matches.first
    if action.state in {"visible", "hidden"} and not action.strict and not is_ref(action.selector):
        element = matches.filter(visible=True).first
    await element.wait_for(state=action.state, timeout=action.timeout)
    return {"observed": f"{action.selector} is {action.state}"}


async def wait_for_navigation(page: BrowserPage, action: waiting.WaitForNavigation) -> Json:
    pattern = UrlPattern(action.pattern or "*", "url")
    client, before = page.record.last_act
    if client == page.call.client_id and page.record.navigations > before and pattern.matches(page.url):
        await _loaded(page, action)
    else:
        async with page.playwright.expect_navigation(
            url=pattern.matches, wait_until=action.wait_until, timeout=action.timeout
        ) as arrival:
            pass
        await arrival.value
    page.record.last_act = (page.call.client_id, page.record.navigations)
    return {"url": page.url, "observed": f"the page has navigated to {page.url}"}


async def wait_for_url(page: BrowserPage, action: waiting.WaitForUrl) -> Json:
    pattern = UrlPattern(action.pattern, "url")
    await page.playwright.wait_for_url(pattern.matches, wait_until=action.wait_until, timeout=action.timeout)
    return {"url": page.url, "observed": f"the page is at {page.url}"}


async def wait_for_load(page: BrowserPage, action: waiting.WaitForLoad) -> Json:
    await page.playwright.wait_for_load_state(action.state, timeout=action.timeout)
    return {"url": page.url, "observed": f"{page.url} has reached {action.state}"}


async def expect(page: BrowserPage, action: waiting.Expect) -> Json:
    return {"observed": await expectations.met(page, action)}


async def _loaded(page: BrowserPage, action: waiting.WaitForNavigation) -> None:
    if action.wait_until != "commit":
        await page.playwright.wait_for_load_state(action.wait_until, timeout=action.timeout)


async def wait(_: BrowserPage, action: waiting.Wait) -> Json:
    await asyncio.sleep(action.duration / 1000)  # the caller asked for this time
    return {"observed": f"waited {action.duration} ms"}
