"""Pages that end during an act."""

from playwright.async_api import Error as PlaywrightError

from browser_service.host import errors
from browser_service.host.sessions.memory import Memory
from browser_service.host.stages.act import Stage
from browser_service.host.tabs.record import PageRecord
from shared.actions.traits import Effect
from shared.errors import BrowseError, BrowserCrashed, UnknownOutcome
from shared.model import Json
from shared.next_calls import next_call


class Crash(Stage):
    """The end of a page under an act, unless that is what the act was for."""

    async def failed(self, error: Exception) -> Exception | None:
        current, record = self.page.current, self.page.record
        if not isinstance(error, PlaywrightError):
            return error
        if current.gone and not record.life.over and self.act.observed and errors.began(error):
            return None
        if current.gone:
            return record.closed_error(f" while {self.action.name()} ran")
        return self._interrupted(error) if await current.died(error) else error

    def _interrupted(self, error: PlaywrightError) -> BrowseError:
        page, cause, name = self.page.record, self.page.current.cause() or "the page ended", self.action.name()
        details: Json = {"url": page.url, "context": {"lastUrl": page.url, "crashReason": str(error).splitlines()[0]}}
        if self.action.effect is Effect.READS or errors.not_begun(error):
            said = f"{cause[:1].upper()}{cause[1:]}; {name} did nothing."
            hint = f"{said} Repeat the call: the page is reopened at {page.url}."
            return BrowserCrashed("Browser instance crashed unexpectedly", hint=hint, details=details)
        return UnknownOutcome(
            f"{name} was under way when {cause}.",
            hint=f"It may or may not have happened: look first ({next_call('snapshot', page_id=page.page_id)} reopens "
            f"the page at {page.url}), then decide whether to repeat it.",
            details=details,
        )


def add_crash_context(error: BrowseError, page: PageRecord | None, memory: Memory) -> None:
    """Add to a crash's error which browser it was, where the page was, and how much memory was in use."""
    found = error.details.get("context")
    context = found if isinstance(found, dict) else {}
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
