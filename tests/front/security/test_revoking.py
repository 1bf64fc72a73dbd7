"""Tests tokens that are taken back: refused at once, on open streams too, and after a restart."""

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from client.credentials import mint, token_id
from shared import wire
from tests.support.service import Agent, RunningService, running_service, settings_for

pytestmark = pytest.mark.anyio


async def revoke(service: RunningService, body: dict[str, object], *, operator: bool = True) -> httpx.Response:
    async with service.agent() as owner:
        owner.http.headers["Authorization"] = f"Bearer {token(service, 'cli', operator=operator)}"
        return await owner.http.post(wire.REVOKE, json=body)


def token(service: RunningService, client_id: str, *, operator: bool = False, lifetime_s: int = 600) -> str:
    return mint(service.parts.secret, client_id, client_id, operator=operator, lifetime_s=lifetime_s)


def listening(service: RunningService, agent: Agent) -> "asyncio.Task[None]":
    """Read the stream until the service ends it."""

    async def listen() -> None:
        async for _ in service.parts.clients.stream(agent.client_id):
            pass

    return asyncio.create_task(listen())


async def refused(agent: Agent) -> bool:
    error = (await agent.reply("list_pages")).json().get("error")
    assert error is None or (error["code"], "revoked" in error["message"]) == ("UNAUTHORIZED", True), error
    return error is not None


async def test_all_tokens_of_a_client_are_refused_at_once_and_its_streams_end(tmp_path: Path) -> None:
    async with (
        running_service(settings_for(tmp_path)) as service,
        service.agent("Robin", client_id="of-robin") as robin,
        service.agent("Ana", client_id="ana") as ana,
    ):
        assert not await refused(robin)
        stream = listening(service, robin)
        await asyncio.sleep(0)  # lets the stream's request begin
        assert (await revoke(service, {"clients": ["robin"]})).json()["result"]["clients"] == ["of-robin", "robin"]
        await asyncio.wait_for(stream, 5)
        assert await refused(robin)
        assert not await refused(ana)
    async with (
        running_service(settings_for(tmp_path)) as service,
        service.agent("Robin", client_id="of-robin") as robin,
    ):
        await service.parts.revoked.clients({"of-robin"}, time.time() - 2)  # the second of the revocation is over
        assert not await refused(robin)
        await service.parts.revoked.clients({"of-robin"}, time.time() + 2)
        assert await refused(robin)


async def test_one_token_is_refused_by_its_id_and_after_a_restart(tmp_path: Path) -> None:
    async with running_service(settings_for(tmp_path)) as service, service.agent(client_id="bob") as bob:
        first, second = token(service, "bob"), token(service, "bob")
        assert token_id(token_id(first)) == token_id(first) != token_id(second)
        bob.http.headers["Authorization"] = f"Bearer {first}"
        assert not await refused(bob)
        assert (await revoke(service, {"tokenId": token_id(first)})).json()["success"]
        assert await refused(bob)
        bob.http.headers["Authorization"] = f"Bearer {second}"
        assert not await refused(bob)
    async with running_service(settings_for(tmp_path)) as service, service.agent(client_id="bob") as bob:
        bob.http.headers["Authorization"] = f"Bearer {first}"
        assert await refused(bob)


async def test_only_the_accounts_owner_revokes_and_says_what(service: RunningService) -> None:
    assert (await revoke(service, {"clients": ["x"]}, operator=False)).json()["error"]["code"] == "FORBIDDEN"
    bodies: list[dict[str, object]] = [{}, {"clients": []}, {"clients": [1]}, {"tokenId": ""}]
    for body in bodies:
        assert (await revoke(service, body)).json()["error"]["code"] == "VALIDATION_ERROR"
