"""Reads artifacts of earlier calls: the rest of a text or a picture after a cursor, and pictures to compare."""

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.media import CompareScreenshots, Screenshot
from browse_together.contract.actions.traits import ReadOn
from browse_together.contract.errors import ValidationFailed, field_details
from browse_together.contract.model import Json
from browse_together.contract.wire import PDF
from browser_service.host.files import Files
from browser_service.host.reading.comparison import compare_artifacts
from browser_service.pdf_text import pdf_text
from browser_service.pictures import slice_of

_DIGITS = 15


async def read_kept(files: Files, action: Action) -> Json:
    """Perform an action that needs only artifacts, so neither a page nor a turn."""
    cursor, budget = action.reads_on or ReadOn("")
    if action.name() == Screenshot.name():
        return await _picture(files, cursor)
    match action:
        case CompareScreenshots():
            return await compare_artifacts(files, action)
    return await _text(files, action.text_key, cursor, budget)


async def _text(files: Files, key: str, cursor: str, budget: int | None) -> Json:
    """Return the next part of the text stored under `key`, and a cursor if more follows. A PDF has a text too."""
    artifact_id, start = _place(cursor)
    if not start and (await files.describe(artifact_id)).mime_type.startswith(PDF):
        data, _ = await files.data(artifact_id)
        return await files.shown(key, await pdf_text(data), budget)
    text = await files.text(artifact_id)
    end = start + (budget or files.room)
    more: Json = {"cursor": f"{artifact_id}:{end}"} if end < len(text) else {}
    return {key: text[start:end], **more, "length": len(text)}


async def _picture(files: Files, cursor: str) -> Json:
    """Return the next rows of a stored picture."""
    artifact_id, top = _place(cursor)
    data, _ = await files.data(artifact_id)
    preview = await slice_of(data, artifact_id, top)
    artifact = await files.describe(artifact_id)
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
