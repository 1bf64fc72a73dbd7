"""Checks whose logins a new session may begin with, and words what was copied."""

from collections.abc import Awaitable, Callable

from browse_together.contract.actions.sessions import CreateSession
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json, list_at
from browser_service.rules.login_cookies import bound_words
from browser_service.security.http_logins import BOUND
from browser_service.security.urls import origin_of
from browser_service.sessions.records import SessionRecord, Sessions

ReadLogins = Callable[[str, list[str]], Awaitable[Json]]
"""Reads a session's cookies, and its storage of some origins, in Playwright's form."""


def source_of(action: CreateSession, sessions: Sessions, client_id: str) -> SessionRecord | None:
    """Return the session whose logins a new one begins with, if any. Raises ValidationFailed, and SessionNotFound,
    SessionExpired or Forbidden for one that the client may not use."""
    if action.source is None:
        if action.sites:
            raise _misplaced("sites", "goes with `from`, the session whose storage is copied")
        return None
    if action.proxy is not None:
        raise _misplaced("proxy", "does not go with `from`: the proxy would see what the copied logins send")
    for number, site in enumerate(action.sites):
        if origin_of(site) is None:
            raise _misplaced(f"sites.{number}", "is no origin, such as https://example.com")
    sessions.check_use(action.source, client_id)
    return sessions.record(action.source)


def copied_text(source_id: str, state: Json) -> str:
    """Word what a new session begins with, for its creator."""
    sites = [str(each.get("origin")) for each in list_at(state, "origins") if isinstance(each, dict)]
    count = len(list_at(state, "cookies"))
    storage = f"storage of {', '.join(sites)}" if sites else "no storage"
    copied = f"{count} cookie{'' if count == 1 else 's'} of {source_id}, {storage}"
    cookies = [each for each in list_at(state, "cookies") if isinstance(each, dict)]
    words = bound_words(cookies, [str(host) for host in list_at(state, BOUND)])
    bound = f" Some of these logins are {words}." if words else ""
    return f"{copied}. A site that rotates its tokens may sign {source_id} out when this session uses them.{bound}"


def _misplaced(field: str, problem: str) -> ValidationFailed:
    return ValidationFailed(f"{field} of create_session {problem}.", details=field_details(field))
