"""Going to a URL, back, forward, and where the page is."""

from playwright.async_api import Response

from browser_service.browser.page import BrowserPage
from shared.actions import navigation
from shared.calls import Json


async def goto(page: BrowserPage, action: navigation.Goto) -> Json:
    response = await page.live.goto(**action.own(), timeout=action.timeout)
    return _arrived(page, response)


async def go_back(page: BrowserPage, action: navigation.GoBack) -> Json:
    return await _through_history(page, action, -1)


async def go_forward(page: BrowserPage, action: navigation.GoForward) -> Json:
    return await _through_history(page, action, +1)


async def reload_page(page: BrowserPage, action: navigation.ReloadPage) -> Json:
    if not action.ignore_cache:
        return _arrived(page, await page.live.reload(wait_until=action.wait_until, timeout=action.timeout))
    cdp = await page.cdp()
    try:
        async with page.live.expect_event("domcontentloaded", timeout=action.timeout):
            await cdp.send("Page.reload", {"ignoreCache": True})
        if action.wait_until != "commit":
            await page.live.wait_for_load_state(action.wait_until, timeout=action.timeout)
    finally:
        await cdp.detach()
    return {"url": page.live.url}


async def get_current_url(page: BrowserPage, _: navigation.GetCurrentUrl) -> Json:
    return {"url": page.live.url}


async def get_page_title(page: BrowserPage, _: navigation.GetPageTitle) -> Json:
    return {"title": await page.live.title()}


async def _through_history(page: BrowserPage, action: navigation.GoBack | navigation.GoForward, step: int) -> Json:
    before = page.live.url
    go = page.live.go_back if step < 0 else page.live.go_forward
    response = await go(wait_until=action.wait_until, timeout=action.timeout)
    if response is None and page.live.url == before:
        return {"url": before, "observed": "there is no such entry in the history; the page stays where it was"}
    return _arrived(page, response)


def _arrived(page: BrowserPage, response: Response | None) -> Json:
    """A server's error page is an arrival too, and is said."""
    if response is None:
        return {"url": page.live.url}
    return {"url": page.live.url, "status": response.status, "observed": f"HTTP {response.status}"}
