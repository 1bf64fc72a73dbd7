"""Explains why there is no page of a name, and what to do."""

from collections.abc import Collection

from browser_service.sessions.closed_pages import ClosedPage
from browser_service.sessions.records import Sessions
from shared.actions.base import Action
from shared.errors import BrowseError, PageNotFound, SessionExpired, SessionNotFound
from shared.likeness import nearest
from shared.model import Json
from shared.next_calls import next_call
from shared.wire import DEFAULT_SESSION

_URL_REPEATED = 300


def was_elsewhere(
    closed: ClosedPage, action: Action, client_id: str, sessions: Sessions, *, undoable: bool
) -> BrowseError:
    """Return the error that says why a page of a closed or private session is not opened in the shared login."""
    page_id, session_id = closed.page_id, closed.session_id
    url = action.asked_url
    url = url if url and len(url) <= _URL_REPEATED else "..."
    there, shared = (
        next_call("goto", page_id=page_id, session_id=each, url=url) for each in (session_id, DEFAULT_SESSION)
    )
    otherwise = f"In the shared login, with the user's own logins: {shared}; or take another name."
    details: Json = {"context": {"pageId": page_id, "sessionId": session_id}}
    if session_id in sessions:
        again = f"Open it there again: {there}. " if sessions.may_use(session_id, client_id) else ""
        problem = f'Page {page_id!r} is closed; it was of session "{session_id}".'
        return PageNotFound(problem, hint=again + otherwise, details=details)
    ended = sessions.not_found(session_id)
    if isinstance(ended, SessionExpired):
        hint = f"{ended.advice} {otherwise}"
        return SessionExpired(f"Page {page_id!r} is closed. {ended.message}", hint=hint, details=details)
    made = next_call("create_session", session_id=session_id)
    undo = f"Bring both back, within 10 minutes: {next_call('undo', list=True)} names the call. "
    how = "ended with the service, which was restarted" if closed.by_restart else "is closed"
    return SessionNotFound(
        f'Page {page_id!r} was of session "{session_id}", which {how}.',
        hint=f"{undo if undoable else ''}A session anew, which is logged in nowhere: {made}, then {there}. {otherwise}",
        details=details,
    )


def no_page(page_id: str, known: Collection[str]) -> PageNotFound:
    """Return the error that there is no page of that name, with the nearest name that there is."""
    root = page_id.partition("~")[0]
    near = next(iter(nearest(page_id, known)), None)
    hint = f'Did you mean "{near}"? ' if near and near != root else ""
    if root != page_id and root in known:
        there = f'A popup of "{root}" had that name; "{root}" is open: {next_call("snapshot", page_id=root)}. '
        listed = f"See what else is: {next_call('list_pages')}."
    else:
        there = f"Open it with {next_call('goto', page_id=root, url='...')}, "
        listed = f"or see what is open: {next_call('list_pages')}."
    return PageNotFound(
        f"There is no page {page_id!r}.",
        hint=f"{hint}{there}{listed}",
        details={"context": {"pageId": page_id, "nearest": near}},
    )
