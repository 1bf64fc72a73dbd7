"""Answers the dialogs of a page."""

from typing import Final

from browser_service.host.pages.handle import BrowserPage
from browser_service.host.tabs.record import DialogPolicy
from shared.actions import dialogs
from shared.errors import ValidationFailed, field_details
from shared.model import Json

_ACCEPTS: Final = {"ask": None, "accept": True, "dismiss": False}


async def handle_dialog(page: BrowserPage, action: dialogs.HandleDialog) -> Json:
    return await page.answer_dialog(action)


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
