"""What happened within the past day: who was there, on which pages, what people were asked, what was downloaded; and
which logins there are."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from browse_together.contract.calls import DownloadState
from browse_together.contract.events import RequestOver
from browse_together.contract.model import Json
from browser_service.clients.colours import Colours
from browser_service.clients.downloads import Downloads
from browser_service.clients.inbox import EndedRequests
from browser_service.clients.presence import handle_of
from browser_service.observability.activity import Activity
from browser_service.sessions.directory import Directory
from browser_service.store.activity import Chat, UsedPage

_DAY_S: Final = 86_400
_MOST: Final = 200
_SAME_S: Final = 2.0
"""How long one answer serves all viewers."""


@dataclass(eq=False)
class Past:
    """The past day, as the account's own person sees it. Each list has the latest first; times are seconds since
    1970."""

    activity: Activity
    ended_requests: EndedRequests
    downloads: Downloads
    colours: Colours
    directory: Directory
    logins: Callable[[], list[Json]] = field(init=False, default=list)
    """Returns where sessions are signed in now."""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held during long reads of the journal."""
    _found: Json = field(default_factory=dict)
    _found_at: float | None = None

    async def day(self) -> Json:
        async with self.one_at_a_time:
            if self._found_at is None or time.monotonic() - self._found_at > _SAME_S:
                self._found = await self._find(time.time() - _DAY_S)
                self._found_at = time.monotonic()
        return self._found

    async def _find(self, since: float) -> Json:
        chats, pages = await self.activity.since(since)
        requests = await self.ended_requests.since(since, _MOST)
        labels = {chat.client_id: chat.label for chat in chats}
        began = ((each, datetime.fromisoformat(each.began_at).timestamp()) for each in self.downloads.of_all())
        downloads = [self._download(each, at, labels) for each, at in began if at >= since]
        return {
            "chats": [self._chat(chat, [page for page in pages if page.client_id == chat.client_id]) for chat in chats],
            "requests": [self._request(at, over) for at, over in requests],
            "downloads": [*downloads[:_MOST]],
            "logins": [*self.logins()[:_MOST]],
        }

    def _chat(self, chat: Chat, pages: list[UsedPage]) -> Json:
        return {
            "of": handle_of(chat.client_id),
            "label": chat.label,
            "colour": self.colours.known(chat.client_id),
            "acts": chat.acts,
            "failed": chat.failed,
            "from": chat.first_at,
            "until": chat.last_at,
            "pages": [*map(self._page, pages)],
        }

    def _page(self, page: UsedPage) -> Json:
        return {
            "id": page.page_id,
            "session": page.session_id,
            "acts": page.acts,
            "until": page.last_at,
            "open": self.directory.get(page.page_id) is not None,
        }

    @staticmethod
    def _request(at: float, over: RequestOver) -> Json:
        asked = over.request
        return {
            "kind": asked.kind,
            "by": asked.asked_by,
            "message": asked.message,
            "pageId": asked.page_id,
            "origin": asked.origin,
            "ended": over.state,
            "answeredBy": over.by,
            "chosen": over.chosen,
            "at": at,
        }

    def _download(self, download: DownloadState, at: float, labels: dict[str, str]) -> Json:
        return {
            "by": labels.get(download.client_id, ""),
            "colour": self.colours.known(download.client_id),
            "name": download.name,
            "pageId": download.page_id,
            "state": download.state,
            "size": download.size,
            "file": download.artifact_id,
            "why": download.reason,
            "at": at,
        }
