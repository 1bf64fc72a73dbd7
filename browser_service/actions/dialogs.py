"""Answering what a page asks."""

from browser_service.browser.page import BrowserPage
from shared.actions import dialogs
from shared.calls import Json


async def handle_dialog(page: BrowserPage, action: dialogs.HandleDialog) -> Json:
    return await page.answer_dialog(action)
