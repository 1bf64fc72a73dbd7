"""Renders a reply for a reader of resources: the contents of one, or the ids that complete an address."""

import json

from browser_service.spine.rendering.files import File
from browser_service.spine.rendering.result import origin_of
from shared.actions.base import Action
from shared.model import Json
from shared.quoting import Foreign, assembled, escaped, legible
from shared.replies import Completions, Contents, ForCompletion, ForReader
from shared.resources import JSON


def for_reader(envelope: Json, action: type[Action], form: ForReader) -> Contents:
    """Return the action's text, or its whole result if it has none. If JSON is asked for and there is a text, return
    the rest of the result."""
    result = envelope.get("result")
    if not isinstance(result, dict):
        return Contents(mime_type=form.mime_type)
    if isinstance(artifact := result.get("artifact"), dict):
        file = File.model_validate(artifact)
        artifact_id = file.artifact_id if file.data is None else None
        return Contents(mime_type=file.mime_type, blob=file.data, artifact_id=artifact_id)
    value = result.get(action.text_key, result)
    if form.mime_type == JSON and isinstance(value, str):
        value = {key: each for key, each in result.items() if key != action.text_key}
    if not isinstance(value, str):
        return Contents(mime_type=form.mime_type, text=escaped(json.dumps(value, ensure_ascii=False)))
    page = envelope.get("page")
    url = str(result.get("url") or (page["url"] if isinstance(page, dict) else ""))
    text = assembled([Foreign(f"{origin_of(url)} says", value)]) if action.untrusted else legible(value)
    return Contents(mime_type=form.mime_type, text=text)


def for_completion(envelope: Json, form: ForCompletion) -> Completions:
    """Return the ids of a listing's items; none if its items have no such key."""
    result = envelope.get("result")
    parts = result.values() if isinstance(result, dict) else ()
    items = [item for part in parts if isinstance(part, list) for item in part]
    return Completions(values=[str(item[form.key]) for item in items if isinstance(item, dict) and form.key in item])
