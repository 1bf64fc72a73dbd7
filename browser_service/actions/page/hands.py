"""Gives a page into a person's hands, and back, on the page's record alone."""

from browser_service.host.pages.handle import BrowserPage
from shared.actions import hands
from shared.errors import ValidationFailed, field_details
from shared.model import Json


async def take_over(page: BrowserPage, action: hands.TakeOver) -> Json:
    request = page.human_requests.hold(page.record, page.call, "stopped" if action.stop else "taken")
    stopped = f"{page.page_id} is stopped: agents are refused there until you give it back"
    observed = stopped if action.stop else f"{page.page_id} is in your hands now"
    return {"requestId": request.question.request_id, "observed": observed}


async def give_back(page: BrowserPage, _: hands.GiveBack) -> Json:
    if page.human_requests.end_hold(page.record, page.call):
        return {"observed": f"{page.page_id} is its agent's again"}
    if page.record.person is not None:
        raise ValidationFailed(
            f"{page.page_id} is yours because an agent asks you for something.",
            hint="Answer that, by its link or with: browse-together requests.",
            details=field_details("pageId"),
        )
    return {"observed": f"{page.page_id} was in nobody's hands"}
