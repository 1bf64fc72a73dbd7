"""Notifies subscribers of changed resources, in the protocol's old and new ways."""

import contextlib
from collections import Counter
from collections.abc import Iterable

from anyio import BrokenResourceError, ClosedResourceError
from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPError

from browse_together.contract.events import PageMoved
from browse_together.contract.resources import RESOURCES, TEMPLATES
from browse_together.contract.wire import MOST_SUBSCRIBED


class Subscriptions:
    """The resources that a chat subscribed to. A changed page also changes every listing."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._listened: Counter[str] = Counter()
        self._sessions = dict[str, ServerSession]()
        """The session of each resource's last subscription: the SDK makes one per request."""

    async def subscribe(self, ctx: Context, params: protocol.SubscribeRequestParams) -> protocol.EmptyResult:
        self._check([str(params.uri)])
        self._sessions[str(params.uri)] = ctx.session
        return protocol.EmptyResult()

    async def unsubscribe(self, _: Context, params: protocol.UnsubscribeRequestParams) -> protocol.EmptyResult:
        self._sessions.pop(str(params.uri), None)
        return protocol.EmptyResult()

    async def listen(
        self, ctx: Context, params: protocol.SubscriptionsListenRequestParams
    ) -> protocol.SubscriptionsListenResult:
        uris = Counter(map(str, params.notifications.resource_subscriptions or ()))
        self._check(uris)
        self._listened += uris
        try:
            return await self._listen(ctx, params)
        finally:
            self._listened -= uris

    async def page_changed(self, event: PageMoved) -> None:
        await self._notify(uri for uri in self._uris() if _concerns(uri, event))

    async def tools_changed(self, session: ServerSession) -> None:
        """Tell the chat's host that the list of tools has changed."""
        await self._bus.publish(ToolsListChanged())
        with contextlib.suppress(BrokenResourceError, ClosedResourceError):
            await session.send_tool_list_changed()

    async def all_changed(self) -> None:
        """Notify all subscribers, because events were missed."""
        await self._notify(self._uris())

    def _check(self, more: Iterable[str]) -> None:
        """Raise MCPError if there would be too many subscriptions."""
        if len(self._uris().union(more)) > MOST_SUBSCRIBED:
            reason = (
                f"A chat subscribes to at most {MOST_SUBSCRIBED} resources; resources/unsubscribe from others first"
            )
            raise MCPError(protocol.INVALID_REQUEST, reason)

    def _uris(self) -> set[str]:
        return self._sessions.keys() | set(self._listened)

    async def _notify(self, uris: Iterable[str]) -> None:
        for uri in [*uris]:
            await self._bus.publish(ResourceUpdated(uri=uri))
            if session := self._sessions.get(uri):
                with contextlib.suppress(BrokenResourceError, ClosedResourceError):  # the session is gone
                    await session.send_resource_updated(uri)


def _concerns(uri: str, event: PageMoved) -> bool:
    if any(uri == resource.uri for resource in RESOURCES):
        return True
    variables = next((found for template in TEMPLATES if (found := template.variables(uri))), None)
    return variables is not None and variables["sessionId"] in {event.page_id, event.session_id}
