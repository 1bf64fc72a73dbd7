"""Uploads files that a call names in its client's roots, which are folders of this machine."""

import asyncio
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import structlog
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolRequestParams, InputRequiredResult, ListRootsRequest, ListRootsResult
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from client import files
from client.http import ServiceClient
from shared.model import Json

_STATE: Final = "roots"
_ANSWER_WITHIN_S: Final = 10.0
_MAX_ROOTS: Final = 100

log = structlog.get_logger()


async def with_files(
    ctx: Context, params: CallToolRequestParams, service: ServiceClient, body: Json
) -> Json | InputRequiredResult:
    """Upload the files in the roots and return the body with references to them, or return a request for the roots,
    which may change from call to call. Raises BrowseError for a file that may not be sent."""
    capabilities = ctx.session.client_capabilities
    if capabilities is None or capabilities.roots is None or not files.names_files(body):
        return body
    roots = await _roots(ctx, params)
    if isinstance(roots, InputRequiredResult):
        return roots
    return await files.send_ahead(service, body, roots)


async def _roots(ctx: Context, params: CallToolRequestParams) -> list[Path] | InputRequiredResult:
    if ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                return _folders(await ctx.session.send_request(ListRootsRequest(), ListRootsResult))
        except (MCPError, TimeoutError) as error:
            log.info("the client named no roots", reason=type(error).__name__)
            return []
    if params.request_state != _STATE or params.input_responses is None:
        return InputRequiredResult(input_requests={_STATE: ListRootsRequest()}, request_state=_STATE)
    answer = params.input_responses.get(_STATE)
    return _folders(answer) if isinstance(answer, ListRootsResult) else []


def _folders(result: ListRootsResult) -> list[Path]:
    """Return the roots that are folders of this machine."""
    urls = [urlsplit(str(root.uri)) for root in result.roots[:_MAX_ROOTS]]
    return [
        Path(url2pathname(url.path)) for url in urls if url.scheme == "file" and url.hostname in {None, "localhost"}
    ]
