"""Losses of a page that has another tab than before: what is told of them, and to whom."""

from collections.abc import Iterator
from typing import Final

from browser_service.host.page.record import PageRecord
from browser_service.host.page.recovery import Reopened
from browser_service.host.page.settings import PageSettings
from browser_service.host.recovery.filled_fields import FilledFields
from shared.events import NoticeGiven

_LOST: Final = "what was typed and not sent is lost, and so are scroll position, history and sessionStorage"


def of_reopening(
    page: PageRecord, settings: PageSettings, fields: FilledFields, reopened: Reopened, client_id: str
) -> Iterator[NoticeGiven]:
    """Tell in one line what was lost: to the holder, and to the client whose call met it."""
    where = f" at {page.url}" if reopened.revisits else ""
    because = f", because {reopened.why}" if reopened.why else ""
    lines = [f"{page.page_id} was reopened{where}{because}; {_LOST}"]
    if reopened.first:
        lines.append("routes, headers, init scripts and emulation that were set ended with the service")
    if again := settings.named():
        lines.append(f"set again: {', '.join(again)}")
    for each in {client_id, page.holder_id} - {""}:
        offer = fields.offer(each, page.page_id) if reopened.revisits else ""
        yield page.notice(each, f"{'; '.join(filter(None, [*lines, offer]))}.")


def of_parking(page: PageRecord, client_id: str) -> NoticeGiven:
    """Tell the client whose call brings a parked page back what that lost."""
    idled = f"{page.page_id} had been idle, and was loaded anew at {page.url}"
    return page.notice(client_id, f"{idled}; what its scripts had in memory is lost.")


def of_settings(page: PageRecord, client_id: str) -> NoticeGiven:
    """Tell a new holder that what another client had set is ended."""
    what = "routes, headers, init scripts and emulation that another client had set are removed"
    return page.notice(client_id, f"{page.page_id}: {what}.")
