"""Tests work shared out by name: one client at a time, a line for the others, and no browser needed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from browser_service.rules.claims import OFFER_S
from tests.support.clock import Clock
from tests.support.json import AnyJson
from tests.support.listening import become, sent, watching
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService

pytestmark = pytest.mark.anyio

KEY = "ticket/812"
IDLE_S = 120.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def shared(start: StartService, clock: Clock) -> RunningService:
    return await start(clock=clock, idle_lease_ms=round(IDLE_S * 1000), presence_grace_ms=0)


@pytest.fixture
async def claude(shared: RunningService) -> AsyncIterator[Agent]:
    async with shared.agent("Claude · shop") as agent:
        yield agent


@pytest.fixture
async def codex(shared: RunningService) -> AsyncIterator[Agent]:
    async with shared.agent("Codex") as agent:
        yield agent


async def notices(agent: Agent) -> list[str]:
    return [notice["text"] for notice in (await agent.reply("list_work")).json()["notices"]]


async def listed(agent: Agent) -> dict[str, AnyJson]:
    """Return the only piece of work that is claimed. Any: as JSON."""
    (found,) = (await agent.call("list_work"))["work"]
    return dict(found)


async def in_line(service: RunningService, agent: Agent, call_id: str, **more: object) -> "asyncio.Task[AnyJson]":
    """Start a call, and return it when it waits in line."""

    def waiting() -> int:
        return len(service.parts.work.waiting(KEY))

    before = waiting()
    call = sent(agent, call_id, "claim_work", key=KEY, waitSeconds=60, **more)
    await become(lambda: waiting() > before)
    return call


async def test_claimed_work_belongs_to_its_client_and_refusals_name_that(claude: Agent, codex: Agent) -> None:
    claimed = await claude.call("claim_work", key=KEY, reason="fixing\n the cart")
    assert claimed["yours"] is True
    refused = await codex.error("claim_work", key=KEY)
    assert (refused["status"], refused["code"]) == (423, "WORK_OWNED")
    assert refused["message"].startswith(
        '"ticket/812" is claimed by "Claude · shop", in its own words: "fixing the cart"'
    )
    free_at = datetime.strptime(claimed["freeAt"], "%H:%M:%S")  # noqa: DTZ007 - a time of day
    said = [f"free at {free_at + timedelta(seconds=more):%H:%M:%S}" for more in range(60)]
    assert any(each in refused["message"] for each in said)
    assert 'claim_work {"key": "ticket/812", "waitSeconds": 30}' in refused["hint"]
    assert 'claim_work {"key": "ticket/812", "reason": "..."}' in refused["hint"]
    assert claude.client_id not in str(refused)
    assert (await listed(codex))["owner"] == {"label": "Claude · shop", "you": False}
    assert (await listed(claude))["owner"]["you"] is True


async def test_claiming_again_renews_and_idle_work_is_taken_with_notices_to_both(
    claude: Agent, codex: Agent, clock: Clock
) -> None:
    await claude.call("claim_work", key=KEY)
    clock.pass_s(IDLE_S - 1)
    await claude.call("claim_work", key=KEY)
    clock.pass_s(IDLE_S - 1)
    await codex.error("claim_work", key=KEY)
    clock.pass_s(1)
    taken = await codex.call("claim_work", key=KEY)
    assert 'taken from "Claude · shop"' in taken["observed"]
    assert await notices(claude) == ['"Codex" claimed ticket/812, which you had left idle.']


async def test_minutes_keep_work_that_is_idle(claude: Agent, codex: Agent, clock: Clock) -> None:
    await claude.call("claim_work", key=KEY, minutes=30)
    clock.pass_s(30 * 60 - 1)
    await codex.error("claim_work", key=KEY)
    clock.pass_s(1)
    await codex.call("claim_work", key=KEY)


async def test_a_reason_takes_work_and_its_holder_is_told_why(claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY, minutes=30)
    taken = await codex.call("claim_work", key=KEY, reason="the user moved it to me")
    assert taken["yours"] is True
    assert await notices(claude) == ['"Codex" took ticket/812 from you, in its own words: "the user moved it to me".']
    assert (await listed(claude))["reason"] == "the user moved it to me"
    assert (await claude.error("claim_work", key=KEY))["code"] == "WORK_OWNED"


async def test_released_work_is_free_and_only_its_holder_can_release_it(claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY)
    assert (await codex.error("release_work", key=KEY))["code"] == "WORK_OWNED"
    assert (await claude.call("release_work", key=KEY))["released"] is True
    assert (await claude.call("release_work", key=KEY))["released"] is False
    assert (await codex.call("list_work"))["work"] == []
    await codex.call("claim_work", key=KEY)


async def test_the_first_in_line_is_offered_the_work_and_an_unused_offer_passes_on(
    shared: RunningService, claude: Agent, codex: Agent, clock: Clock
) -> None:
    await claude.call("claim_work", key=KEY)
    async with shared.agent("Cursor") as cursor:
        first = await in_line(shared, codex, "c-1")
        second = await in_line(shared, cursor, "c-2")
        assert (await listed(claude))["waiting"] == ["Codex", "Cursor"]
        released = await claude.call("release_work", key=KEY)
        assert 'offered to "Codex"' in released["observed"]
        offer = (await first).json()["result"]
        assert (offer["yours"], offer["offered"]) == (False, True)
        assert 'claim_work {"key": "ticket/812"} within 12 s' in offer["observed"]
        assert (await claude.error("claim_work", key=KEY))["code"] == "WORK_OWNED"
        assert not second.done()
        clock.pass_s(OFFER_S)
        shared.parts.work.advance()
        assert (await second).json()["result"]["offered"] is True
        lost = "ticket/812 was offered to you, you did not claim it in time, and it is no longer yours."
        assert await notices(codex) == [lost]
        assert (await cursor.call("claim_work", key=KEY))["yours"] is True
        clock.pass_s(OFFER_S)
        assert (await codex.error("claim_work", key=KEY))["code"] == "WORK_OWNED"


async def test_a_waiting_client_is_told_its_position(shared: RunningService, claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY)
    async with shared.agent("Cursor") as cursor, watching(shared, cursor.client_id) as progress:
        first = await in_line(shared, codex, "c-1")
        second = await in_line(shared, cursor, "c-2")
        await progress.until(lambda p: p.of("c-2") != [])
        assert (progress.of("c-2")[-1].position, progress.of("c-2")[-1].behind) == (2, "Claude · shop")
        await codex.call("cancel_call", callId="c-1")
        await first
        await progress.until(lambda p: p.of("c-2")[-1].position == 1)
        await claude.call("release_work", key=KEY)
        await second


async def test_taking_work_is_recorded_with_its_reason(claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY)
    await codex.call("claim_work", key=KEY, reason="the user moved it to me")
    record = str(await claude.call("get_activity"))
    assert KEY in record
    assert "the user moved it to me" in record


async def test_idle_work_goes_to_the_first_in_line(
    shared: RunningService, claude: Agent, codex: Agent, clock: Clock
) -> None:
    await claude.call("claim_work", key=KEY)
    waiting = await in_line(shared, codex, "c-1")
    clock.pass_s(IDLE_S)
    shared.parts.work.advance()
    assert (await waiting).json()["result"]["offered"] is True
    assert await notices(claude) == ['ticket/812, which you had left idle, went to "Codex", who waited for it.']


async def test_a_wait_in_vain_says_so_and_leaves_the_line(claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY)
    assert (await codex.error("claim_work", key=KEY, waitSeconds=1))["code"] == "WORK_OWNED"
    assert (await listed(claude))["waiting"] == []
    taken = await codex.call("claim_work", key=KEY, waitSeconds=1, reason="the user asked for it")
    assert taken["yours"] is True


async def test_a_cancelled_wait_leaves_the_line(shared: RunningService, claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY)
    waiting = await in_line(shared, codex, "c-1")
    await codex.call("cancel_call", callId="c-1")
    assert (await waiting).json()["error"]["code"] == "CANCELLED"
    await claude.call("release_work", key=KEY)
    assert (await claude.call("list_work"))["work"] == []


async def test_work_ends_with_its_holders_presence(shared: RunningService, claude: Agent, codex: Agent) -> None:
    async with watching(shared, claude.client_id):
        await claude.call("claim_work", key=KEY, minutes=60)
        waiting = await in_line(shared, codex, "c-1")
    assert (await waiting).json()["result"]["offered"] is True


async def test_a_departed_client_leaves_the_line(shared: RunningService, claude: Agent, codex: Agent) -> None:
    await claude.call("claim_work", key=KEY)
    async with watching(shared, codex.client_id):
        waiting = await in_line(shared, codex, "c-1")
    await waiting
    assert (await listed(claude))["waiting"] == []


@pytest.mark.parametrize("key", ["", "   ", "two\nlines", "x" * 121, "\u2028", 7])
async def test_a_key_that_nobody_could_read_is_refused_by_name(claude: Agent, key: object) -> None:
    error = await claude.error("claim_work", key=key)
    assert error["code"] == "VALIDATION_ERROR"
    assert "key" in error["message"]


async def test_a_client_can_hold_a_hundred_names_and_renew_each(claude: Agent, codex: Agent) -> None:
    for number in range(100):
        await claude.call("claim_work", key=f"row {number}")
    full = await claude.error("claim_work", key="one more")
    assert (full["status"], full["code"]) == (503, "RESOURCE_EXHAUSTED")
    assert full["details"]["context"] == {"limit": "work", "value": 100}
    await claude.call("claim_work", key="row 0")
    await claude.call("release_work", key="row 99")
    await claude.call("claim_work", key="one more")
    await codex.call("claim_work", key="row 99")
