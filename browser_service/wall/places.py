"""Where a person's pages go: addresses, back, forward, new pages, and the places that pages have been at."""

from collections.abc import Awaitable, Callable
from typing import Final

from browse_together.contract.model import Json
from browse_together.contract.wire import ATTACHED_SESSION, DEFAULT_SESSION
from browser_service.services import Services
from browser_service.wall.messages import Go

Run = Callable[[Json], Awaitable[Json]]
"""Runs a call as the person, and returns its result. Raises the call's error."""

_NAME: Final = "person"
_ACTIONS: Final = {"url": "goto", "back": "go_back", "forward": "go_forward", "reload": "reload_page"}


async def go(parts: Services, run: Run, message: Go) -> str:
    """Lead a page elsewhere. Returns why it stayed where it was, if it did."""
    page = parts.directory.get(message.page_id)
    body: Json = {"action": _ACTIONS[message.to], "pageId": message.page_id}
    result = await run(body | ({"url": message.url} if message.to == "url" else {}))
    stayed = page is not None and message.to in {"back", "forward"} and result.get("url") == page.url
    return str(result.get("observed", "")) if stayed else ""


async def open_page(parts: Services, run: Run, session_id: str) -> str:
    """Open a page that is in the person's hands at once. Returns its id."""
    page_id = parts.directory.free_name(_NAME)
    where: Json = {} if session_id == DEFAULT_SESSION else {"sessionId": session_id}
    await run({"action": "open_page", "pageId": page_id, **where})
    await run({"action": "take_over", "pageId": page_id})
    return page_id


def places(parts: Services, session_id: str) -> Json:
    """Return where a page can be opened, and where the pages of one session have been, the latest first."""
    sessions = {DEFAULT_SESSION, *(page.session_id for page in parts.directory.pages())}
    if parts.directory.sessions.is_attached(ATTACHED_SESSION):
        sessions.add(ATTACHED_SESSION)
    visited = parts.wall.visited.of(session_id)
    return {"sessions": [*sorted(sessions)], "visited": [{"url": url, "title": title} for url, title in visited]}
