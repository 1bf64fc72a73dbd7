"""Makes tool results from the service's replies, and words the gateway's own and the protocol's errors."""

import functools
import json
import os
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, ContentBlock, JSONRPCError, JSONRPCMessage
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from browse_together.client.reply import Failure, Reply
from browse_together.contract.call_spellings import of_listed
from browse_together.contract.catalogue import NAMES
from browse_together.contract.model import Json, object_at
from browse_together.contract.next_calls import spelled
from browse_together.contract.quoting import Foreign, assembled
from browse_together.contract.replies import FileMention, ForModel, ModelReply, error_lines
from browse_together.contract.toolsets import listed_names

NOT_FOUND: Final = -32002
"""The code for an unknown resource in revisions with a handshake; later ones use INVALID_PARAMS."""
_PREFIX: Final = "Invalid params"
_UNEXPLAINED: Final = "Invalid request parameters"
"""The SDK's message, without details, for params of a wrong shape and for a request before the handshake."""
_MOST_NAMED: Final = 5


async def explain(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:  # Any: any lifespan
    """Name the wrong parameters, which the SDK's server does not. This is its middleware."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:_MOST_NAMED]]
        raise MCPError(INVALID_PARAMS, "; ".join(faults)) from error
    except MCPError as error:
        if error.error.code == INVALID_PARAMS and error.error.message == _UNEXPLAINED:
            raise MCPError(INVALID_PARAMS, f"{ctx.method} comes after initialize") from error
        if error.error.code == NOT_FOUND and ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            raise MCPError(INVALID_PARAMS, error.error.message, error.error.data) from error
        raise


def encoded(message: JSONRPCMessage) -> bytes:
    """Return the text of a message to send. Errors about parameters begin with "Invalid params"."""
    if isinstance(message, JSONRPCError) and message.error.code == INVALID_PARAMS:
        words = message.error.message
        words = words if words.startswith(_PREFIX) else f"{_PREFIX}: {words}"
        message = message.model_copy(update={"error": message.error.model_copy(update={"message": words})})
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def host_error(method: str, failure: Failure) -> MCPError:
    """Make the error of a request whose result cannot contain one. Hosts drop the data, so the message is complete."""
    message = " ".join(filter(None, [f"{method} failed: {failure.message}", failure.hint]))
    details: Json = {key: failure.details[key] for key in ("selector", "stack") if key in failure.details}
    data: Json = {"error": failure.message, "code": failure.code, "hint": failure.hint, **details}
    return MCPError(INTERNAL_ERROR, message, data)


_BLOCKS: Final[TypeAdapter[list[ContentBlock]]] = TypeAdapter(list[ContentBlock])


def model_reply(reply: Reply, tool: str, form: ForModel, advice: str = "") -> ModelReply:
    """Return a reply in the form that the service made. For the gateway's own failures this makes the text, which ends
    with `advice`."""
    if reply.rendered is not None:
        return ModelReply.model_validate(reply.rendered)
    envelope: Json = reply.model_dump(mode="json", by_alias=True, exclude_unset=True)
    lines: list[str | Foreign] = [json.dumps(reply.result, separators=(",", ":"))]
    if reply.error is not None:
        error = object_at(envelope, "error")
        error.pop("calls", None)
        names = NAMES if form.read is None else listed_names(form.read)
        spell = functools.partial(of_listed, listed=names)
        error |= {key: spelled(text, spell) for key, text in reply.error.words.items()}
        lines = [*error_lines(error, NAMES[tool].action.activity_phrase), advice]
    block: Json = {"type": "text", "text": assembled(lines)}
    return ModelReply(content=[block], structured_content=envelope if form.structured else None)


def tool_result(reply: ModelReply, *, is_error: bool, meta: dict[str, str] | None = None) -> CallToolResult:
    """Make the result of a tool. Raises MCPError if the reply is a protocol error."""
    if reply.refusal is not None:
        raise MCPError(INTERNAL_ERROR, str(reply.refusal["message"]), reply.refusal["data"])
    content = _BLOCKS.validate_python([_with_paths(block) for block in reply.content])
    structured = reply.structured_content
    return CallToolResult(content=content, structured_content=structured, is_error=is_error, _meta=meta)


def _with_paths(block: Json) -> Json:
    """Replace the addresses of files on this machine by paths."""
    if not isinstance(places := block.get("places"), list):
        return block
    text = str(block["text"])
    for place in map(FileMention.model_validate, reversed(places)):
        if _is_readable_here(place):
            text = text[: place.at] + place.instead + text[place.at + place.length :]
    return {"type": "text", "text": text}


def _is_readable_here(place: FileMention) -> bool:
    """Return whether the file is on this machine and belongs to this account."""
    try:
        status = os.stat(place.path)  # noqa: PTH116 - a path of a system that may be another one
    except (OSError, ValueError):
        return False
    user_id = getattr(os, "getuid", lambda: status.st_uid)()
    return status.st_size == place.size and status.st_uid == user_id
