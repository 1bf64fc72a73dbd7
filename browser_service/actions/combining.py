"""Several actions in one call."""

from browser_service.browser.page import BrowserPage
from shared.actions import combining
from shared.calls import Json


async def batch(page: BrowserPage, action: combining.Batch) -> Json:
    return {"steps": [await page.do(step) for step in action.steps]}
