"""What the few actions that are no Playwright are given: the service itself, as one client may see it."""

import asyncio
from typing import TYPE_CHECKING

from browser_service.observability.asking import answer
from shared.actions.activity import GetActivity
from shared.calls import Json, Owner, PageBlock, PageState
from shared.errors import ErrorBody, Relayed

if TYPE_CHECKING:
    from browser_service.dispatch import Dispatcher


class Service:
    def __init__(self, dispatcher: "Dispatcher", client_id: str) -> None:
        self._dispatcher = dispatcher
        self._client_id = client_id

    async def list_pages(self, session_id: str | None) -> Json:
        """In three parts: yours, people's, and other agents'."""
        parts: dict[str, list[Json]] = {"yours": [], "people": [], "others": []}
        for page in await self._dispatcher.host.describe():
            if session_id in {None, page.session_id}:
                shown = page_block(page, self._client_id).model_dump(mode="json")
                parts[self._part(page)].append({**shown, "actedMsAgo": page.acted_ago_ms})
        return {name: [*pages] for name, pages in parts.items()}

    async def get_call(self, call_id: str, wait_ms: int) -> Json:
        """The outcome of a call, in its own words; or that it still runs."""
        record = self._dispatcher.register.find(self._client_id, call_id)
        await asyncio.wait({record.task}, timeout=wait_ms / 1000)
        if not record.task.done():
            return {"callId": call_id, "state": "running", "stillRunning": True, "elapsedMs": record.elapsed_ms}
        body = record.task.result().body
        if error := body.get("error"):
            raise Relayed(ErrorBody.model_validate({"status": record.task.result().status, **error}))  # type: ignore[dict-item] # our own envelope
        result = body.get("result")
        return {"callId": call_id, "state": "done", **(result if isinstance(result, dict) else {})}

    async def get_activity(self, asked: GetActivity) -> Json:
        return await answer(self._dispatcher.activity, asked, self._client_id)

    async def cancel_call(self, call_id: str) -> Json:
        state = await self._dispatcher.cancel(self._client_id, call_id)
        return {"callId": call_id, "state": state}

    def _part(self, page: PageState) -> str:
        if page.holder_id == self._client_id:
            return "yours"
        nobody_here_opened_it = page.holder_id is None and page.page_id.split("~")[0] == page.session_id
        return "people" if nobody_here_opened_it else "others"


def page_block(page: PageState, client_id: str) -> PageBlock:
    """A page as a client may know it: the holder's label, never its id."""
    return PageBlock(
        page_id=page.page_id,
        session_id=page.session_id,
        url=page.url,
        title=page.title,
        revision=page.revision,
        owner=Owner(label=page.holder_label, you=page.holder_id == client_id) if page.holder_id else None,
    )
