"""Answers the requests of a page's card, which are no calls."""

from collections.abc import Mapping

from mcp import types as protocol
from mcp.shared.exceptions import MCPError

from browse_together.client import unavailable
from browse_together.client.http import UNREACHED, ServiceClient
from browse_together.client.reply import Failure, Reply
from browse_together.contract.errors import BrowseError
from browse_together.contract.model import Json
from browse_together.contract.wire import WALL, is_page_id
from mcp_gateway import cards


async def answer(service: ServiceClient, tool: str, arguments: Mapping[str, object]) -> protocol.CallToolResult:
    """Answer a card's request. It is not for a model, so all of its data is structured."""
    page_id, given = str(arguments.get("pageId")), arguments.get("after")
    if not is_page_id(page_id):
        raise MCPError(protocol.INVALID_PARAMS, f"pageId: {page_id[:80]!r} is no pageId")
    try:
        after = given if isinstance(given, int) and given > 0 else 0
        reply = await service.card(page_id, None if tool == cards.STOP else after)
    except (*UNREACHED, BrowseError) as error:
        failure = error if isinstance(error, BrowseError) else unavailable.not_running(service.url, str(error))
        reply = Reply(success=False, error=Failure.from_error(failure))
    if reply.error:
        told: Json = {"code": reply.error.code, "message": reply.error.message}
    else:
        told = {**reply.result, "wall": f"{reply.result.get('wall') or service.url}{WALL}#/page/{page_id}"}
    text = protocol.TextContent(type="text", text=str(told.get("message", page_id)))
    return protocol.CallToolResult(content=[text], structured_content=told, is_error=not reply.success)
