"""A client's roots are the folders from which the files that a call names are sent ahead."""

import asyncio
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import structlog
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, InputRequiredResult, ListRootsRequest, ListRootsResult

from client import files
from client.http import ServiceClient
from mcp_gateway.front import HANDSHAKE_VERSIONS
from shared.model import Json

_STATE: Final = "roots"
_WITHIN_S: Final = 10.0
_MOST: Final = 100

log = structlog.get_logger()


async def sent_ahead(
    ctx: Context, params: CallToolRequestParams, service: ServiceClient, tool: str, arguments: Json
) -> Json | InputRequiredResult:
    """Return the arguments with the files in the roots sent ahead, or what asks the client for its roots. It is asked
    each time, so that they are those of now. Raises BrowseError for what may not be sent."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not files.names_files(tool, arguments):
        return arguments
    roots = await _roots(ctx, params)
    if isinstance(roots, InputRequiredResult):
        return roots
    return await files.sent_ahead(service, tool, arguments, roots)


def without_roots(params: CallToolRequestParams) -> CallToolRequestParams:
    """Return a call that came again with its client's roots as any other call."""
    if params.request_state != _STATE:
        return params
    return params.model_copy(update={"request_state": None, "input_responses": None})


async def _roots(ctx: Context, params: CallToolRequestParams) -> list[Path] | InputRequiredResult:
    if ctx.protocol_version in HANDSHAKE_VERSIONS:
        try:
            async with asyncio.timeout(_WITHIN_S):
                return _paths(await ctx.session.send_request(ListRootsRequest(), ListRootsResult))
        except (MCPError, TimeoutError) as error:
            log.info("the client named no roots", reason=type(error).__name__)
            return []
    if params.request_state != _STATE or params.input_responses is None:
        return InputRequiredResult(input_requests={_STATE: ListRootsRequest()}, request_state=_STATE)
    answer = params.input_responses.get(_STATE)
    return _paths(answer) if isinstance(answer, ListRootsResult) else []


def _paths(listed: ListRootsResult) -> list[Path]:
    """Return the folders of this machine among the roots."""
    uris = [urlsplit(str(root.uri)) for root in listed.roots[:_MOST]]
    return [
        Path(url2pathname(uri.path)) for uri in uris if uri.scheme == "file" and uri.hostname in {None, "localhost"}
    ]
