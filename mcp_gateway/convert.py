"""What the service made of a reply is carried as it is; errors of this side get their words here."""

import json
import os
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolResult, ContentBlock
from pydantic import TypeAdapter

from client.reply import Failure, Reply
from shared.catalogue import NAMES
from shared.mentions import respelled_calls
from shared.model import Json
from shared.replies import ForModel, ModelReply, Place, error_lines
from shared.toolsets import listed_names

_BLOCKS: Final[TypeAdapter[list[ContentBlock]]] = TypeAdapter(list[ContentBlock])


def shown(reply: Reply, tool: str, form: ForModel, advice: str = "") -> ModelReply:
    """Return what the service made of a reply in that form. For one that did not pass its spine, such as an error of
    this side, make it here; `advice` is a line for such a failure."""
    if reply.rendered is not None:
        return ModelReply.model_validate(reply.rendered)
    envelope: Json = reply.model_dump(mode="json", by_alias=True, exclude_unset=True)
    lines = [json.dumps(reply.result, ensure_ascii=False, separators=(",", ":"))]
    if isinstance(error := envelope.get("error"), dict):
        names = NAMES if form.read is None else listed_names(form.read)
        error |= {
            key: respelled_calls(text, names) for key in ("message", "hint") if isinstance(text := error.get(key), str)
        }
        lines = [*error_lines(error, NAMES[tool].action.activity_phrase), advice]
    block: Json = {"type": "text", "text": "\n".join(filter(None, lines))}
    return ModelReply(content=[block], structured_content=envelope if form.structured else None)


def result(reply: ModelReply, *, is_error: bool) -> CallToolResult:
    """Return the result of a call. Raises MCPError where the reply is an error of the protocol."""
    if reply.refusal is not None:
        raise MCPError(INTERNAL_ERROR, str(reply.refusal["message"]), reply.refusal["data"])
    content = _BLOCKS.validate_python([_located(block) for block in reply.content])
    return CallToolResult(content=content, structured_content=reply.structured_content, is_error=is_error)


def host_error(what: str, failure: Failure) -> MCPError:
    """Make the error of the protocol, for requests that have no other way to tell of one. Hosts drop its data, so the
    message says all of it."""
    said = " ".join(filter(None, [f"{what} failed: {failure.message}", failure.hint]))
    known: Json = {key: failure.details[key] for key in ("selector", "stack") if key in failure.details}
    data: Json = {"error": failure.message, "code": failure.code, "hint": failure.hint, **known}
    return MCPError(INTERNAL_ERROR, said, data)


def _located(block: Json) -> Json:
    """Return a block whose text names the files that lie on this machine by their paths."""
    if not isinstance(places := block.get("places"), list):
        return block
    text = str(block["text"])
    for place in map(Place.model_validate, reversed(places)):
        if _is_here(place):
            text = text[: place.at] + place.instead + text[place.at + place.length :]
    return {"type": "text", "text": text}


def _is_here(place: Place) -> bool:
    """Say whether the file is there for this account, as it is where gateway and service share a machine."""
    try:
        there = os.stat(place.path)  # noqa: PTH116 - a path of a system that may be another one
    except (OSError, ValueError):
        return False
    own = getattr(os, "getuid", lambda: there.st_uid)()
    return there.st_size == place.size and there.st_uid == own
