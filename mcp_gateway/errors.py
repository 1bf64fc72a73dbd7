"""Words the protocol's errors: every -32602 says "Invalid params", which one, and why."""

from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, JSONRPCError, JSONRPCMessage
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from client.reply import Failure
from shared.model import Json

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
