"""Tests how a page goes from one client to another: claimed, released, held, shared, handed over.

It is longer than 300 lines because all the ways from one client to another are tried with the same page, clients and
helpers.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from browse_together.contract import catalogue
from browse_together.contract.calls import CallState
from browser_service.rules import claims, leases
from tests.support.bodies import smallest
from tests.support.json import AnyJson
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

HTML = "<h1>Cart</h1><input id=a><button id=b onclick='window.hits = (window.hits || 0) + 1'>b</button>"


@pytest.fixture
async def third(service: RunningService) -> AsyncIterator[Agent]:
    async with service.agent() as agent:
        yield agent


def ownership(service: RunningService, page_id: str) -> leases.Ownership:
    found: leases.Ownership = service.entry(page_id).record.ownership
    return found


def idle_ms(service: RunningService, page_id: str) -> int:
    lease = ownership(service, page_id).lease
    return lease.idle_ms if lease else 0


def waits(service: RunningService, agent: Agent, call_id: str, position: int = 1) -> bool:
    moved = service.last_move(agent.client_id, call_id)
    return moved is not None and (moved.state, moved.position) == (CallState.QUEUED, position)


def told(reply: httpx.Response) -> list[str]:
    return [notice["text"] for notice in reply.json()["notices"]]


async def owner(agent: Agent, page_id: str) -> Any:  # Any: a label and whether it is the asker
    listed = await agent.call("list_pages")
    return next(
        page
        for part in (listed["yours"], listed["people"], listed["others"])
        for page in part
        if page["pageId"] == page_id
    )["owner"]


async def opened(agent: Agent, site: Site, page_id: str = "cart") -> None:
    await agent.call("goto", pageId=page_id, url=site.page("/cart", HTML))


# --- claiming ------------------------------------------------------------------------------------------------------


async def test_a_claim_without_reason_or_patience_is_refused_with_the_ways_on(
    agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    error = await other.error("claim_page", pageId="cart")
    assert (error["status"], error["code"]) == (423, "PAGE_OWNED")
    assert 'claim_page {"pageId": "cart", "waitSeconds": 30}' in error["hint"]
    assert 'claim_page {"pageId": "cart", "reason": "..."}' in error["hint"]
    assert await owner(agent, "cart") == {"label": agent.label, "you": True}


async def test_a_claim_with_a_reason_takes_the_page_and_its_holder_is_told_why(
    agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    result = await other.call("claim_page", pageId="cart", reason="the user asked for it")
    assert result["claimed"] == "cart"
    refused = await agent.reply("click", pageId="cart", selector="#b")
    assert refused.json()["error"]["code"] == "PAGE_OWNED"
    assert told(refused) == [f'"{other.label}" took cart from you, in its own words: "the user asked for it".']
    await other.call("click", pageId="cart", selector="#b")


async def test_a_claim_of_a_page_that_is_yours_or_free_is_done_at_once(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    assert "yours already" in (await agent.call("claim_page", pageId="cart"))["observed"]
    await agent.call("release_page", pageId="cart")
    await other.call("claim_page", pageId="cart")
    assert ownership(service, "cart").lease is not None
    assert await owner(other, "cart") == {"label": other.label, "you": True}


async def test_a_released_page_goes_to_those_who_wait_for_it_in_the_order_in_which_they_came(
    service: RunningService, agent: Agent, other: Agent, third: Agent, site: Site
) -> None:
    await opened(agent, site)
    second_in_line = sent(other, "o", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, other, "o"))
    third_in_line = sent(third, "t", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, third, "t", 2))
    released = await agent.call("release_page", pageId="cart")
    assert released["released"] == "cart"
    granted = (await second_in_line).json()["result"]
    assert (granted["claimed"], granted["useWithinSeconds"]) == ("cart", 12)
    assert not third_in_line.done()
    assert (await agent.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"
    await other.call("click", pageId="cart", selector="#b")
    await other.call("release_page", pageId="cart")
    assert (await third_in_line).json()["result"]["claimed"] == "cart"


@pytest.fixture
def short_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "OFFER_S", 0.2)


@pytest.mark.usefixtures("short_offers")
async def test_an_offer_that_is_not_used_passes_on(
    service: RunningService, agent: Agent, other: Agent, third: Agent, site: Site
) -> None:
    await opened(agent, site)
    first = sent(other, "o", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, other, "o"))
    second = sent(third, "t", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, third, "t", 2))
    await agent.call("release_page", pageId="cart")
    assert (await first).json()["success"] is True
    assert (await second).json()["result"]["claimed"] == "cart"
    refused = await other.reply("click", pageId="cart", selector="#b")
    assert refused.json()["error"]["code"] == "PAGE_OWNED"
    assert told(refused) == [f'cart went to "{third.label}", who waited for it.']


async def test_an_offer_that_is_used_in_time_becomes_an_ordinary_lease(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    claim = sent(other, "o", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, other, "o"))
    await agent.call("release_page", pageId="cart")
    await claim
    await other.call("click", pageId="cart", selector="#b")
    lease = ownership(service, "cart").lease
    assert lease is not None
    assert lease.offered_until is None


async def test_a_wait_in_vain_names_who_uses_the_page(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    error = await other.error("claim_page", pageId="cart", waitSeconds=1)
    assert (error["status"], error["code"]) == (504, "TIMEOUT")
    assert f'in use by "{agent.label}"' in error["message"]
    assert '"reason": "..."' in error["hint"]


async def test_a_wait_with_a_reason_takes_the_page_when_it_runs_out(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    assert (await other.call("claim_page", pageId="cart", waitSeconds=1, reason="urgent"))["claimed"] == "cart"
    assert await owner(other, "cart") == {"label": other.label, "you": True}


async def test_a_cancelled_claim_leaves_the_line(
    service: RunningService, agent: Agent, other: Agent, third: Agent, site: Site
) -> None:
    await opened(agent, site)
    first = sent(other, "o", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, other, "o"))
    second = sent(third, "t", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, third, "t", 2))
    await other.call("cancel_call", callId="o")
    assert (await first).json()["error"]["code"] == "CANCELLED"
    await become(lambda: waits(service, third, "t", 1))
    await agent.call("release_page", pageId="cart")
    assert (await second).json()["success"] is True


async def test_a_wait_for_a_page_that_closes_ends_with_an_error(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    claim = sent(other, "o", "claim_page", pageId="cart", waitSeconds=60)
    await become(lambda: waits(service, other, "o"))
    await agent.call("close_page", pageId="cart")
    assert (await claim).json()["error"]["code"] == "PAGE_NOT_FOUND"


async def test_a_call_that_was_queued_when_its_page_was_taken_is_refused_and_the_one_that_ran_ends(
    service: RunningService, agent: Agent, other: Agent, site: Site, hold: threading.Event
) -> None:
    await opened(agent, site)
    running = sent(agent, "g", "goto", pageId="cart", url=site.url("/held"))
    await become(lambda: site.counts["/held"] == 1)
    queued = sent(agent, "q", "evaluate_script", pageId="cart", expression="document.title = 'mine'")
    await become(lambda: waits(service, agent, "q"))
    await other.call("claim_page", pageId="cart", reason="the user asked for it")
    hold.set()
    assert (await running).json()["success"] is True
    assert (await queued).json()["error"]["code"] == "PAGE_OWNED"
    assert (await other.call("evaluate_script", pageId="cart", expression="document.title"))["value"] == "held"


# --- holding -------------------------------------------------------------------------------------------------------


async def test_a_held_page_does_not_lapse_though_its_holder_is_idle_or_gone(start: StartService, site: Site) -> None:
    service = await start(idle_lease_ms=50)
    async with service.agent("Claude") as agent, service.agent("Codex") as other:
        await opened(agent, site)
        held = await agent.call("hold_page", pageId="cart", reason="waiting for a code", minutes=20)
        await become(lambda: idle_ms(service, "cart") > 60)
        error = await other.error("click", pageId="cart", selector="#b")
        assert error["code"] == "PAGE_OWNED"
        assert f'held until {held["heldUntil"]}, in its own words: "waiting for a code"' in error["message"]
        await service.release(agent)
        assert (await other.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"
        listed = next(page for page in (await other.call("list_pages"))["others"] if page["pageId"] == "cart")
        assert listed["heldFor"] == "waiting for a code"
        await other.call("claim_page", pageId="cart", reason="the user asked")
        await other.call("click", pageId="cart", selector="#b")


async def test_an_expired_hold_keeps_nobody_out(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    await agent.call("hold_page", pageId="cart", reason="waiting for a code", minutes=1)
    lease = ownership(service, "cart").lease
    assert lease is not None
    assert lease.kept_until > 0
    lease.kept_until -= 61
    await service.release(agent)
    await other.call("click", pageId="cart", selector="#b")


# --- sharing -------------------------------------------------------------------------------------------------------


async def test_nobody_else_reads_a_private_page_or_learns_its_url(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    await agent.call("share_page", pageId="cart", access="private")
    reads = ("snapshot", "content", "screenshot", "get_current_url", "get_page_title", "wait_for_selector")
    for action in (*reads, "evaluate_script"):
        reply = await other.reply(action, **smallest(catalogue.ACTIONS[action], pageId="cart"))
        assert reply.json()["error"]["code"] == "PAGE_OWNED", action
        assert "/cart" not in reply.text
        assert "Cart" not in reply.text
    listed = await other.reply("list_pages")
    assert "/cart" not in listed.text
    assert (listed.json()["result"]["others"], listed.json()["result"]["private"]) == ([], 1)
    assert "Cart" in (await agent.call("content", pageId="cart"))["content"]


async def test_a_private_page_stays_private_when_its_holder_is_gone(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    await agent.call("share_page", pageId="cart", access="private")
    await service.release(agent)
    assert (await other.error("content", pageId="cart"))["code"] == "PAGE_OWNED"
    assert "Cart" in (await agent.call("content", pageId="cart"))["content"]


async def test_all_may_act_on_a_page_shared_for_acting_but_only_its_holder_may_close_it(
    agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    await agent.call("share_page", pageId="cart", access="act")
    await other.call("click", pageId="cart", selector="#b")
    assert told(await agent.reply("click", pageId="cart", selector="#b")) == [
        f'"{other.label}" acts on cart, which you shared.'
    ]
    assert (await other.call("evaluate_script", pageId="cart", expression="window.hits"))["value"] == 2
    assert told(await agent.reply("get_current_url", pageId="cart")) == []  # once is enough
    assert await owner(other, "cart") == {"label": agent.label, "you": False}
    for action, arguments in (("close_page", {}), ("share_page", {"access": "private"}), ("release_page", {})):
        assert (await other.error(action, pageId="cart", **arguments))["code"] == "PAGE_OWNED"
    await agent.call("share_page", pageId="cart", access="read")
    assert (await other.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"


async def test_sharing_of_a_page_ends_with_its_holder(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    await agent.call("share_page", pageId="cart", access="act")
    await other.call("claim_page", pageId="cart", reason="the user asked")
    assert (await agent.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"


# --- handing over --------------------------------------------------------------------------------------------------


async def test_a_page_is_handed_over_by_name_and_its_new_owner_is_told(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    await other.call("list_pages")
    await agent.call("hand_over_page", pageId="cart", to=other.label, note="finish the order")
    assert (await agent.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"
    clicked = await other.reply("click", pageId="cart", selector="#b")
    assert clicked.json()["success"] is True
    assert told(clicked) == [f'"{agent.label}" handed cart over to you, in its own words: "finish the order".']


async def test_an_unknown_name_is_no_recipient_and_a_number_means_one_of_two(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await opened(agent, site)
    error = await agent.error("hand_over_page", pageId="cart", to="Nobody")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "to")
    async with service.agent("Twin") as one, service.agent("Twin") as two:
        await one.call("goto", pageId="one", url=site.url("/cart"))
        await two.call("goto", pageId="two", url=site.url("/cart"))
        await agent.call("hand_over_page", pageId="cart", to="Twin 2")
        await two.call("click", pageId="cart", selector="#b")
        assert (await one.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"


async def test_a_page_is_not_handed_to_a_client_that_may_not_use_its_session(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("create_session", sessionId="apart")
    await agent.call("goto", pageId="handed", sessionId="apart", url=site.page("/apart", "<button id=b>Buy</button>"))
    await other.call("list_pages")
    error = await agent.error("hand_over_page", pageId="handed", to=other.label)
    assert (error["code"], 'share_session {"sessionId": "apart"}' in error["hint"]) == ("FORBIDDEN", True)
    await agent.call("click", pageId="handed", selector="#b")
    await agent.call("share_session", sessionId="apart")
    await agent.call("hand_over_page", pageId="handed", to=other.label)
    await other.call("click", pageId="handed", selector="#b")


# --- siblings, people, earlier chats -------------------------------------------------------------------------------


async def test_agents_of_one_client_are_distinguished_and_do_not_close_each_others_pages_by_accident(
    agent: Agent, site: Site
) -> None:
    url = site.page("/cart", HTML)
    as_buyer: dict[str, Any] = {"as": "buyer"}  # Any: what `reply` takes; `as` is no name in Python
    as_reader: dict[str, AnyJson] = {"as": "reader"}
    await agent.call("goto", pageId="shop", url=url, **as_buyer)
    await agent.call("goto", pageId="docs", url=url, **as_reader)
    clicked = await agent.reply("click", selector="#b", **as_buyer)
    assert clicked.json()["page"]["pageId"] == "shop"
    assert clicked.json()["page"]["owner"]["label"] == f"{agent.label} · buyer"
    crossed = await agent.reply("click", **as_reader, pageId="shop", selector="#b")
    assert told(crossed) == ['shop was opened by your sibling "buyer"; "reader" acts on it too.']
    error = await agent.error("close_page", pageId="shop", **as_reader)
    assert error["code"] == "PAGE_OWNED"
    assert '"confirm": true' in error["hint"]
    await agent.call("close_page", pageId="shop", confirm=True, **as_reader)


async def test_agents_of_one_client_that_all_say_main_do_not_get_each_others_page(agent: Agent, site: Site) -> None:
    url, elsewhere = site.page("/cart", HTML), site.page("/other", "<title>other</title>")
    one: dict[str, Any] = {"as": "one"}  # Any: what `reply` takes
    two: dict[str, AnyJson] = {"as": "two"}
    await agent.call("goto", pageId="main", url=url, **one)
    error = await agent.error("goto", pageId="main", url=elsewhere, **two)
    assert error["code"] == "PAGE_OWNED"
    assert (await agent.call("get_current_url", pageId="main"))["url"] == url
    assert (await agent.reply("goto", url=elsewhere, **two)).json()["page"]["pageId"] != "main"
    assert 'claim_page {"pageId": "main", "as": "two"}' in error["hint"]
    await agent.call("claim_page", pageId="main", **two)
    await agent.call("goto", pageId="main", url=elsewhere, **two)


async def test_opening_a_page_under_a_name_of_ones_own_opens_another(agent: Agent, site: Site) -> None:
    url = site.page("/cart", HTML)
    await agent.call("open_page", pageId="main", url=url)
    second = await agent.reply("open_page", pageId="main")
    page_id = second.json()["page"]["pageId"]
    assert page_id.startswith("main-")
    assert told(second) == [f"main is open already, and yours: this is another page, {page_id}."]
    assert (await agent.call("get_current_url", pageId="main"))["url"] == url


async def test_a_label_is_no_authority(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    for pretended in (agent.label, agent.client_id):
        error = await other.error("click", pageId="cart", selector="#b", **{"as": pretended})
        assert error["code"] == "PAGE_OWNED"


async def test_a_persons_tab_may_be_taken_for_acting_and_is_not_closed_without_a_reason(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await opened(agent, site)
    context = service.context()
    page = await context.new_page()
    await become(lambda: service.known_page("default~1") is not None)
    await page.goto(site.url("/cart"))
    assert [each["pageId"] for each in (await agent.call("list_pages"))["people"]] == ["default~1"]
    error = await agent.error("close_page", pageId="default~1")
    assert error["code"] == "PAGE_OWNED"
    await agent.call("click", pageId="default~1", selector="#b")
    assert await owner(agent, "default~1") == {"label": agent.label, "you": True}
    await agent.call("close_page", pageId="default~1", reason="its owner asked me to tidy up")
    assert page.is_closed()


async def test_a_new_chat_of_the_same_name_is_shown_the_way_to_what_the_earlier_one_left(
    start: StartService, site: Site
) -> None:
    service = await start()
    async with service.agent("Claude") as before:
        await opened(before, site)
        await service.release(before)
    async with service.agent("Claude") as now, service.agent("Codex") as stranger:
        error = await now.error("click", selector="#b")
        assert error["code"] == "PAGE_REQUIRED"
        assert 'An earlier "Claude" left cart' in error["hint"]
        assert "cart" not in (await stranger.error("click", selector="#b"))["hint"]
        listed = (await now.call("list_pages"))["others"]
        assert [(page["pageId"], page["leftBy"]) for page in listed] == [("cart", "Claude")]
        await now.call("click", pageId="cart", selector="#b")


# --- together ------------------------------------------------------------------------------------------------------


async def test_many_simultaneous_claims_get_the_page_once_each_and_never_together(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await opened(agent, site)
    had: list[str] = []

    async def claims(number: int) -> None:
        async with service.agent(f"n{number}") as one:
            assert (await one.call("claim_page", pageId="cart", waitSeconds=40))["claimed"] == "cart"
            had.append(one.label)
            await one.call("evaluate_script", pageId="cart", expression="window.hits = (window.hits || 0) + 1")
            assert await owner(one, "cart") == {"label": one.label, "you": True}
            had.append(one.label)
            await one.call("release_page", pageId="cart")

    cart = ownership(service, "cart")
    waiting = [asyncio.ensure_future(claims(number)) for number in range(8)]
    await become(lambda: cart.waiting == 8)
    await agent.call("release_page", pageId="cart")
    await asyncio.gather(*waiting)
    assert had[::2] == had[1::2]
    assert len(set(had)) == 8
    assert (await agent.call("evaluate_script", pageId="cart", expression="window.hits"))["value"] == 8
