"""Speaks as the browser's extension does."""

import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import connect

from browse_together.client.credentials import mint
from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.waiting import PATIENCE_S
from tests.support.wall import Seat, door


async def pairing_link(of: RunningService, *, operator: bool = True) -> httpx.Response:
    """Return the reply to whoever asks for a link that pairs."""
    url, secret = door(of)
    headers = {"Authorization": f"Bearer {mint(secret, 'cli', operator=operator)}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http:
        return await http.post(wire.EXTENSION, json={})


@asynccontextmanager
async def dialled(of: RunningService, origin: str | None = wire.EXTENSION_ORIGIN) -> AsyncIterator[Seat]:
    """Connect to the extension's socket, as a page or program of this origin."""
    address = door(of).url.replace("http", "ws", 1) + wire.EXTENSION_SOCKET
    headers = {"Origin": origin} if origin is not None else {}
    async with connect(address, additional_headers=headers, proxy=None, open_timeout=PATIENCE_S) as connection:
        yield Seat(connection)


async def paired(of: RunningService) -> dict[str, AnyJson]:
    """Return what an extension keeps of its service."""
    link = (await pairing_link(of)).json()["result"]["url"]
    async with dialled(of) as extension:
        await extension.send("pair", code=link.rpartition("#")[2])
        return await extension.until(lambda message: message["type"] == "paired")


@asynccontextmanager
async def strip(of: RunningService, kept: dict[str, AnyJson]) -> AsyncIterator[Seat]:
    """Be a paired extension that knows its service."""
    nonce = "0" * 32
    async with dialled(of) as extension:
        await extension.send("hello", id=kept["id"], nonce=nonce)
        proof = await extension.until(lambda message: message["type"] == "proof")
        answer = f"{urlsplit(door(of).url).netloc} answers {nonce}"
        assert proof["proof"] == hmac.new(kept["key"].encode(), answer.encode(), hashlib.sha256).hexdigest()
        await extension.send("token", token=kept["token"])
        yield extension
