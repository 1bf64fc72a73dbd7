"""What the parts of a call share: a call may carry other actions."""

from dataclasses import replace

from browse_together.contract.actions.traits import Effect
from browser_service.host.calls import CallRun
from browser_service.host.pages.handle import BrowserPage


def as_part(page: BrowserPage, run: CallRun, index: int) -> BrowserPage:
    """Return the page as one part of a call sees it. A part shows changes only if no later part does."""
    parts = run.action.parts()
    tell = [each.text_key == "observed" for each in parts]
    shows = [told and each.asked_reply.amount in {"delta", "full"} for told, each in zip(tell, parts, strict=True)]
    follows = any(each.effect is not Effect.READS for each in parts[:index])
    shares = max(1, len(parts) - sum(tell))
    return replace(page, reply_shares=shares, quiet=any(shows[index + 1 :]), follows=follows)


async def wait_for_dialog(run: CallRun) -> None:
    """Wait for the answer to a dialog that opened during an earlier part."""
    if run.suspended:
        try:
            await run.wait_for_dialog()
        except TimeoutError:
            raise run.cancelled_error() from None
