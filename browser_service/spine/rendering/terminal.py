"""Renders a reply for a person at a terminal: the action's text, its file, and the page as it is now."""

import json
from typing import cast

from browse_together.contract.actions.base import Action
from browse_together.contract.call_spellings import as_command
from browse_together.contract.model import Json, list_at
from browse_together.contract.next_calls import spelled
from browse_together.contract.quoting import Foreign, address, assembled, each_framed, escaped, flat, one_line, quoted
from browse_together.contract.replies import TerminalReply
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.spine.rendering.files import File
from browser_service.spine.rendering.own_words import spell_words
from browser_service.spine.rendering.result import (
    ADVICE,
    lines_beside,
    numbered,
    origin_of,
    reading_on,
    step_lines,
    without_advice,
)

_SEEN = "observed"
"""Key of the text of an act, which is for people. Other actions' texts may be what a script asked for."""


def for_terminal(envelope: Json, action: type[Action], page_id: str = "") -> TerminalReply:
    """Return the action's text, or its whole result as JSON if it has none; a file by its name and size.

    What a chat reads beside the text (effects, outline, changes, how to read on) stands below an act's text. With other
    actions it stands around the text, so that the text alone can be piped; a page's words are then shown without a
    frame."""
    envelope = spell_words(envelope, as_command, page_id)
    page = envelope.get("page")
    around = [_page_line(page)] if isinstance(page, dict) else []
    # the service's own notices
    around += [flat(f"Notice: {cast('Json', each)['text']}") for each in list_at(envelope, "notices")]
    result = envelope.get("result")
    if not isinstance(result, dict):
        return TerminalReply(around=around)
    artifact = result.get("artifact")
    file = File.model_validate(artifact) if isinstance(artifact, dict) else None
    result = {key: value for key, value in result.items() if key != "artifact"}
    page_url = str(page["url"]) if isinstance(page, dict) else ""
    beside = _beside(result, action, page_url)
    is_act = action.text_key == _SEEN
    text = _text(result, action, file, page_url, beside if is_act else [])
    return TerminalReply(
        text=text,
        around=around if is_act else [*each_framed(beside), *around],
        artifact_id=file.artifact_id if file else None,
    )


def _beside(result: Json, action: type[Action], page_url: str) -> list[str | Foreign]:
    """Return the lines that a chat reads below the text, unless the whole result is shown."""
    advice = str(result.get(ADVICE) or "")
    if action.text_key not in result or result.get("suspended"):
        return [advice]
    beside = lines_beside(action, result, origin_of(str(result.get("url") or page_url)))
    return [*beside, advice, spelled(reading_on(action, result), as_command)]


def _text(result: Json, action: type[Action], file: File | None, page_url: str, beside: list[str | Foreign]) -> str:
    parts = [_own_text(result, action, page_url)] if result else []
    rest = [*beside]
    if file:
        place = file.path or "--out FILE saves it"
        rest.append(f"{file.artifact_id}: {file.mime_type}, {file.size} bytes; {place}")
    return "\n".join([*parts, *each_framed(rest)])


def _own_text(result: Json, action: type[Action], page_url: str) -> str:
    value = result.get(action.text_key, without_advice(result))
    if action.part_fields and isinstance(value, list):
        return assembled([line for each in numbered(value) for line in step_lines(*each, page_url, as_command)])
    if not isinstance(value, str):
        return escaped(json.dumps(value, indent=2, ensure_ascii=False))
    return flat(value) if action.text_key == _SEEN else value


def _page_line(page: Json) -> str:
    session = f"session {page['sessionId']}" if page["sessionId"] != DEFAULT_SESSION else ""
    title, url = str(page["title"]), address(str(page["url"]))
    error, revision = one_line(str(page.get("errorPage") or "")), f"revision {page['revision']}"
    parts = (f"page {page['pageId']}", session, quoted(title) if title else "", url, revision, error)
    return f"[{' · '.join(str(part) for part in parts if part)}]"
