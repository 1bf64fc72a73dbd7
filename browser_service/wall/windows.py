"""Shows a file, or the replay of a page or a chat, in a window of its own."""

import asyncio
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, Response

from browse_together.contract import wire
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.frames import ActPictures
from browser_service.clients.presence import handle_of
from browser_service.http.routes import services
from browser_service.observability.replay import Act, Replay
from browser_service.security.auth import Identity
from browser_service.services import Services
from browser_service.store.activity import RowFilter
from browser_service.wall.entry import viewer_of
from browser_service.wall.seat import identity_of

router = APIRouter(include_in_schema=False)

_MOST_ACTS: Final = 1_000
_MOST_BYTES: Final = 30_000_000
_SHOWN: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain", "text/csv")
"""What a browser shows without running anything of it. All else is saved."""
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_OF_FILE: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'"


@router.get(wire.WALL_WINDOW + "/{ticket}")
async def window(ticket: str, request: Request) -> Response:
    parts = services(request)
    viewer = viewer_of(request, parts.viewing)
    what, of = parts.viewing.opened(viewer, ticket)
    identity = identity_of(viewer)
    if what in {"file", "copy"}:
        return await _file(parts, identity, of, is_copy=what == "copy")
    async with parts.past.one_at_a_time:
        return HTMLResponse(await _replay(parts, identity, what, of), headers=_HEADERS)


async def _file(parts: Services, identity: Identity, artifact_id: str, *, is_copy: bool) -> Response:
    file = await parts.reads.file(identity, artifact_id)
    shown = not is_copy and file.mime_type in _SHOWN
    headers = {**_HEADERS, "Content-Security-Policy": _OF_FILE}
    name = file.name or artifact_id
    how = "inline" if shown else "attachment"
    return FileResponse(
        file.path, media_type=file.mime_type, filename=name, headers=headers, content_disposition_type=how
    )


async def _replay(parts: Services, identity: Identity, what: str, of: str) -> str:
    """Return the page that plays what was done on a page, or by the chat with this handle."""
    equal, filters = {"page_id": of}, {"pageId": of}
    if what == "chat":
        labels = await parts.activity.clients()
        client_id = next((each for each in labels if handle_of(each) == of), "")
        equal, filters = {"client_id": client_id}, {"client": ", ".join(sorted(labels.get(client_id, ())))}
    who = identity.client_id
    records, more = await parts.activity.find(RowFilter(equal=equal), who, _MOST_ACTS, all_rows=True)
    if not records:
        raise ValidationFailed("Nothing is recorded of it any more.", hint="Look at the past day anew.")
    made = Replay(filters, _MOST_BYTES, more=more)
    for start in range(0, len(records), wire.MOST_PICTURED):
        some = records[start : start + wire.MOST_PICTURED]
        ids = [record.id for record in some] if made.has_room else []
        pictures = await parts.activity.pictures(ids, who, all_rows=True)
        made.add([Act(record, pictures.get(record.id, ActPictures())) for record in some])
    return await asyncio.to_thread(made.html)
