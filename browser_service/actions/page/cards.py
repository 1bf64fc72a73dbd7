"""Stops what a chat does on a page, as the chat itself asks for. This needs no Playwright: the page's record knows."""

from browser_service.host.page.handle import BrowserPage
from shared.actions import cards
from shared.model import Json


async def stop_page(page: BrowserPage, _: cards.StopPage) -> Json:
    request = page.human_requests.hold(page.record, page.call, "stopped")
    said = f"{page.page_id} is stopped: nothing is done there until a person gives it back"
    return {"requestId": request.question.request_id, "observed": said}
