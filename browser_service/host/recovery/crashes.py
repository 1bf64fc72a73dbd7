"""What the error of a crash says beside its message: of which browser, where the page was, and how much memory there
was in use."""

from typing import TYPE_CHECKING

from browser_service.host.launching.memory import Memory
from shared.errors import BrowseError, BrowserCrashed
from shared.model import Json

if TYPE_CHECKING:
    from browser_service.host.page.entry import PageEntry


def describe(error: BrowseError, entry: "PageEntry | None", memory: Memory) -> None:
    """Add to an error of a crash what is known; nothing is said of what was not observed."""
    found = error.details.get("context")
    context = found if isinstance(found, dict) else {}
    if not isinstance(error, BrowserCrashed) and "crashReason" not in context:
        return
    known: Json = {}
    if entry is not None and entry.browser_id:
        known = {"browserId": entry.browser_id, "lastUrl": entry.url}
    if memory.seen_mb:
        known["memoryUsage"] = _amount(memory.seen_mb)
    error.details["context"] = {**known, **context}


def _amount(megabytes: int) -> str:
    return f"{megabytes / 1000:.1f}GB" if megabytes >= 1000 else f"{megabytes}MB"  # noqa: PLR2004 - of one unit to the other
