"""Stands in front of the wall: gets in by a link of the account's owner, and speaks with its socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from websockets.asyncio.client import ClientConnection, connect

from client.credentials import mint
from shared import wire
from tests.support.json import AnyJson
from tests.support.listening import PATIENCE_S
from tests.support.service import RunningService


async def link(service: RunningService, *, read_only: bool = False) -> str:
    """Return the code of a link, as the command line asks for it."""
    token = mint(service.parts.secret, "cli", operator=True)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=service.app),
        base_url=service.base_url,
        headers={"Authorization": f"Bearer {token}"},
    ) as http:
        reply = await http.post(wire.WALL_LINK, json={"readOnly": read_only, "name": "ana"})
        return str(reply.json()["result"]["code"])


@dataclass
class Seat:
    """Represents a viewer's connection. Any: JSON."""

    socket: ClientConnection

    async def send(self, kind: str, **more: AnyJson) -> None:
        await self.socket.send(json.dumps({"type": kind, **more}))

    async def until(self, holds: Callable[[dict[str, AnyJson]], object]) -> dict[str, AnyJson]:
        """Return the first message that is as expected. Of a frame that is its head, with the picture's bytes."""
        async with asyncio.timeout(PATIENCE_S):
            async for data in self.socket:
                message = json.loads(data) if isinstance(data, str) else unpacked(data)
                if holds(message):
                    return message
        raise AssertionError("the connection ended before")

    async def act(self, what: str, page_id: str, **more: AnyJson) -> dict[str, AnyJson]:
        await self.send("act", id=7, do=what, pageId=page_id, **more)
        return await self.until(lambda message: message.get("id") == 7 or message["type"] == "refused")


def unpacked(data: bytes) -> dict[str, AnyJson]:
    length = int.from_bytes(data[1:3], "big")
    return {"type": "frame", **json.loads(data[3 : 3 + length]), "picture": data[3 + length :]}


@asynccontextmanager
async def socket(service: RunningService, cookie: str, **headers: str) -> AsyncIterator[Seat]:
    address = service.base_url.replace("http", "ws", 1) + wire.WALL_SOCKET
    headers = {"Cookie": f"browse_wall_{service.settings.port}={cookie}", **headers}
    async with connect(address, additional_headers=headers, proxy=None, open_timeout=PATIENCE_S) as connection:
        yield Seat(connection)


async def entered(service: RunningService, *, read_only: bool = False) -> tuple[str, str]:
    """Return the cookie and the proof of a new viewer."""
    async with httpx.AsyncClient(base_url=service.base_url, trust_env=False) as http:
        reply = await http.post(wire.WALL_ENTER, json={"code": await link(service, read_only=read_only)})
        return reply.cookies[f"browse_wall_{service.settings.port}"], str(reply.json()["result"]["proof"])


@asynccontextmanager
async def seat(service: RunningService, *, read_only: bool = False) -> AsyncIterator[Seat]:
    """Be a viewer of the wall."""
    cookie, proof = await entered(service, read_only=read_only)
    async with socket(service, cookie) as viewer:
        await viewer.send("hello", proof=proof)
        await viewer.until(lambda message: message["type"] == "viewer")
        yield viewer
