"""Tests tokens that are taken back: refused at once, on open streams too, and after a restart."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from browse_together.client.credentials import mint, token_id
from browse_together.contract import wire
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.tokens import sharing, token_for
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


async def revoke(service: RunningService, body: dict[str, object], *, operator: bool = True) -> httpx.Response:
    async with service.agent() as owner:
        owner.http.headers["Authorization"] = f"Bearer {token(service, 'cli', operator=operator)}"
        return await owner.http.post(wire.REVOKE, json=body)


def token(service: RunningService, client_id: str, *, operator: bool = False, lifetime_s: int = 600) -> str:
    return mint(service.secret, client_id, client_id, operator=operator, lifetime_s=lifetime_s)


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
        await asyncio.wait_for(stream, PATIENCE_S)
        assert await refused(robin)
        assert not await refused(ana)


async def test_a_revoked_client_stays_out_whatever_token_it_makes_until_it_is_restored(tmp_path: Path) -> None:
    async with running_service(settings_for(tmp_path)) as service, service.agent("Robin", client_id="r-1") as robin:
        await robin.call("open_page", pageId="p")
        await revoke(service, {"clients": ["Robin"]})
    async with running_service(settings_for(tmp_path)) as service:
        robins = service.agent("Robin", client_id="r-1"), service.agent("robin", client_id="r-2")
        async with robins[0] as anew, robins[1] as renamed:
            for agent in (anew, renamed):  # a gateway makes its token anew, and each chat has an id of its own
                error = (await agent.reply("list_pages")).json()["error"]
                assert (error["code"], "was revoked" in error["message"]) == ("UNAUTHORIZED", True)
                assert "browse-together token restore" in error["hint"]
            owner = mint(service.secret, "r-1", "Robin", operator=True)
            headers = {"Authorization": f"Bearer {owner}"}
            restored = await anew.http.post(wire.RESTORE, json={"names": ["Robin"]}, headers=headers)
            assert restored.json()["result"] == {"restored": True}
            assert not await refused(anew)
            assert not await refused(renamed)
            again = await anew.http.post(wire.RESTORE, json={"names": ["Robin"]}, headers=headers)
            assert again.json()["result"] == {"restored": False}
    async with running_service(settings_for(tmp_path)) as service, service.agent("Robin", client_id="r-1") as robin:
        assert not await refused(robin)


async def test_revoking_ends_calls_that_run_and_frees_pages(service: RunningService) -> None:
    async with service.agent("Eve", client_id="eve") as eve, service.agent() as ana:
        await eve.call("open_page", pageId="held")
        waiting = asyncio.create_task(eve.reply("wait", pageId="held", duration=30_000))
        await become(lambda: service.registered_calls("eve"))
        await revoke(service, {"clients": ["eve"]})
        async with asyncio.timeout(PATIENCE_S):
            assert (await waiting).json()["error"]["code"] == "CANCELLED"
        await ana.call("close_page", pageId="held")


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


async def test_a_chat_that_shares_a_token_is_revoked_by_its_own_id(service: RunningService) -> None:
    named = await token_for(service, "team-of-two")
    async with sharing(service, named, "chat-1") as one, sharing(service, named, "chat-2") as two:
        await one.call("open_page", pageId="of-one")
        page = service.known_page("of-one")
        assert page is not None
        await revoke(service, {"clients": [page.holder_id]})
        assert await refused(one)
        assert not await refused(two)


@pytest.mark.usefixtures("agent")  # who closes the page
@pytest.mark.thorough
async def test_a_token_that_ends_takes_its_running_calls_with_it_and_no_step_follows(service: RunningService) -> None:
    named = await token_for(service, "brief", expires_at=time.time() + 4)
    async with sharing(service, named) as brief, asyncio.timeout(PATIENCE_S):
        await brief.call("open_page", pageId="p")
        waits = asyncio.create_task(brief.reply("wait", pageId="p", duration=30_000))
        steps = [{"action": "wait", "duration": 25_000}, {"action": "open_page", "pageId": "late"}]
        batch = asyncio.create_task(brief.reply("batch", steps=steps, pageId="p"))
        assert (await waits).json()["error"]["code"] == "CANCELLED"
        assert not (await batch).json()["success"]
        assert service.known_page("late") is None
        assert (await brief.reply("list_pages")).json()["error"]["message"] == "The token has expired."


async def test_a_body_that_comes_after_its_token_was_revoked_is_not_done(service: RunningService) -> None:
    named, begun, revoked = await token_for(service, "slow"), asyncio.Event(), asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        begun.set()
        await revoked.wait()
        yield b'{"action": "open_page", "pageId": "late"}'

    async with sharing(service, named) as slow, asyncio.timeout(PATIENCE_S):
        headers = {"content-type": "application/json"}
        late = asyncio.create_task(slow.http.post(wire.BROWSER, content=body(), headers=headers))
        await begun.wait()
        await service.revoke("slow")
        revoked.set()
        assert (await late).json()["error"]["code"] == "UNAUTHORIZED"
        assert service.known_page("late") is None
