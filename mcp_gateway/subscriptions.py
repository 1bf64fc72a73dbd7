"""Subscribers are told when a resource changes, in the protocol's old way and in its new one."""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from anyio import BrokenResourceError, ClosedResourceError
from mcp import types as protocol
from mcp.server.context import ServerRequestContext as Context
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated, ToolsListChanged

from shared.events import PageMoved
from shared.resources import RESOURCES, TEMPLATES


class Subscriptions:
    """A page that changes changes what is read from it, and every listing."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._heard: Counter[str] = Counter()
        self._subscribed: defaultdict[str, set[ServerSession]] = defaultdict(set)

    async def subscribe(self, ctx: Context, params: protocol.SubscribeRequestParams) -> protocol.EmptyResult:
        self._subscribed[str(params.uri)].add(ctx.session)
        return protocol.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: protocol.UnsubscribeRequestParams) -> protocol.EmptyResult:
        sessions = self._subscribed[str(params.uri)]
        sessions.discard(ctx.session)
        if not sessions:
            del self._subscribed[str(params.uri)]
        return protocol.EmptyResult()

    async def listen(
        self, ctx: Context, params: protocol.SubscriptionsListenRequestParams
    ) -> protocol.SubscriptionsListenResult:
        with self._hearing(params.notifications.resource_subscriptions or ()):
            return await self._listening(ctx, params)

    async def moved(self, moved: PageMoved) -> None:
        await self._tell(uri for uri in self._wanted() if _concerns(uri, moved))

    async def tools_changed(self, session: ServerSession) -> None:
        """Tell the chat's host, which may read the list again."""
        await self._bus.publish(ToolsListChanged())
        with contextlib.suppress(BrokenResourceError, ClosedResourceError):
            await session.send_tool_list_changed()

    async def lost_sight(self) -> None:
        """Tell all subscribers: events were missed, and anything may have changed."""
        await self._tell(self._wanted())

    def _wanted(self) -> set[str]:
        return self._subscribed.keys() | set(+self._heard)

    async def _tell(self, uris: Iterable[str]) -> None:
        for uri in [*uris]:
            await self._bus.publish(ResourceUpdated(uri=uri))
            for session in [*self._subscribed.get(uri, ())]:
                with contextlib.suppress(BrokenResourceError, ClosedResourceError):  # it has gone
                    await session.send_resource_updated(uri)

    @contextlib.contextmanager
    def _hearing(self, uris: Iterable[str]) -> Iterator[None]:
        heard = Counter(map(str, uris))
        self._heard += heard
        try:
            yield
        finally:
            self._heard -= heard


def _concerns(uri: str, moved: PageMoved) -> bool:
    if any(uri == one.uri for one in RESOURCES):
        return True
    found = next((known for one in TEMPLATES if (known := one.variables(uri))), None)
    return found is not None and found["sessionId"] in {moved.page_id, moved.session_id}
