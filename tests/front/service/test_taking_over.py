"""Tests what a person takes in hand unasked: a page is theirs, above its lease, until they give it back."""

import threading
from collections.abc import AsyncIterator

import pytest

from tests.support.account import recorded
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


@pytest.fixture
async def ana(service: RunningService) -> AsyncIterator[Agent]:
    """Return the account's own person."""
    async with service.agent("Ana", "person-ana", operator=True) as person:
        yield person


async def held(agent: Agent, page_id: str = "p") -> dict[str, AnyJson]:
    """Return the refusal of an act. Any: JSON."""
    error = await agent.error("click", pageId=page_id, selector="button")
    assert (error["code"], error["status"]) == ("HUMAN_IN_CONTROL", 423)
    return error


async def test_a_persons_hold_is_above_the_lease_until_they_give_the_page_back(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="lent", url=site.page("/", "<button>b</button>"))
    hold = await ana.call("take_over", pageId="lent")
    refused = await held(agent, "lent")
    assert f'request_human {{"pageId": "lent", "requestId": "{hold["requestId"]}"}}' in refused["hint"]
    for who in (agent, other):
        assert (await who.error("content", pageId="lent"))["code"] == "HUMAN_IN_CONTROL"  # their password may be on it
        assert (await who.error("take_over", pageId="lent"))["code"] == "FORBIDDEN"
        assert (await who.error("give_back", pageId="lent"))["code"] == "FORBIDDEN"
    waiting = await agent.call("request_human", pageId="lent", requestId=hold["requestId"], timeout=1)
    assert "still has lent" in waiting["observed"]
    await agent.call("request_human", pageId="lent", requestId=hold["requestId"], withdraw=True, timeout=1)
    await held(agent, "lent")
    await ana.call("click", pageId="lent", selector="button")
    await ana.call("give_back", pageId="lent")
    told = [notice["text"] for notice in (await agent.reply("content", pageId="lent")).json()["notices"]]
    assert "Ana gave lent back. Look at it before you go on." in told
    await agent.call("click", pageId="lent", selector="button")
    acts = [(row["client"], row["action"]) for row in await recorded(ana, pageId="lent") if row["client"] == "Ana"]
    assert acts == [("Ana", "give_back"), ("Ana", "click"), ("Ana", "take_over")]


async def test_a_person_has_a_hand_on_pages_of_a_session_that_an_agent_shares_with_nobody(
    agent: Agent, other: Agent, ana: Agent
) -> None:
    await agent.call("create_session", sessionId="bank")
    await agent.call("open_page", pageId="p", sessionId="bank")
    assert (await other.error("open_page", pageId="q", sessionId="bank"))["code"] == "FORBIDDEN"
    await ana.call("take_over", pageId="p", stop=True)
    await held(agent)
    await ana.call("give_back", pageId="p")
    await ana.call("open_page", pageId="mine", sessionId="bank")
    assert (await ana.error("close_session", sessionId="bank"))["code"] == "FORBIDDEN"
    await agent.call("close_session", sessionId="bank")


async def test_a_stop_cancels_the_running_call_and_refuses_queued_and_new_ones(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    service = await start(queue_wait_ms=60_000)
    async with service.agent("Claude") as agent, service.agent("Ana", operator=True) as ana:
        await agent.call("goto", pageId="p", url=site.page("/", "<button>b</button>"))
        running = sent(agent, "runs", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        waiting = sent(agent, "waits", "click", pageId="p", selector="button")
        await become(lambda: len(service.entry("p").queue.line) == 1)
        await ana.call("take_over", pageId="p", stop=True)
        stopped = [(await call).json()["error"] for call in (running, waiting)]
        assert [error["code"] for error in stopped] in (
            ["UNKNOWN_OUTCOME", "CANCELLED"],
            ["UNKNOWN_OUTCOME", "HUMAN_IN_CONTROL"],
        )
        for error in (*stopped, await held(agent)):
            assert '"Ana"' in error["message"]
            assert "stopped what was done" in error["message"]
            assert "wait until they give it back, request_human" in error["hint"]
        assert (await agent.reply("content", pageId="p")).json()["success"]
        hold.set()


async def test_a_page_in_hand_is_given_to_another_agent_or_closed_and_no_question_hides_in_it(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<button>b</button>"))
    await other.call("goto", pageId="q", url=site.url("/"))
    await ana.call("take_over", pageId="p")
    await ana.call("hand_over_page", pageId="p", to="q")
    await ana.call("give_back", pageId="p")
    await other.call("click", pageId="p", selector="button")
    assert (await agent.error("click", pageId="p", selector="button"))["code"] == "PAGE_OWNED"
    await ana.call("take_over", pageId="p", stop=True)
    await ana.call("close_page", pageId="p", reason="Closed by its person.")
    assert (await other.error("content", pageId="p"))["code"] == "PAGE_NOT_FOUND"
    assert "nobody's hands" in (await ana.call("give_back", pageId="q"))["observed"]
    await other.call("request_human", pageId="q", kind="other", message="Help, please.", timeout=1)
    assert "Answer that" in (await ana.error("give_back", pageId="q"))["hint"]
