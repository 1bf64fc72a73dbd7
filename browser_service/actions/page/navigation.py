"""Goes to a URL, back and forward, and reports where the page is."""

from playwright.async_api import Response

from browse_together.contract.actions import navigation
from browse_together.contract.model import Json
from browser_service.actions.support.arrival import arrive, visit
from browser_service.host.handle.page import BrowserPage
from browser_service.host.world.ties import open_session
from browser_service.security.urls import BLANK


async def goto(page: BrowserPage, action: navigation.Goto) -> Json:
    return await visit(page, action)


async def go_back(page: BrowserPage, action: navigation.GoBack) -> Json:
    return await _through_history(page, action, -1)


async def go_forward(page: BrowserPage, action: navigation.GoForward) -> Json:
    return await _through_history(page, action, +1)


async def reload_page(page: BrowserPage, action: navigation.ReloadPage) -> Json:
    if action.ignore_cache:
        return await arrive(page, action, _fetched_anew(page, action))
    return await arrive(page, action, page.playwright.reload(wait_until=action.wait_until, timeout=action.timeout))


async def get_current_url(page: BrowserPage, _: navigation.GetCurrentUrl) -> Json:
    why: Json = {"advice": f"an error page: {page.record.error_page}"} if page.record.error_page else {}
    return {"url": page.url, **why}


async def get_page_title(page: BrowserPage, _: navigation.GetPageTitle) -> Json:
    return {"title": await page.tab.read_title()}


async def _through_history(page: BrowserPage, action: navigation.GoBack | navigation.GoForward, step: int) -> Json:
    if not await _has_entry(page, step):
        return {"url": page.url, "observed": "there is no such entry in the history; the page stays where it was"}
    go = page.playwright.go_back if step < 0 else page.playwright.go_forward
    return await arrive(page, action, go(wait_until=action.wait_until, timeout=action.timeout))


async def _fetched_anew(page: BrowserPage, action: navigation.ReloadPage) -> Response | None:
    cdp = await open_session(page.playwright)
    try:
        async with page.playwright.expect_navigation(wait_until=action.wait_until, timeout=action.timeout) as arrival:
            await cdp.send("Page.reload", {"ignoreCache": True})
        return await arrival.value
    finally:
        await cdp.detach()


async def _has_entry(page: BrowserPage, step: int) -> bool:
    """Return whether the history leads on. The blank document of a new window does not count as a place."""
    browser = page.playwright.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        return True
    cdp = await open_session(page.playwright)
    try:
        history = await cdp.send("Page.getNavigationHistory")
    finally:
        await cdp.detach()
    index, entries = history["currentIndex"] + step, history["entries"]
    opening = index == 0 and entries[0]["url"].startswith(BLANK)
    return 0 <= index < len(entries) and not opening
