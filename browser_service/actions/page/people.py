"""Asks people to act. A person then acts on the page."""

from browser_service.host.pages.handle import BrowserPage
from browser_service.waits import until_answered
from shared.actions import people
from shared.model import Json


async def request_human(page: BrowserPage, action: people.RequestHuman) -> Json:
    asked, call = page.human_requests, page.call
    request = asked.find(action.request_id, call) if action.request_id else asked.ask(page.record, call, action)
    if action.withdraw:
        asked.withdraw(request, call.client_id)
    await until_answered(asked, request, call, action.timeout / 1000)
    await page.titles.read()
    return request.reply_to(call.client_id, page.record)
