"""Wrong parameters are named: every -32602 says "Invalid params", and what is wrong with which."""

from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ErrorData
from pydantic import ValidationError

from mcp_gateway.front import HANDSHAKE_VERSIONS
from mcp_gateway.resources import NOT_FOUND

_SAYS: Final = "Invalid params"
_UNEXPLAINED: Final = "Invalid request parameters"
"""The SDK's words, which name nothing: for a wrong shape, and for a request before the handshake."""
_MOST_NAMED: Final = 5


async def named(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:  # Any: whatever lifespan
    """Name the parameters at fault, as middleware of the SDK's server, which keeps their names back."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:_MOST_NAMED]]
        raise MCPError(INVALID_PARAMS, "; ".join(found)) from error
    except MCPError as error:
        if error.error.code == INVALID_PARAMS and error.error.message == _UNEXPLAINED:
            raise MCPError(INVALID_PARAMS, f"{ctx.method} comes after initialize") from error
        if error.error.code == NOT_FOUND and ctx.protocol_version not in HANDSHAKE_VERSIONS:
            raise MCPError(INVALID_PARAMS, error.error.message, error.error.data) from error
        raise


def explained(error: ErrorData) -> ErrorData:
    """Return the error as it is sent, with the words of its code first."""
    if error.code != INVALID_PARAMS or error.message.startswith(_SAYS):
        return error
    return error.model_copy(update={"message": f"{_SAYS}: {error.message}"})
