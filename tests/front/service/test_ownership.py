"""Tests ownership: who may act on a page, how a page becomes free, and that a connection is no identity.

It is longer than 300 lines because each way to get, keep and lose a page has a test, and all look at its lease in the
same way.
"""

import asyncio
import json
import re
import threading
from pathlib import Path

import pytest

from browse_together.contract import catalogue, wire
from browse_together.contract.actions.base import PageAction
from browse_together.contract.actions.traits import Claim, Effect
from browse_together.contract.calls import ClientRef
from browser_service.rules.leases import Lease
from tests.support.bodies import smallest
from tests.support.listening import connected, listening, present, sent, watching
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

"""Less than the pause in which a client that is cut off may come back."""
FORM = "<h1>Cart</h1><input id=a><select id=s><option>1</select><input id=c type=checkbox><button id=b>b</button>"


def lease(service: RunningService, page_id: str) -> Lease | None:
    found: Lease | None = service.entry(page_id).lease
    return found


def has_turn(service: RunningService, page_id: str) -> bool:
    pages = service.host.pages
    return page_id in pages and pages[page_id].queue.current is not None


async def owner(agent: Agent, page_id: str) -> dict[str, object] | None:
    listed = await agent.call("list_pages")
    (page,) = [
        page
        for part in (listed["yours"], listed["people"], listed["others"])
        for page in part
        if page["pageId"] == page_id
    ]
    found: dict[str, object] | None = page["owner"]
    return found


# --- taking a lease ------------------------------------------------------------------------------------------------


async def test_a_refusal_tells_chats_that_call_themselves_the_same_by_a_number(service: RunningService) -> None:
    async with service.agent("Goose") as one, service.agent("Goose") as other:
        await one.call("open_page", pageId="p")
        await other.call("open_page", pageId="q")
        refusals = [await other.error("click", pageId="p", selector="a"), await one.error("close_page", pageId="q")]
        assert [each["message"].partition(" (")[0] for each in refusals] == [
            '"p" is in use by "Goose"',
            '"q" is in use by "Goose 2"',
        ]
        await one.call("close_page", pageId="p")
        await other.call("close_page", pageId="q")


async def test_opening_a_page_takes_its_lease(agent: Agent, other: Agent) -> None:
    reply = await agent.reply("open_page", pageId="p")
    assert reply.json()["page"]["owner"] == {"label": agent.label, "you": True}
    assert await owner(other, "p") == {"label": agent.label, "you": False}


