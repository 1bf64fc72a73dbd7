"""Renders a reply in the form that its caller asked for."""

import functools
import json
from dataclasses import replace
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from browse_together.contract import catalogue, wire, written
from browse_together.contract.actions.base import Action
from browse_together.contract.errors import InvalidRequest
from browse_together.contract.model import Json, object_at
from browse_together.contract.quoting import Foreign, assembled, escaped, legible
from browse_together.contract.replies import (
    FORM,
    OTHER_VERSION,
    Completions,
    Contents,
    ForCompletion,
    ForModel,
    ForReader,
    ForTerminal,
    ModelReply,
    ReplyForm,
)
from browse_together.contract.resources import JSON
from browser_service.spine.register import Reply
from browser_service.spine.rendering.files import File
from browser_service.spine.rendering.model import for_model, spell_for
from browser_service.spine.rendering.own_words import for_programs, spell_words
from browser_service.spine.rendering.readers import Reader, page_to_name
from browser_service.spine.rendering.result import origin_of
from browser_service.spine.rendering.terminal import for_terminal

_HEADER_CHARACTERS: Final = 4_000
"""Longest header that is accepted; parsed headers are cached."""


def asked_form(header: str | None) -> ReplyForm | None:
    """Return the form that a header asks for; None for the envelope. Raises InvalidRequest if it describes no form."""
    if header is None:
        return None
    hint = 'Such as {"kind": "model"}; leave it out for the whole envelope.'
    if len(header) > _HEADER_CHARACTERS:
        raise InvalidRequest(f"{wire.REPLY} has more than {_HEADER_CHARACTERS:,} characters.", hint=hint)
    try:
        return _form(header)
    except ValidationError:
        raise InvalidRequest(f"{wire.REPLY} is no form of a reply.", hint=hint) from None


def in_form(
    reply: Reply, body: Json, form: ReplyForm | None, fingerprint: str | None, reader: Reader | None = None
) -> Reply:
    """Return the reply to `body` in a form; the envelope if there is none. `fingerprint` is that of the caller's
    catalogue."""
    envelope = cast("Json", reply.body)  # an envelope is an object
    if form is None:
        return replace(reply, body={**for_programs(envelope)})
    advice = OTHER_VERSION if fingerprint not in {None, written.fingerprint()} else ""
    return replace(reply, body={**rendered(envelope, body, form, advice, reader)})


def rendered(envelope: Json, body: Json, form: ReplyForm, advice: str = "", reader: Reader | None = None) -> Json:
    """Return the envelope with the caller's rendering in place of the result, the page and the notices; a terminal
    keeps these, because it may print them too. `advice` is a line for failures."""
    page_id = page_to_name(envelope, reader)
    if isinstance(form, ForTerminal):
        action = catalogue.called({"action": form.action} if form.action else body)
        data = for_programs(envelope, page_id)
        return {**data, "rendered": _sendable(for_terminal(envelope, action, page_id))}
    envelope = spell_words(envelope, spell_for(form) if isinstance(form, ForModel) else str, page_id)
    fields: Json = {key: envelope[key] for key in ("success", "error") if key in envelope}
    return {**fields, "rendered": _sendable(_shown(envelope, catalogue.called(body), form, advice, reader))}


def _shown(
    envelope: Json,
    action: type[Action],
    form: ForModel | ForReader | ForCompletion,
    advice: str,
    reader: Reader | None,
) -> ModelReply | Contents | Completions:
    if isinstance(form, ForModel):
        return for_model(envelope, action, form, advice, reader)
    if isinstance(form, ForReader):
        return _for_reader(envelope, action, form)
    return _for_completion(envelope, form)


@functools.lru_cache(maxsize=64)
def _form(header: str) -> ReplyForm:
    """Parse the header, which is the same in most of a caller's calls."""
    return FORM.validate_json(header)


def _sendable(rendering: BaseModel) -> Json:
    return rendering.model_dump(mode="json", exclude_defaults=True)


def _for_reader(envelope: Json, action: type[Action], form: ForReader) -> Contents:
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


def _for_completion(envelope: Json, form: ForCompletion) -> Completions:
    """Return the ids of a listing's items; none if its items have no such key."""
    items = [item for part in object_at(envelope, "result").values() if isinstance(part, list) for item in part]
    return Completions(values=[str(item[form.key]) for item in items if isinstance(item, dict) and form.key in item])
