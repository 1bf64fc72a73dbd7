"""Records a span of each call of a chat, if the process's environment says where spans are exported."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from mcp.server.context import CallNext, HandlerResult
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from browse_together.client.spans import tracing_of
from browse_together.contract.catalogue import NAMES
from mcp_gateway.chats import trace_of

if TYPE_CHECKING:
    from mcp.types import RequestParamsMeta

    from browse_together.client.tracing import Tracing

_METHOD: Final = "tools/call"


@cache
def tracing() -> "Tracing | None":
    """Return what exports this process's spans; None if nothing does."""
    return tracing_of(os.environ)


def close() -> None:
    """Export what is left."""
    if tracing.cache_info().currsize and (exporting := tracing()):
        exporting.close()


async def traced(
    exporting: "Tracing", session_id: Callable[[Context], str], ctx: Context, call_next: CallNext
) -> HandlerResult:
    """Record a call's span, below its client's and above the service's. This is the server's middleware."""
    tool = str((ctx.params or {}).get("name"))
    if ctx.method != _METHOD or tool not in NAMES:
        return await call_next(ctx)
    meta: Mapping[str, object] = ctx.meta or {}
    facts = {
        "mcp.method.name": _METHOD,
        "mcp.protocol.version": ctx.protocol_version,
        "mcp.session.id": session_id(ctx),
        "jsonrpc.request.id": str(ctx.request_id),
    }
    with exporting.span(_METHOD, tool, trace_of(meta), facts) as span:
        try:
            below = cast("RequestParamsMeta", {**meta, **exporting.below()})  # it may have any other keys
            result = await call_next(replace(ctx, meta=below))
        except MCPError as error:
            exporting.note_error(span, str(error.error.code))
            raise
        if isinstance(result, dict) and result.get("isError"):
            exporting.note_error(span)
        return result
