"""Makes the errors of calls on which a page died or went elsewhere, and adds what is known of its browser."""

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.launching.memory import Memory
from browser_service.host.page.record import PageRecord
from shared.actions.base import Action
from shared.actions.traits import Effect
from shared.errors import BrowseError, BrowserCrashed, TimedOut, UnknownOutcome
from shared.model import Json
from shared.next_calls import next_call


def unfinished(page: PageRecord, cause: str, action: Action) -> UnknownOutcome:
    """Make the error of an act that was done, and whose page died before its effect was seen."""
    return UnknownOutcome(
        f"{action.name()} was done, and then {cause or 'the page ended'}: its effect was not seen.",
        hint=f"Look first ({next_call('snapshot', page_id=page.page_id)} reopens the page at {page.url}), then decide "
        "whether to repeat it.",
        details={"url": page.url, "context": {"lastUrl": page.url}},
    )


def interrupted(page: PageRecord, cause: str, action: Action, error: PlaywrightError) -> BrowseError:
    """Make the error of a call that ran when its page died."""
    url, cause, name = page.url, cause or "the page ended", action.name()
    details: Json = {"url": url, "context": {"lastUrl": url, "crashReason": str(error).splitlines()[0]}}
    if action.effect is Effect.READS or errors.not_begun(error):
        hint = f"{cause[:1].upper()}{cause[1:]}; {name} did nothing. Repeat the call: the page is reopened at {url}."
        return BrowserCrashed("Browser instance crashed unexpectedly", hint=hint, details=details)
    return UnknownOutcome(
        f"{name} was under way when {cause}.",
        hint=f"It may or may not have happened: look first ({next_call('snapshot', page_id=page.page_id)} reopens the "
        f"page at {url}), then decide whether to repeat it.",
        details=details,
    )


def under_way(action: Action, url: str, pending_url: str) -> TimedOut:
    """Make the error of a call whose time ended while the page went elsewhere."""
    return TimedOut(
        f"{action.name()} did not end within {action.allowed_ms()} ms: the page goes to {pending_url}, whose server "
        "has not answered yet. Until then it can neither be read nor acted on.",
        hint=f"Wait longer for it: {next_call('snapshot', timeout=30000)}. Or leave: {next_call('goto', url='...')}.",
        details={"url": url, "context": {"timeout": action.allowed_ms(), "navigatingTo": pending_url}},
    )


def add_crash_context(error: BrowseError, page: PageRecord | None, memory: Memory) -> None:
    """Add to the error of a crash which browser it was, where the page was, and how much memory was in use."""
    found = error.details.get("context")
    context = found if isinstance(found, dict) else {}
    if not isinstance(error, BrowserCrashed) and "crashReason" not in context:
        return
    known: Json = {}
    if page is not None and page.browser_id:
        known = {"browserId": page.browser_id, "lastUrl": page.url}
    if memory.latest_mb:
        known["memoryUsage"] = _amount(memory.latest_mb)
    error.details["context"] = {**known, **context}


def _amount(megabytes: int) -> str:
    return f"{megabytes / 1000:.1f}GB" if megabytes >= 1000 else f"{megabytes}MB"  # noqa: PLR2004 - of one unit to the other
