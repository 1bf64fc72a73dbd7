"""Tests the limits of each client: calls a minute, calls at once, and pages."""

import asyncio
import threading

import httpx
import pytest

from browse_together.contract import wire
from browse_together.contract.events import EventBatch
from tests.support.carriers import LONGEST_DELAY_S, JsonCarrier
from tests.support.clock import Clock
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> Clock:
    return Clock()


class LateNews(JsonCarrier):
    """A host whose events come later than its answers."""

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        batch = await super().events_after(seq, wait_ms, limit)
        await asyncio.sleep(LONGEST_DELAY_S)  # on purpose
        return batch


async def refused(agent: Agent, action: str, **arguments: AnyJson) -> tuple[httpx.Response, dict[str, AnyJson]]:
    """Return the reply to a call that a limit refuses, and the facts in its error. Any: JSON."""
    reply = await agent.reply(action, **arguments)
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (429, "RATE_LIMITED"), error
    context = dict(error["details"]["context"])
    assert reply.headers["Retry-After"] == str(context["retryAfter"])
    assert f"(in {context['retryAfter']} s)" in error["message"]
    return reply, context


# --- a client's quotas ---------------------------------------------------------------------------------------------


async def test_too_many_calls_a_minute_are_refused_until_the_first_is_a_minute_old(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=3)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        clock.pass_s(20)
        await agent.call("get_page_title", pageId="p")
        await agent.call("get_page_title", pageId="p")
        reply, context = await refused(agent, "get_page_title", pageId="p")
        assert context == {"limit": "callsPerMinute", "value": 3, "retryAfter": 40}
        assert "You made 3 calls within a minute" in reply.json()["error"]["message"]
        assert "Repeat get_page_title then" in reply.json()["error"]["hint"]
        await other.call("content", pageId="p")
        await agent.call("list_pages")
        clock.pass_s(40)
        await agent.call("get_page_title", pageId="p")
        await refused(agent, "get_page_title", pageId="p")
        await agent.call("close_page", pageId="p")


async def test_a_cards_requests_are_limited_separately_from_its_chats_calls(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=3)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        await other.call("goto", pageId="q", url=site.url("/"))
        asked = [(await agent.http.get(f"{wire.WALL_CARD}/p")).status_code for _ in range(4)]
        assert asked == [200, 200, 200, 429]
        assert (await agent.http.post(f"{wire.WALL_CARD}/p", json={})).status_code == 429
        await agent.call("get_page_title", pageId="p")
        assert (await other.http.post(f"{wire.WALL_CARD}/q", json={})).status_code == 200


async def test_the_steps_of_a_batch_count_like_calls(start: StartService, clock: Clock, site: Site) -> None:
    service = await start(clock=clock, client_calls_per_minute=9)
    url = site.page("/", "hello")
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=url)
        steps = [{"action": "get_page_title"}, {"action": "goto", "url": url}, {"action": "fetch", "url": "/"}]
        await agent.call("batch", pageId="p", steps=[*steps, *steps[1:], steps[2]])
        _, context = await refused(agent, "batch", pageId="p", steps=[steps[0]] * 3)
        assert (context["limit"], context["value"]) == ("callsPerMinute", 9)
        await agent.call("batch", pageId="p", steps=steps[:2])


async def test_a_refused_call_may_come_again_under_its_id(start: StartService, clock: Clock, site: Site) -> None:
    """As a program does that heeds Retry-After and repeats the very request."""
    service = await start(clock=clock, client_calls_per_minute=12)
    async with service.agent() as agent:
        again = {wire.CALL_ID: "c-again", wire.ATTEMPT: "1"}
        for number in range(10):
            await agent.call("tell_person", message=f"line {number}")
        told = await agent.reply("tell_person", message="one too many", headers=again)
        assert told.status_code == 429, "the limit of lines, met by a call that had begun"
        clock.pass_s(60)
        again[wire.ATTEMPT] = "2"
        assert (await agent.reply("tell_person", message="one too many", headers=again)).status_code == 200
        url, again = site.page("/", "better"), {wire.CALL_ID: "c-goto", wire.ATTEMPT: "1"}
        await agent.call("open_page", pageId="p")
        for _ in range(11):
            await agent.call("get_page_title", pageId="p")
        assert (await agent.reply("goto", pageId="p", url=url, headers=again)).status_code == 429
        clock.pass_s(60)
        assert (await agent.reply("goto", pageId="p", url=url, headers=again)).status_code == 200
        assert (await agent.reply("goto", pageId="p", url=url, headers=again)).status_code == 200
        assert site.counts["/"] == 1, "the same call, done once"


async def test_calls_over_a_limit_do_not_push_acts_out_of_the_record(
    start: StartService, clock: Clock, site: Site
) -> None:
    service = await start(clock=clock, client_calls_per_minute=1)
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        await refused(agent, "reload_page", pageId="p")
        lines = str(await other.call("get_activity"))
        assert "goto" in lines
        assert "reload_page" not in lines


async def test_a_client_at_its_limit_of_running_calls_can_still_cancel_and_close(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    assert not hold.is_set()
    service = await start(calls_in_flight=2)
    async with service.agent() as agent, service.agent() as other:
        calls = [sent(agent, f"c-{n}", "goto", pageId=f"p{n}", url=f"{site.url('/held')}?{n}") for n in (1, 2)]
        await become(lambda: site.counts["/held"] == 2)
        reply, context = await refused(agent, "goto", pageId="p3", url=site.url("/held"))
        assert (context["limit"], context["value"]) == ("callsInFlight", 2)
        assert 'cancel_call {"callId": "c-1"}' in reply.json()["error"]["hint"]
        await other.call("goto", pageId="theirs", url=site.page("/", "hello"))
        await agent.call("get_call", callId="c-1", wait=0)
        await agent.call("cancel_call", callId="c-1")
        assert (await calls[0]).json()["error"]["code"] == "UNKNOWN_OUTCOME"
        assert len((await agent.call("list_pages"))["yours"]) == 2
        await agent.call("close_page", pageId="p2")
        await calls[1]
        await agent.call("goto", pageId="p3", url=site.url("/"))


async def test_pages_over_a_clients_limit_are_refused_also_when_all_come_at_once(
    start: StartService, site: Site
) -> None:
    service = await start(carrier=LateNews, client_pages=2)
    url = site.page("/", "hello")
    async with service.agent() as agent, service.agent() as other:
        replies = await asyncio.gather(*(agent.reply("open_page", pageId=f"p{n}", url=url) for n in range(5)))
        assert sorted(reply.status_code for reply in replies) == [200, 200, 503, 503, 503]
        full = await agent.error("goto", url=url)
        assert full["code"] == "RESOURCE_EXHAUSTED"
        context = full["details"]["context"]
        assert (context["limit"], context["value"], len(context["pages"])) == ("pages", 2, 2)
        assert f'close_page {{"pageId": "{context["pages"][0]}"}}' in full["hint"]
        await agent.call("goto", pageId=context["pages"][0], url=url)
        await other.call("goto", url=url)
        await agent.call("close_page", pageId=context["pages"][0])
        await agent.call("goto", url=url)
        assert len((await agent.call("list_pages"))["yours"]) == 2
