"""Stands in front of the wall: gets in by a link of the account's owner, and speaks with its socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from playwright.async_api import Browser, Page
from websockets.asyncio.client import ClientConnection, connect

from browse_together.client.credentials import mint
from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.waiting import PATIENCE_S


class Door(NamedTuple):
    """Where the wall of a service is, and what proves its account's owner."""

    url: str
    secret: str

    @property
    def cookie(self) -> str:
        return f"browse_wall_{urlsplit(self.url).port}"


def door(of: RunningService | Door) -> Door:
    return of if isinstance(of, Door) else Door(of.base_url, of.parts.secret)


async def link(of: RunningService | Door, *, read_only: bool = False) -> str:
    """Return the code of a link, as the command line asks for it."""
    url, secret = door(of)
    headers = {"Authorization": f"Bearer {mint(secret, 'cli', operator=True)}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http:
        reply = await http.post(wire.WALL_LINK, json={"readOnly": read_only, "name": "ana"})
        return str(reply.json()["result"]["code"])


@dataclass
class Seat:
    """A viewer's connection. Any: JSON."""

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

    async def ask(self, kind: str, **more: AnyJson) -> dict[str, AnyJson]:
        """Return the answer, or the refusal."""
        await self.send(kind, id=7, **more)
        return await self.until(lambda message: message.get("id") == 7)

    async def call(self, action: str, **arguments: AnyJson) -> dict[str, AnyJson]:
        return await self.ask("call", call={"action": action, **arguments})


def unpacked(data: bytes) -> dict[str, AnyJson]:
    length = int.from_bytes(data[1:3], "big")
    return {"type": "frame", **json.loads(data[3 : 3 + length]), "picture": data[3 + length :]}


@asynccontextmanager
async def socket(of: RunningService | Door, cookie: str, query: str = "", **headers: str) -> AsyncIterator[Seat]:
    address = door(of).url.replace("http", "ws", 1) + wire.WALL_SOCKET + query
    headers = {"Cookie": f"{door(of).cookie}={cookie}", **headers}
    async with connect(address, additional_headers=headers, proxy=None, open_timeout=PATIENCE_S) as connection:
        yield Seat(connection)


async def entered(of: RunningService | Door, *, read_only: bool = False) -> tuple[str, str]:
    """Return the cookie and the proof of a new viewer."""
    async with httpx.AsyncClient(base_url=door(of).url, trust_env=False) as http:
        reply = await http.post(wire.WALL_ENTER, json={"code": await link(of, read_only=read_only)})
        return reply.cookies[door(of).cookie], str(reply.json()["result"]["proof"])


@asynccontextmanager
async def seat(of: RunningService | Door, *, read_only: bool = False) -> AsyncIterator[Seat]:
    """Be a viewer of the wall."""
    cookie, proof = await entered(of, read_only=read_only)
    async with socket(of, cookie) as viewer:
        await viewer.send("hello", proof=proof)
        await viewer.until(lambda message: message["type"] == "viewer")
        yield viewer


@asynccontextmanager
async def guest(of: RunningService | Door, request_id: str, key: str) -> AsyncIterator[Seat]:
    """Be a person who came by the link of a request."""
    async with socket(of, "", f"?request={request_id}") as person:
        await person.send("hello", proof=key)
        first = await person.until(lambda message: message["type"] in {"viewer", "refused"})
        assert first["type"] == "viewer", first["reason"]
        yield person


async def press(window: Page, name: str) -> None:
    """Press a button of the wall, as its person."""
    await window.get_by_role("button", name=name, exact=True).click()


async def visit(browser: Browser, running: RunningService, *, read_only: bool = False, **options: AnyJson) -> Page:
    """Return a person's window at the wall. Any: Playwright's options."""
    context = await browser.new_context(**options)
    window = await context.new_page()
    window.set_default_timeout(10_000)
    await window.goto(f"{running.base_url}/#{await link(running, read_only=read_only)}")
    return window
