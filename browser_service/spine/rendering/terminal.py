"""Renders a reply for a person at a terminal: the text that an action is about, its file, and the page as it is now."""

import json
from typing import cast

from browser_service.spine.rendering.files import File
from browser_service.spine.rendering.result import list_at
from shared.actions.base import Action
from shared.model import Json
from shared.replies import TerminalReply
from shared.wire import DEFAULT_SESSION


def for_terminal(envelope: Json, action: type[Action]) -> TerminalReply:
    """Return what the action is about as text, else all of the result as JSON; a file by its name and size."""
    around = [_page_line(page)] if isinstance(page := envelope.get("page"), dict) else []
    around += [f"Notice: {cast('Json', each)['text']}" for each in list_at(envelope, "notices")]
    result = envelope.get("result")
    if not isinstance(result, dict):
        return TerminalReply(around=around)
    artifact = result.get("artifact")
    file = File.model_validate(artifact) if isinstance(artifact, dict) else None
    text = _text({key: value for key, value in result.items() if key != "artifact"}, action, file)
    return TerminalReply(text=text, around=around, artifact_id=file.artifact_id if file else None)


def _text(result: Json, action: type[Action], file: File | None) -> str:
    lines = []
    if result:
        value = result.get(action.text_key, result)
        lines.append(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))
    if action.text_key and (undo_call := result.get("undo")):
        lines.append(str(undo_call))
    if file:
        place = file.path or "--out FILE saves it"
        lines.append(f"{file.artifact_id}: {file.mime_type}, {file.size} bytes; {place}")
    return "\n".join(lines)


def _page_line(page: Json) -> str:
    session = f"session {page['sessionId']}" if page["sessionId"] != DEFAULT_SESSION else ""
    parts = (f"page {page['pageId']}", session, page["title"], page["url"], f"revision {page['revision']}")
    return f"[{' · '.join(str(part) for part in parts if part)}]"
