"""What the end of a tab means for the act that ran there, or was about to. `TabLife` knows how tabs end, and `Recovery`
brings pages back."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.traits import Effect
from browse_together.contract.errors import BrowseError, BrowserCrashed, UnknownOutcome
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import next_call
from browser_service.host import errors
from browser_service.host.handle.page import BrowserPage
from browser_service.host.record.record import PageRecord
from browser_service.host.sessions.memory import Memory
from browser_service.host.stages.act import Act

_ENDED = "the page ended"


def of_opening(page: BrowserPage, name: str, error: PlaywrightError) -> BrowserCrashed:
    """Make the error for an act whose page ended before the act began."""
    return BrowserCrashed(
        f"Page {page.page_id!r} ended while it was opened; {name} did not happen.",
        details={"url": page.record.url, "context": {"crashReason": str(error).splitlines()[0]}},
    )


async def of_end(act: Act, error: Exception) -> Exception | None:
    """Tell of the end of a page under an act, unless that is what the act was for."""
    page, record = act.page, act.page.record
    # The handler found no tab any more, maybe after it had acted.
    lost = isinstance(error, BrowserCrashed) and act.observed and not record.live
    if not (lost or isinstance(error, PlaywrightError)):
        return error
    page.session.look()
    if record.life.closed and not record.life.over and act.observed and errors.began(error):
        return None
    if record.life.closed:
        return record.closed_error(f" while {act.action.name()} ran")
    ended = lost or (isinstance(error, PlaywrightError) and await page.tab_life.has_ended(error))
    return _interrupted(act, error) if ended else error


def _interrupted(act: Act, error: Exception) -> BrowseError:
    page, cause, name = act.page.record, act.page.tab_life.cause() or _ENDED, act.action.name()
    details: Json = {"url": page.url, "context": {"lastUrl": page.url, "crashReason": str(error).splitlines()[0]}}
    if act.action.effect is Effect.READS or not act.begun or (errors.not_begun(error) and not act.sends.any):
        said = f"{cause[:1].upper()}{cause[1:]}; {name} did nothing."
        hint = f"{said} Repeat the call: the page is reopened at {page.url}."
        return BrowserCrashed("Browser instance crashed unexpectedly", hint=hint, details=details)
    return _unknown(act, f"{name} was under way when {cause}.", "It may or may not have happened: look first", details)


@contextmanager
def after(act: Act) -> Iterator[None]:
    """In the block, which looks at what an act did, the end of its tab leaves that unseen."""
    try:
        yield
    except BrowserCrashed:
        check_seen(act)
        raise


def check_seen(act: Act) -> None:
    """Raise UnknownOutcome if the tab ended after the act and before its effects were seen, and note in what was
    observed if its window closed."""
    page = act.page.record
    if page.life.closed:
        act.observation.notes.append(f"the page closed. {page.opener_hint}".rstrip(" ."))
    elif not page.live:
        name, cause = (
            f"{act.action.name()} was {'done' if act.end_seen else 'begun'}",
            act.page.tab_life.cause() or _ENDED,
        )
        raise _unknown(
            act,
            f"{name}, and then {cause}: its effect was not seen.",
            "Look first",
            {"url": page.url, "context": {"lastUrl": page.url}},
        )


def _unknown(act: Act, message: str, look: str, details: Json) -> UnknownOutcome:
    page = act.page.record
    return UnknownOutcome(
        message,
        hint=f"{look} ({next_call('snapshot', page_id=page.page_id)} reopens the page at {page.url}), then decide "
        "whether to repeat it.",
        details=details,
    )


def add_crash_context(error: BrowseError, page: PageRecord | None, memory: Memory) -> None:
    """Add to a crash's error which browser it was, where the page was, and how much memory was in use."""
    context = object_at(error.details, "context")
    if not isinstance(error, BrowserCrashed) and "crashReason" not in context:
        return
    known: Json = {}
    if page is not None and page.browser_id:
        known = {"browserId": page.browser_id, "lastUrl": page.url}
    if memory.used_mb:
        known["memoryUsage"] = _amount(memory.used_mb)
    error.details["context"] = {**known, **context}


def _amount(megabytes: int) -> str:
    return f"{megabytes / 1000:.1f}GB" if megabytes >= 1000 else f"{megabytes}MB"  # noqa: PLR2004 - of one unit to the other
