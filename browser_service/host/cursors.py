"""Reads on in a text or picture that is kept, from where a cursor points."""

from browser_service.host.files import ArtifactPort, Files
from browser_service.host.reading.pdf_text import pdf_text
from browser_service.pictures import slice_of
from shared.calls import Call
from shared.errors import ValidationFailed, field_details
from shared.model import Json
from shared.wire import MAX_MESSAGE_BYTES, PDF

_DIGITS = 15


def reader(call: Call) -> str | None:
    """Name the client whose files a call may read; None for all, where the account's own person calls."""
    return None if call.by_person else call.client_id


async def read_on(artifacts: ArtifactPort, call: Call, key: str, cursor: str, budget: int | None) -> Json:
    """Return the next part of a text that is kept, under `key`, and a cursor where there is more. A PDF has a text
    too."""
    artifact_id, start = _place(cursor)
    if not start and (await artifacts.describe(artifact_id, reader(call))).mime_type.startswith(PDF):
        data, _ = await artifacts.data(artifact_id, reader(call))
        files = Files(artifacts, call.client_id, inline_text=call.inline_text)
        return await files.shown(key, await pdf_text(data), budget)
    text = await artifacts.text(artifact_id, reader(call))
    end = start + (budget or call.inline_text or MAX_MESSAGE_BYTES // 2)
    more: Json = {"cursor": f"{artifact_id}:{end}"} if end < len(text) else {}
    return {key: text[start:end], **more, "length": len(text)}


async def read_picture(artifacts: ArtifactPort, call: Call, cursor: str) -> Json:
    """Return the next rows of a picture that is kept."""
    artifact_id, top = _place(cursor)
    data, _ = await artifacts.data(artifact_id, reader(call))
    preview = await slice_of(data, artifact_id, top)
    artifact = await artifacts.describe(artifact_id, reader(call))
    return {"artifact": artifact.model_copy(update={"preview": preview}).model_dump(exclude_none=True)}


def _place(cursor: str) -> tuple[str, int]:
    artifact_id, _, offset = cursor.rpartition(":")
    if not artifact_id or not (offset.isascii() and offset.isdecimal() and len(offset) < _DIGITS):
        raise ValidationFailed(
            f"cursor {cursor!r} is not one of ours.",
            hint="Give it exactly as a reply did.",
            details=field_details("cursor"),
        )
    return artifact_id, int(offset)
