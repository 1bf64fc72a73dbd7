"""Interruptions: what a call is told on which its page died."""

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.page.record import PageRecord
from shared.actions.base import Action
from shared.actions.traits import Effect
from shared.errors import BrowseError, BrowserCrashed, UnknownOutcome
from shared.model import Json
from shared.next_calls import next_call


def unfinished(page: PageRecord, why: str, action: Action) -> UnknownOutcome:
    """Make the error of an act that was done, and whose page died before anything was seen of what came of it."""
    return UnknownOutcome(
        f"{action.name()} was done, and then {why or 'the page ended'}: what came of it was not seen.",
        hint=f"Look first ({next_call('snapshot', page_id=page.page_id)} reopens the page at {page.url}), then decide "
        "whether to repeat it.",
        details={"url": page.url, "context": {"lastUrl": page.url}},
    )


def interrupted(page: PageRecord, why: str, action: Action, error: PlaywrightError) -> BrowseError:
    """Make the error of a call that ran when its page died."""
    url, what, name = page.url, why or "the page ended", action.name()
    reason = str(error).splitlines()[0]
    details: Json = {"url": url, "context": {"lastUrl": url, "crashReason": reason}}
    if action.effect is Effect.READS or errors.not_begun(error):
        hint = f"{what[:1].upper()}{what[1:]}; {name} did nothing. Repeat the call: the page is reopened at {url}."
        return BrowserCrashed("Browser instance crashed unexpectedly", hint=hint, details=details)
    return UnknownOutcome(
        f"{name} was under way when {what}.",
        hint=f"It may or may not have happened: look first ({next_call('snapshot', page_id=page.page_id)} "
        "reopens the page "
        f"at {url}), then decide whether to repeat it.",
        details=details,
    )
