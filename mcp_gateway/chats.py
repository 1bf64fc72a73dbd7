"""A request comes from a chat: one host process may carry many, and each is a client of its own."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import Final

from client.http import ServiceClient
from mcp_gateway.asking import Asking
from mcp_gateway.faults import Faults
from mcp_gateway.identity import credentials
from mcp_gateway.listing import Listing
from mcp_gateway.presence import Presence
from mcp_gateway.settings import Settings
from mcp_gateway.subscriptions import Subscriptions

_KEYS: Final = ("vscode.conversationId", "sessionID", "threadId", "openai/session")
"""Where hosts put the chat's id in a request's `_meta`: VS Code, OpenCode, Codex, ChatGPT."""
_PRESENT: Final = 32
"""Chats whose events are listened to; of those before, the service knows nobody is there."""


class Chat:
    """A chat is one client of the service."""

    def __init__(
        self, service: ServiceClient, settings: Settings, subscriptions: Subscriptions, faults: Faults
    ) -> None:
        self.service = service
        self.presence = Presence(service, subscriptions, faults)
        self.asking = Asking(service)
        self.listing = Listing(settings.toolsets)
        self.holding: asyncio.Task[None] | None = None

    def appear(self) -> None:
        """Hold the stream of events from now on."""
        self.holding = asyncio.create_task(self.presence.hold())

    def leave(self) -> None:
        if self.holding is not None:
            self.holding.cancel()


class Chats:
    """A connection has a chat of its own, for hosts that name none, and those that are named."""

    def __init__(
        self, service: ServiceClient, settings: Settings, subscriptions: Subscriptions, faults: Faults
    ) -> None:
        self._settings = settings
        self._chat = partial(Chat, settings=settings, subscriptions=subscriptions, faults=faults)
        self.own = self._chat(service)
        self._named: OrderedDict[str, Chat] = OrderedDict()

    def of(self, meta: Mapping[str, object] | None) -> Chat:
        """Return the chat of a request, by what its host says. An identity in the settings is that of all chats."""
        name = _name(meta or {})
        settings = self._settings
        if name is None or settings.client_id or settings.token or settings.token_file:
            return self.own
        chat = self._named.get(name)
        if chat is None:
            self._make_room()
            service = self.own.service.as_client(credentials(settings, chat=name))
            chat = self._named[name] = self._chat(service)
            chat.appear()
        self._named.move_to_end(name)
        return chat

    def read_list(self, chat: Chat) -> frozenset[str]:
        """Return the toolsets of the list that a chat asks for. A host that names none asks for all of its chats."""
        for_whom = [chat] if chat is not self.own else [self.own, *self._named.values()]
        chosen = frozenset[str]().union(*(each.listing.toolsets for each in for_whom))
        for each in for_whom:
            each.listing.read(chosen)
        return chosen

    def _make_room(self) -> None:
        """Let those leave that were silent longest, but none that waits for a reply."""
        silent = [name for name, chat in self._named.items() if not chat.presence.awaits]
        for name in silent[: max(len(self._named) - _PRESENT + 1, 0)]:
            self._named.pop(name).leave()

    def leave(self) -> None:
        for chat in (self.own, *self._named.values()):
            chat.leave()


def _name(meta: Mapping[str, object]) -> str | None:
    """Return a client id for the chat, whose own id may have any characters."""
    for key in _KEYS:
        told = meta.get(key)
        if isinstance(told, str) and told:
            return f"chat:{hashlib.sha256(f'{key}:{told}'.encode()).hexdigest()[:24]}"
    return None
