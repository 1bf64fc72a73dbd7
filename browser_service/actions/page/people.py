"""Asks people to act, and does what a person's hand does on a page."""

from browse_together.contract.actions import hands, people
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browser_service.host.handle.page import BrowserPage
from browser_service.waits import until_answered


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


async def request_human(page: BrowserPage, action: people.RequestHuman) -> Json:
    asked, call = page.human_requests, page.call
    request = asked.find(action.request_id, call) if action.request_id else asked.ask(page.record, call, action)
    if action.withdraw:
        asked.withdraw(request, call.client_id)
    await until_answered(asked, request, call, action.timeout / 1000)
    await page.tab_life.read_title()
    return request.reply_to(call.client_id, page.record)
