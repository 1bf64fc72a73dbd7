"""What the parts of a call share: a call may carry other actions."""

from typing import TypedDict

from browse_together.contract.actions.traits import Effect
from browser_service.host.calls import CallRun


class PlaceOfPart(TypedDict):
    """What a part of a call is to the others; `BrowserPage` says what each means."""

    reply_shares: int
    quiet: bool
    is_last: bool
    follows: bool


def place_of_part(run: CallRun, index: int) -> PlaceOfPart:
    """Return what a part of a call is to the others. A part shows changes only if no later part does, and a new
    document only if no part follows."""
    parts = run.action.parts()
    tell = [each.text_key == "observed" for each in parts]
    shows = [told and each.asked_reply.amount in {"delta", "full"} for told, each in zip(tell, parts, strict=True)]
    follows = any(each.effect is not Effect.READS for each in parts[:index])
    return PlaceOfPart(
        reply_shares=max(1, len(parts) - sum(tell)),
        quiet=any(shows[index + 1 :]),
        is_last=index == len(parts) - 1,
        follows=follows,
    )


async def wait_for_dialog(run: CallRun) -> None:
    """Wait for the answer to a dialog that opened during an earlier part."""
    if run.suspended:
        try:
            await run.wait_for_dialog()
        except TimeoutError:
            raise run.cancelled_error() from None
