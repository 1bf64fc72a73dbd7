"""Opens and closes the pages of a session, sets what becomes of their dialogs, and changes who owns them."""

from typing import Final

from browse_together.contract.actions import dialogs, ownership, pages
from browse_together.contract.cuts import cut
from browse_together.contract.errors import InternalError, ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.words import own_words
from browser_service.actions.support.arrival import visit
from browser_service.host.handle.page import BrowserPage
from browser_service.host.record.record import DialogPolicy
from browser_service.host.stages.admission import owned_error
from browser_service.rules.claims import OFFER_S
from browser_service.security.origins import first_outside
from browser_service.security.urls import abridged
from browser_service.waits import until_claimed

_BLANK: Final = "about:blank"
_MOST_URL: Final = 2_000
_ACCEPTS: Final = {"ask": None, "accept": True, "dismiss": False}


async def handle_dialog(page: BrowserPage, action: dialogs.HandleDialog) -> Json:
    return await page.dialogs.answer(page.record, page.call, action)


async def set_dialog_policy(page: BrowserPage, action: dialogs.SetDialogPolicy) -> Json:
    if action.prompt_text is not None and action.policy != "accept":
        raise ValidationFailed(
            f"promptText is for the policy accept, not for {action.policy}.",
            hint="Leave it out.",
            details=field_details("promptText"),
        )
    record = page.record
    record.dialog_policy = DialogPolicy(page.call.client_id, _ACCEPTS[action.policy], action.prompt_text)
    how = "wait for handle_dialog" if action.policy == "ask" else f"are {action.policy}ed at once"
    still = f"; {record.dialog.named}, which is open, still waits for handle_dialog" if record.dialog else ""
    return {"policy": action.policy, "observed": f"dialogs of {page.page_id} {how} from now on{still}"}


async def claim_page(page: BrowserPage, action: ownership.ClaimPage) -> Json:
    mine, call, page_id = page.record.ownership, page.call, page.page_id
    agent, seconds = action.addressed.agent, action.wait_seconds
    holder = mine.holder()
    if holder is not None and holder.client_id == call.client_id:
        holder.agent = agent or holder.agent
        return {"claimed": page_id, "observed": f"{page_id} is yours already"}
    if holder is None:
        mine.take(call, agent)
    elif seconds and await until_claimed(mine, call, agent, seconds):
        return {
            "claimed": page_id,
            "useWithinSeconds": OFFER_S,
            "observed": f"{page_id} is yours; use it within {OFFER_S:.0f} s, or it passes on",
        }
    elif action.reason:
        mine.force(call, agent, action.reason)
        page.set_access(mine.access)
    elif seconds:
        raise mine.timeout_error(seconds)
    else:
        raise owned_error(page.record, holder, action)
    return {"claimed": page_id, "observed": f"{page_id} is yours now"}


async def release_page(page: BrowserPage, action: ownership.ReleasePage) -> Json:  # noqa: ARG001 - it says nothing more
    page.record.ownership.free()
    return {"released": page.page_id, "observed": f"{page.page_id} is free now"}


async def hold_page(page: BrowserPage, action: ownership.HoldPage) -> Json:
    page.record.ownership.hold(action.reason, action.minutes)
    until = page.record.ownership.free_at()
    return {"heldUntil": until, "observed": f"{page.page_id} is kept for you until {until}"}


async def share_page(page: BrowserPage, action: ownership.SharePage) -> Json:
    page.set_access(action.access)
    return {"access": action.access, "observed": f"{page.page_id}: {_ACCESS[action.access]}"}


async def hand_over_page(page: BrowserPage, action: ownership.HandOverPage) -> Json:
    recipient, page_id = page.call.recipient, page.page_id
    if recipient is None:
        raise InternalError("A page was handed over to nobody.")
    page.record.ownership.give(recipient)
    page.set_access(page.record.ownership.access)
    note = f", {own_words(action.note)}" if action.note else ""
    page.tell(recipient.client_id, f'"{page.call.client_label}" handed {page_id} over to you{note}.')
    return {"owner": recipient.label, "observed": f'{page_id} belongs to "{recipient.label}" now'}


_ACCESS = {
    "private": "others can neither read nor act on it",
    "read": "others may read it",
    "act": "others may act on it, in turns with you",
}


async def open_page(page: BrowserPage, action: pages.OpenPage) -> Json:
    if action.url is None:
        return {"url": page.url, "observed": "a blank page is open"}
    return await visit(page, action)


async def close_page(page: BrowserPage, action: pages.ClosePage) -> Json:
    url = abridged(page.record.url)
    if not await page.tab_life.close(run_before_unload=action.run_before_unload):
        return {"observed": f"page {page.page_id} stays open: its beforeunload dialog was dismissed"}
    observed = f"page {page.page_id} is closed"
    if url == _BLANK or first_outside(page.call.origins, [url]) is not None:
        return {"closed": page.page_id, "observed": observed}
    return {"closed": page.page_id, "url": url, "observed": f"{observed}; it was at {cut(url, _MOST_URL)}"}
