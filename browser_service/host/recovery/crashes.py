"""Adds to the error of a crash which browser it was, where the page was, and how much memory was in use."""

from browser_service.host.launching.memory import Memory
from browser_service.host.page.record import PageRecord
from shared.errors import BrowseError, BrowserCrashed
from shared.model import Json


def describe(error: BrowseError, page: PageRecord | None, memory: Memory) -> None:
    """Add what is known to an error of a crash, and nothing that was not observed."""
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