async def test_acting_on_a_free_page_takes_its_lease(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", FORM))
    await service.release(agent)
    assert await owner(agent, "p") is None
    await other.call("fill", pageId="p", selector="#a", value="x")
    assert await owner(agent, "p") == {"label": other.label, "you": False}
    assert (await agent.error("fill", pageId="p", selector="#a", value="y"))["code"] == "PAGE_OWNED"
    await other.call("close_page", pageId="p")


async def test_every_act_on_anothers_page_is_refused_and_changes_nothing(
    agent: Agent, other: Agent, site: Site
) -> None:
    url = site.page("/cart", FORM)
    before = (await agent.reply("goto", pageId="p", url=url)).json()["page"]
    acts = [a for a in catalogue.ACTIONS.values() if issubclass(a, PageAction) and a.effect is not Effect.READS]
    assert len(acts) > 10
    for action in acts:
        error = await other.error(action.name(), **smallest(action, pageId="p"))
        refused = (403, "FORBIDDEN") if action.claim >= Claim.BY_PERSON else (423, "PAGE_OWNED")
        assert (error["status"], error["code"]) == refused, (action.name(), error)
    after = (await agent.reply("get_current_url", pageId="p")).json()["page"]
    assert after == before
    assert (await agent.call("content", pageId="p", format="text"))["content"].startswith("Cart")
    assert site.counts["/cart"] == 1


async def test_a_refused_fetch_of_a_relative_url_offers_an_own_copy_that_opens(
    agent: Agent, other: Agent, site: Site
) -> None:
    url = site.page("/shop/cart", FORM)
    await agent.call("goto", pageId="p", url=url)
    error = await other.error("fetch", pageId="p", url="../items?x=1")
    assert error["code"] == "PAGE_OWNED"
    offered = re.search(r"open_page (\{.*?\})", error["hint"])
    assert offered is not None
    reply = (await other.reply("open_page", **json.loads(offered.group(1)))).json()
    assert reply["success"] is True, reply
    assert (reply["page"]["url"], reply["page"]["owner"]["you"]) == (url, True)


async def test_reading_is_free(agent: Agent, other: Agent, site: Site) -> None:
    url = site.page("/", f"<title>Cart</title>{FORM}")
    await agent.call("goto", pageId="p", url=url)
    assert (await other.call("get_current_url", pageId="p"))["url"] == url
    assert (await other.call("get_page_title", pageId="p"))["title"] == "/"
    assert "Cart" in (await other.call("snapshot", pageId="p"))["snapshot"]
    assert "Cart" in (await other.call("content", pageId="p"))["content"]
    await other.call("wait_for_selector", pageId="p", selector="#b")
    assert "artifact" in await other.call("screenshot", pageId="p")
    assert await owner(other, "p") == {"label": agent.label, "you": False}


async def test_an_act_without_a_page_never_lands_on_anothers(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", FORM))
    error = await other.error("fill", selector="#a", value="x")
    assert (error["status"], error["code"]) == (400, "PAGE_REQUIRED")
    value = await agent.call("evaluate_script", pageId="p", expression="document.querySelector('#a').value")
    assert value["value"] == ""


async def test_a_name_in_the_body_is_no_authority(service: RunningService, agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", FORM))
    async with service.agent(label=agent.label) as namesake:
        assert (await namesake.error("click", pageId="p", selector="#b"))["code"] == "PAGE_OWNED"


async def test_a_turn_checks_ownership_again_when_it_comes(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    """Both are admitted while nobody holds the page; the first one owns it by the time of the second one's turn."""
    service = await start()
    async with service.agent("first") as first, service.agent("second") as second:
        await first.call("goto", pageId="p", url=site.page("/", FORM))
        going = sent(first, "g", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        await service.release(first)  # as if its presence had ended
        queued = sent(second, "q", "fill", pageId="p", selector="#a", value="x")
        await become(lambda: lease(service, "p") is not None)
        await service.release(second)
        entry = service.entry("p")
        entry.record.ownership.give(ClientRef(client_id="a-third", label="third"))
        hold.set()
        assert (await queued).json()["error"]["code"] == "PAGE_OWNED"
        await going


# --- idle ----------------------------------------------------------------------------------------------------------


async def test_acting_takes_an_idle_page_and_both_clients_learn_of_it(start: StartService, site: Site) -> None:
    service = await start(idle_lease_ms=60_000)
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        await first.call("goto", pageId="p", url=site.page("/", FORM))
        held = lease(service, "p")
        assert held is not None
        held.used_at -= 61  # as if that had been a minute ago; who takes it now is not idle at once
        taken = (await second.reply("fill", pageId="p", selector="#a", value="mine")).json()
        assert taken["success"] is True
        assert taken["page"]["owner"] == {"label": "Codex", "you": True}
        assert [notice["text"] for notice in taken["notices"]] == ['p was taken from "Claude", idle until now.']
        told = (await first.reply("list_pages")).json()["notices"]
        assert [notice["text"] for notice in told] == ['"Codex" took p, which you had left idle.']
        assert (await first.error("click", pageId="p", selector="#b"))["code"] == "PAGE_OWNED"


async def test_a_page_in_use_is_not_taken_and_the_refusal_says_when_it_is_free(agent: Agent, other: Agent) -> None:
    await agent.call("open_page", pageId="p")
    error = await other.error("goto", pageId="p", url="about:blank")
    said = re.search(r"free at (\d\d:\d\d:\d\d) if idle", error["message"])
    assert said is not None
    assert error["details"]["context"]["freeAt"] == said.group(1)


@pytest.mark.parametrize("action", ["an act that runs", "an act that waits", "a wait beside"])
async def test_a_page_is_not_idle_while_its_holder_has_a_call_queued_or_running(
    start: StartService, site: Site, hold: threading.Event, action: str
) -> None:
    service = await start(idle_lease_ms=100)
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        await first.call("goto", pageId="p", url=site.page("/", FORM))
        if action == "a wait beside":
            busy = sent(first, "w", "wait_for_selector", pageId="p", selector="#late")
            await become(lambda: f"{first.client_id}/w" in service.running_calls())
        else:
            busy = sent(first, "g", "goto", pageId="p", url=site.url("/held"))
            await become(lambda: site.counts["/held"] == 1)
        if action == "an act that waits":
            reading = sent(second, "r", "snapshot", pageId="p")  # somebody else's read may stand between
            busy = sent(first, "q", "evaluate_script", pageId="p", expression="1")
            await become(lambda: len(service.running_calls()) == 3)
        await become(lambda: (lease(service, "p") or Lease(ClientRef(client_id=""))).idle_ms > 100)
        assert (await second.error("fill", pageId="p", selector="#a", value="x"))["code"] == "PAGE_OWNED"
        hold.set()
        if action == "a wait beside":
            await first.call("evaluate_script", pageId="p", expression="document.querySelector('#b').id = 'late'")
        assert (await busy).json()["success"] is True
        if action == "an act that waits":
            await reading


async def test_a_holders_idle_time_starts_at_the_end_of_its_call(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    """A long call must not end in a page that anyone may take."""
    service = await start(idle_lease_ms=10_000)
    async with service.agent("Claude") as first, service.agent("Codex") as second:
        await first.call("goto", pageId="p", url=site.page("/", FORM))
        going = sent(first, "g", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        held = lease(service, "p")
        assert held is not None
        held.used_at -= 60  # as if it had taken a minute
        hold.set()
        await going
        assert (await second.error("fill", pageId="p", selector="#a", value="x"))["code"] == "PAGE_OWNED"


# --- identity and presence -----------------------------------------------------------------------------------------


async def test_the_same_client_from_another_connection_is_the_same_owner(service: RunningService, site: Site) -> None:
    url = site.page("/", FORM)
    async with service.agent("chat", client_id="chat-1") as gateway:
        await gateway.call("goto", pageId="p", url=url)
    async with service.agent("chat, again", client_id="chat-1") as restarted:
        assert [page["pageId"] for page in (await restarted.call("list_pages"))["yours"]] == ["p"]
        await restarted.call("fill", selector="#a", value="still mine")
        await restarted.call("close_page", pageId="p")


async def test_when_presence_ends_leases_lapse_and_running_calls_are_cancelled_but_pages_live_on(
    tmp_path: Path, site: Site, hold: threading.Event
) -> None:
    assert not hold.is_set()  # `/held` does not answer

    async with (
        listening(tmp_path / "data", presence_grace_ms=300) as service,
        connected(service, "chat-1", "Claude") as gone,
        connected(service, "chat-2", "Codex") as stays,
    ):
        await gone.call("goto", pageId="p", url=site.page("/", FORM))
        await gone.call("goto", pageId="q", url=site.url("/"))
        async with present(service, gone):
            running = sent(gone, "g", "goto", pageId="p", url=site.url("/held"))
            queued = sent(gone, "k", "goto", pageId="p", url=site.page("/second", "second"))
            await become(lambda: site.counts["/held"] == 1)
        async with asyncio.timeout(0.3 + 5):
            assert (await running).json()["error"]["code"] == "UNKNOWN_OUTCOME"
            assert (await queued).json()["error"]["code"] == "CANCELLED"
            await become(lambda: lease(service, "p") is None and lease(service, "q") is None)
        assert site.counts["/second"] == 0
        await stays.call("fill", pageId="q", selector="#a", value="free now")
        assert (await stays.call("get_current_url", pageId="p"))["url"] == site.url("/")


async def test_a_client_that_says_that_it_leaves_is_gone_with_its_last_stream(tmp_path: Path, site: Site) -> None:
    running = listening(tmp_path / "data", presence_grace_ms=10 * PATIENCE_S * 1_000)
    async with running as service, connected(service, "chat-1", "Claude") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", FORM))
        async with present(service, agent), present(service, agent):
            assert (await agent.http.delete(wire.EVENTS)).status_code == 200
            assert lease(service, "p") is not None
        await become(lambda: lease(service, "p") is None)

        await agent.call("goto", pageId="p", url=site.url("/"))
        async with present(service, agent):
            pass
        await become(lambda: not service.is_present("chat-1"))
        assert lease(service, "p") is not None
        await agent.http.delete(wire.EVENTS)  # it is away already
        await become(lambda: lease(service, "p") is None)


async def test_a_client_that_comes_back_within_the_grace_keeps_everything(
    tmp_path: Path, site: Site, hold: threading.Event
) -> None:
    grace_ms = 1_500
    async with (
        listening(tmp_path / "data", presence_grace_ms=grace_ms) as service,
        connected(service, "chat-1", "Claude") as agent,
    ):
        await agent.call("goto", pageId="p", url=site.page("/", FORM))
        running = sent(agent, "g", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        async with present(service, agent):
            pass
        await become(lambda: not service.is_present("chat-1"))
        leaving = service.parts.clients.leaving("chat-1")
        assert leaving is not None
        async with present(service, agent):
            async with asyncio.timeout(grace_ms / 1000 + 5):
                await asyncio.wait({leaving})  # it would have ended the presence, had nobody come back
            held = lease(service, "p")
            assert held is not None
            assert held.client_id == "chat-1"
            assert not running.done()
            hold.set()
            assert (await running).status_code == 200


async def test_a_client_with_two_streams_is_present_until_the_last_one_ends(service: RunningService) -> None:
    clients = service.parts.clients
    async with watching(service, "two-streams"):
        async with watching(service, "two-streams"):
            assert clients.present("two-streams")
        assert clients.present("two-streams")
        assert clients.leaving("two-streams") is None
    await become(lambda: not clients.present("two-streams"))
    assert clients.leaving("two-streams") is not None


async def test_a_caller_without_a_stream_keeps_its_lease(tmp_path: Path, site: Site) -> None:
    async with listening(tmp_path / "data", presence_grace_ms=0) as service:
        async with connected(service, "script", "curl") as script:
            await script.call("goto", pageId="p", url=site.page("/", FORM))
        async with connected(service, "other", "Codex") as other:
            assert (await other.error("click", pageId="p", selector="#b"))["code"] == "PAGE_OWNED"


async def test_a_late_release_takes_no_page_that_was_used_since(
    service: RunningService, agent: Agent, site: Site
) -> None:
    """Messages to a host may be late; by then the client is back."""
    await agent.call("goto", pageId="p", url=site.page("/", FORM))
    held = lease(service, "p")
    assert held is not None
    await service.parts.host.release(agent.client_id, held.seq)
    assert lease(service, "p") is held
    await service.parts.host.release(agent.client_id, held.seq + 1)
    assert lease(service, "p") is None
    await agent.call("click", pageId="p", selector="#b")


# --- preconditions -------------------------------------------------------------------------------------------------


async def test_an_act_for_another_revision_or_url_is_refused_before_anything_happens(agent: Agent, site: Site) -> None:
    url = site.page("/", FORM)
    revision = (await agent.reply("goto", pageId="p", url=url)).json()["page"]["revision"]
    await agent.call("fill", pageId="p", selector="#a", value="1", ifRevision=revision)
    stale = await agent.error("fill", pageId="p", selector="#a", value="2", ifRevision=revision)
    assert (stale["status"], stale["code"]) == (412, "STALE_REVISION")
    now = (await agent.reply("get_current_url", pageId="p")).json()["page"]["revision"]
    assert stale["details"]["context"] == {"field": "ifRevision", "revision": now}
    elsewhere = await agent.error("fill", pageId="p", selector="#a", value="3", expectUrl="*/checkout")
    assert (elsewhere["code"], elsewhere["details"]["context"]) == (
        "STALE_REVISION",
        {"field": "expectUrl", "url": url},
    )
    await agent.call("fill", pageId="p", selector="#a", value="1", expectUrl=f"{url}*")
    value = await agent.call("evaluate_script", pageId="p", expression="document.querySelector('#a').value")
    assert value["value"] == "1"
