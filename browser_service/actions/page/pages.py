"""Opens and closes the pages of a session."""

from browser_service.actions.support.arrival import visit
from browser_service.host.pages import closed_page
from browser_service.host.pages.handle import BrowserPage
from shared.actions import pages
from shared.model import Json


async def open_page(page: BrowserPage, action: pages.OpenPage) -> Json:
    if action.url is None:
        return {"url": page.url, "observed": "a blank page is open"}
    return await visit(page, action)


async def close_page(page: BrowserPage, action: pages.ClosePage) -> Json:
    before = await closed_page.remember(page.record, page.current, page.settings)
    if not await page.current.close(run_before_unload=action.run_before_unload):
        return {"observed": f"page {page.page_id} stays open: its beforeunload dialog was dismissed"}
    page.undoable(f"page {page.page_id} closed", before)
    return {"closed": page.page_id, "observed": f"page {page.page_id} is closed"}
