"""Gives agents tokens with limits, made as the account's owner makes them."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService


async def token_for(service: RunningService, name: str, expires_at: float | None = None, **limits: AnyJson) -> str:
    """Return a token of that name. Any: any limit's value."""
    given = {"name": name, "expiresAt": expires_at or time.time() + 600, **limits}
    token, _ = await service.parts.tokens.create(given)
    return token


@asynccontextmanager
async def limited(service: RunningService, name: str, chat: str = "", **limits: AnyJson) -> AsyncIterator[Agent]:
    """Return a client that comes with such a token; `chat` is one of those that share it. Its token is revoked in the
    end, so that the name is free. Any: any limit's value."""
    async with sharing(service, await token_for(service, name, **limits), chat) as agent:
        yield agent
    await service.revoke(name)


@asynccontextmanager
async def sharing(service: RunningService, token: str, chat: str = "") -> AsyncIterator[Agent]:
    """Return a client that has a token."""
    async with service.agent() as agent:
        agent.http.headers["Authorization"] = f"Bearer {token}"
        if chat:
            agent.http.headers[wire.CHAT] = chat
        yield agent
