"""Tests a front with several hosts: each session is on one of them, moves when that ends, and is never on two."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract import wire
from browse_together.contract.calls import DownloadState
from browse_together.contract.events import DownloadMoved, PageChanged
from browse_together.contract.frames import View
from browse_together.contract.pages import SessionSpec
from browser_service.security.auth import Identity
from tests.support.clock import Clock
from tests.support.fleets import Front, front
from tests.support.json import AnyJson
from tests.support.listening import sent, watching
from tests.support.service import Agent
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Front]:
    async with front(tmp_path / "data") as running:
        yield running


async def visit(agent: Agent, site: Site, session_id: str, page_id: str = "p", **options: AnyJson) -> str:
    """Open a page in a new session, and return its URL."""
    await agent.call("create_session", sessionId=session_id, **options)
    url = site.page(f"/{page_id}", f"this is {page_id}")
    await agent.call("goto", pageId=page_id, sessionId=session_id, url=url)
    return url


async def code(agent: Agent, action: str, **arguments: AnyJson) -> str:
    """Return the code of a call's error."""
    return str((await agent.reply(action, **arguments)).json()["error"]["code"])


async def test_a_session_gets_its_host_with_its_first_call_and_the_shared_login_stays(fleet: Front, site: Site) -> None:
    fleet.join("small").free_mb = 400
    fleet.join("large")
    async with fleet.service.agent() as agent:
        await agent.call("create_session", sessionId="mine")
        assert fleet.at("mine") == ""
        await agent.call("goto", pageId="p", sessionId="mine", url=site.page("/p", "hello"))
        assert fleet.at("mine") == "large"
        await agent.call("goto", pageId="home", url=site.url("/p"))
        assert fleet.at("default") == "local"
        assert "hello" in (await agent.call("content", pageId="p"))["content"]
        pages = (await agent.call("list_pages"))["yours"]
        assert [each["host"] for each in (await agent.call("list_sessions"))["sessions"]] == ["local", "large"]
        assert {page["pageId"]: page["sessionId"] for page in pages} == {"p": "mine", "home": "default"}
        await agent.call("close_session", sessionId="mine")
        assert fleet.at("mine") == ""
        assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["home"]
    assert [each["sessions"] for each in fleet.fleet.lifecycle.listed()] == [1, 0, 0]


async def test_figures_sessions_and_the_wall_name_the_hosts_where_there_are_several(fleet: Front, site: Site) -> None:
    parts, person = fleet.service.parts, Identity(client_id="person", operator=True)
    async with fleet.service.agent() as agent:
        ready = (await agent.http.get(wire.READY)).json()
        named = [*ready, *(await agent.call("list_sessions"))["sessions"][0]]
        assert {"host", "hosts"}.isdisjoint(named)
        assert "_host" not in (await agent.http.get(wire.METRICS)).text
        fleet.service.app.state.looked_at.clear()
        fleet.join("rack-1")
        await visit(agent, site, "mine")
        ready = (await agent.http.get(wire.READY)).json()
        assert (ready["hosts"], ready["pages"]) == ({"local": "ready", "rack-1": "ready"}, 1)
        assert parts.wall.page("p", person)["host"] == "rack-1"
        lines = (await agent.http.get(wire.METRICS)).text.splitlines()
    for line in (
        'playwright_mcp_host_pages{host="rack-1"} 1.0',
        'playwright_mcp_host_pages{host="local"} 0.0',
        'playwright_mcp_host_memory_bytes{host="rack-1"} 0.0',
        'playwright_mcp_host_link_seconds{host="rack-1"} 0.002',
        'playwright_mcp_hosts{state="ready"} 2.0',
    ):
        assert line in lines
    assert not [line for line in lines if "link_seconds" in line and "local" in line]


async def test_a_session_goes_on_elsewhere_when_its_host_is_gone(fleet: Front, site: Site) -> None:
    first = fleet.join("first")
    async with fleet.service.agent("Claude") as agent, fleet.service.agent() as other:
        url = await visit(agent, site, "mine")
        before = fleet.service.known_page("p")
        fleet.join("second")
        fleet.lose(first)
        frames = [await fleet.service.parts.host.frame_after("p", seq, 1, View()) for seq in (0, 1)]
        assert [(frame.seq, frame.state) for frame in frames if frame] == [(1, "resting")] * 2
        reply = (await agent.reply("content", pageId="p")).json()
        assert fleet.at("mine") == "second"
        assert "this is p" in reply["result"]["content"], reply
        assert reply["page"]["url"] == url
        assert before is not None
        assert reply["page"]["revision"] > before.revision
        told = " ".join(notice["text"] for notice in reply["notices"])
        assert "because its host is gone; form contents and scripts' memory are lost" in told
        assert await code(other, "click", pageId="p", selector="body") == "FORBIDDEN"
        assert (await agent.call("list_pages"))["yours"][0]["pageId"] == "p"


async def test_an_act_under_way_on_a_lost_host_is_unknown_and_a_read_runs_once_more(
    fleet: Front, site: Site, hold: threading.Event
) -> None:
    first = fleet.join("first")
    async with fleet.service.agent() as agent:
        await visit(agent, site, "mine")
        act = sent(agent, "act", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        read = sent(agent, "read", "wait_for_selector", pageId="q", sessionId="mine", selector="h1")
        fleet.join("second")
        fleet.lose(first)
        hold.set()
        assert (await act).json()["error"]["code"] == "UNKNOWN_OUTCOME"
        assert site.counts["/held"] == 1
        await read


async def test_what_a_lost_host_still_says_changes_nothing(fleet: Front, site: Site) -> None:
    first = fleet.join("first")
    async with fleet.service.agent() as agent:
        await visit(agent, site, "mine")
        page = fleet.service.known_page("p")
        assert page is not None
        fleet.lose(first)
        assert not fleet.fleet.lifecycle.assigned(first.incarnation, "mine")
        first.back.emit(PageChanged(page=page.model_copy(update={"title": "forged"})))
        fleet.join("second")
        await agent.call("content", pageId="p")
        assert fleet.service.known_page("p").title != "forged"  # type: ignore[union-attr] # it is open


async def test_a_call_waits_for_a_host_and_can_be_cancelled_meanwhile(fleet: Front, site: Site) -> None:
    first = fleet.join("first")
    async with fleet.service.agent() as agent, watching(fleet.service, agent.client_id) as progress:
        await visit(agent, site, "mine")
        fleet.service.parts.fleet.lifecycle.placements.members[0].draining = True  # type: ignore[union-attr] # as it is
        fleet.lose(first)
        waiting, cancelled = (sent(agent, name, "content", pageId="p") for name in ("waits", "cancelled"))
        await progress.until(lambda p: p.of("waits") != [] and p.of("cancelled") != [])
        assert progress.of("waits")[0].progress == "waiting for a host"
        await agent.call("cancel_call", callId="cancelled")
        assert (await cancelled).json()["error"]["code"] == "CANCELLED"
        assert await code(agent, "wait_for_selector", pageId="p", selector="h1", timeout=1_000) == "RESOURCE_EXHAUSTED"
        fleet.join("second")
        assert "this is p" in (await waiting).json()["result"]["content"]


async def test_where_no_host_has_room_a_new_session_is_refused_with_what_makes_some(fleet: Front) -> None:
    fleet.join("full").free_mb = 50
    fleet.fleet.placements.members[0].draining = True
    async with fleet.service.agent() as agent:
        error = (await agent.reply("create_session")).json()["error"]
        assert error["code"] == "RESOURCE_EXHAUSTED"
        assert "full: 50 MB free, and 100 are needed" in error["message"]
        assert "close_session" in error["hint"]


async def test_draining_moves_each_session_with_all_it_has(fleet: Front, site: Site, hold: threading.Event) -> None:
    first = fleet.join("first")
    async with fleet.service.agent() as agent:
        url = await visit(agent, site, "mine")
        running = sent(agent, "k", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        second = fleet.join("second")
        fleet.fleet.lifecycle.drain("first")
        await visit(agent, site, "new", "q")
        assert fleet.at("new") == "second"
        assert not first.ended
        hold.set()
        assert (await running).is_success
        await become(lambda: first.ended)
        assert (first.held, fleet.at("mine")) == ([], "")
        assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["p", "q"]
        await agent.call("goto", pageId="p", url=url)
        assert fleet.at("mine") == "second"
        assert {*second.held} == {"mine", "new"}


async def test_a_host_that_is_emptied_bars_calls_that_never_pause(
    tmp_path: Path, site: Site, hold: threading.Event
) -> None:
    clock = Clock()
    async with front(tmp_path / "data", clock) as fleet, fleet.service.agent() as agent:
        fleet.join("first")
        await visit(agent, site, "mine")
        running = sent(agent, "k", "goto", pageId="p", url=site.url("/held"))
        await become(lambda: site.counts["/held"] == 1)
        fleet.join("second")
        fleet.fleet.lifecycle.drain("first")
        clock.pass_s(11)
        async with watching(fleet.service, agent.client_id) as progress:
            await become(lambda: fleet.fleet.placements.find("mine", None).barred)
            barred = sent(agent, "barred", "content", pageId="p")
            await progress.until(lambda p: p.of("barred") != [])
        hold.set()
        replies = await asyncio.gather(running, barred)
        assert [reply.is_success for reply in replies] == [True, True]
        assert fleet.at("mine") == "second"


async def test_a_call_that_does_not_end_keeps_no_host_from_being_emptied(
    tmp_path: Path, site: Site, hold: threading.Event
) -> None:
    clock = Clock()
    async with front(tmp_path / "data", clock) as fleet, fleet.service.agent() as agent:
        first = fleet.join("first")
        await visit(agent, site, "mine")
        endless = sent(agent, "endless", "goto", pageId="p", url=site.url("/held"), timeout=110_000)
        await become(lambda: site.counts["/held"] == 1)
        fleet.join("second")
        fleet.fleet.lifecycle.drain("first")
        clock.pass_s(61)
        await become(lambda: first.ended)
        assert (await endless).json()["error"]["code"] == "UNKNOWN_OUTCOME"
        hold.set()
        await agent.call("goto", pageId="p", url=site.url("/p"))
        assert fleet.at("mine") == "second"


async def test_a_cut_link_delays_calls_and_nothing_else(fleet: Front, site: Site) -> None:
    host = fleet.join("first")
    async with fleet.service.agent() as agent, watching(fleet.service, agent.client_id) as progress:
        await visit(agent, site, "mine")
        host.linked = False
        waiting = sent(agent, "waits", "content", pageId="p")
        await progress.until(lambda p: p.of("waits") != [])
        assert [each["state"] for each in fleet.fleet.lifecycle.listed()] == ["ready", "not connected"]
        host.linked = True
        assert fleet.fleet.lifecycle.joined(host) == (["mine"], [])
        reply = (await waiting).json()
        assert reply["notices"] == []
        assert "this is p" in reply["result"]["content"]


async def test_a_call_that_a_dialog_suspended_ends_with_its_host(fleet: Front, site: Site) -> None:
    first = fleet.join("first")
    async with fleet.service.agent() as agent:
        await visit(agent, site, "mine")
        await agent.call("goto", pageId="p", url=site.page("/ask", "<button onclick=\"alert('hello')\">Ask</button>"))
        asked = (await sent(agent, "asks", "click", pageId="p", selector="button")).json()
        assert "hello" in str(asked)
        fleet.join("second")
        fleet.lose(first)
        await become(lambda: not fleet.service.registered_calls(agent.client_id))
        assert await code(agent, "get_call", callId="asks") == "UNKNOWN_OUTCOME"


async def test_a_download_that_a_lost_host_had_begun_has_failed(fleet: Front, site: Site) -> None:
    first = fleet.join("first")
    async with fleet.service.agent() as agent:
        await visit(agent, site, "mine")
        begun = {"download_id": "d", "client_id": agent.client_id, "page_id": "p", "url": "http://a", "name": "a.csv"}
        first.back.emit(DownloadMoved(download=DownloadState(**begun, began_at="2026-01-01T00:00:00Z")))
        (listed,) = (await agent.call("list_downloads"))["downloads"]
        assert listed["state"] == "running"
        fleet.lose(first)
        await become(lambda: fleet.service.has_news_for(agent))
        reply = (await agent.reply("list_downloads")).json()
        assert reply["result"]["downloads"][0]["reason"] == "its host is gone"
        assert [notice["text"] for notice in reply["notices"]] == ["download 'a.csv' failed: its host is gone"]


async def test_a_session_that_is_on_no_host_can_be_left_and_closed(tmp_path: Path, site: Site) -> None:
    clock = Clock()
    async with front(tmp_path / "data", clock) as fleet, fleet.service.agent() as agent, fleet.service.agent() as other:
        first = fleet.join("first")
        await visit(agent, site, "mine")
        await agent.call("share_session", sessionId="mine")
        fleet.join("second")
        fleet.lose(first)
        await fleet.service.release(agent)
        assert fleet.at("mine") == ""
        await other.call("goto", pageId="p", url=site.url("/p"))
        assert fleet.at("mine") == "second"
        await agent.call("create_session", sessionId="unused")
        await agent.call("close_session", sessionId="unused")
        await agent.call("create_session", sessionId="unused")


async def test_a_host_that_cannot_be_emptied_is_named(fleet: Front, site: Site) -> None:
    async with fleet.service.agent(operator=True) as agent:
        fleet.join("only")
        await visit(agent, site, "mine")
        fleet.fleet.placements.members[0].draining = True
        for name, why in (("nowhere", "is not connected"), ("local", "is the service itself"), ("only", "no other")):
            with pytest.raises(Exception, match=why):
                fleet.fleet.lifecycle.drain(name)
        assert fleet.at("mine") == "only"


async def test_an_idle_session_leaves_its_host_and_comes_back_as_it_was(tmp_path: Path, site: Site) -> None:
    clock = Clock()
    async with front(tmp_path / "data", clock) as fleet, fleet.service.agent() as agent:
        first = fleet.join("first")
        await visit(agent, site, "mine")
        await agent.call("close_page", pageId="p")
        await fleet.fleet.router.part_idle()
        assert fleet.at("mine") == "first"
        session = first.back.sessions["mine"]
        session.headers["x-team"] = "shop"
        await session.logins.save()
        state = session.logins.saved
        clock.pass_s(61)
        await fleet.fleet.router.part_idle()
        assert (fleet.at("mine"), first.held) == ("", [])
        assert "mine" in fleet.service.known_sessions()
        home = fleet.fleet.placements.get("mine")
        assert home is not None
        assert home.spec is not None
        assert (home.spec.state, home.spec.headers) == ({}, {})
        await agent.call("goto", pageId="p", sessionId="mine", url=site.url("/p"))
        assert fleet.at("mine") == "first"
        session = first.back.sessions["mine"]
        assert (session.headers, session.logins.saved) == ({"x-team": "shop"}, state)


async def test_a_host_of_another_version_only_ends_what_it_has(fleet: Front, site: Site) -> None:
    old = fleet.join("old")
    async with fleet.service.agent() as agent:
        await visit(agent, site, "mine")
        old.other_catalogue = True
        fleet.join("new")
        fleet.fleet.lifecycle.joined(old)  # its link was cut, and is there again
        await become(lambda: old.ended)
        await agent.call("content", pageId="p")
        assert fleet.at("mine") == "new"


async def test_the_next_front_adopts_what_hosts_still_have(tmp_path: Path, site: Site) -> None:
    async with front(tmp_path / "data") as before, before.service.agent("Claude", "me") as agent:
        host = before.join("first")
        host.outlives = True
        await visit(agent, site, "mine")
        kept = before.service.known_page("p")
    async with front(tmp_path / "data") as after, after.service.agent("Claude", "me") as agent:
        waiting = asyncio.create_task(agent.call("content", pageId="p"))
        await become(lambda: after.service.registered_calls("me") != [])
        again = after.join("first", host.back, host.incarnation)
        assert "this is p" in (await waiting)["content"]
        assert kept is not None
        revision = kept.revision
        await become(lambda: (page := after.service.known_page("p")) is not None and page.revision == revision)
        page = after.service.known_page("p")
        assert kept is not None
        assert page is not None
        assert (page.revision, page.holder_id, page.url) == (kept.revision, "me", kept.url)
        assert after.fleet.lifecycle.joined(again) == (["mine"], [])
        known, logins = after.service.parts.vault.latest, host.back.sessions["mine"].logins
        await become(lambda: known.onto(SessionSpec(session_id="mine")).state == logins.saved != {})


async def test_what_no_host_has_after_one_lease_comes_back_if_it_is_persistent(tmp_path: Path, site: Site) -> None:
    async with front(tmp_path / "data") as before, before.service.agent("Claude", "me") as agent:
        host = before.join("first")
        host.outlives = True
        await visit(agent, site, "lasting", "p", persistent=True)
        await visit(agent, site, "passing", "q")
    async with front(tmp_path / "data") as after, after.service.agent("Claude", "me") as agent:
        assert {"lasting", "passing"} <= {*after.service.known_sessions()}
        assert "this is p" in (await agent.call("content", pageId="p"))["content"]
        assert after.at("lasting") == "local"
        closed = after.service.parts.directory.closed
        await become(lambda: (page := closed.get("q")) is not None and page.by_restart)
        assert "passing" not in after.service.known_sessions()
        assert await code(agent, "content", pageId="q") == "SESSION_NOT_FOUND"
        late = after.join("first", host.back, host.incarnation)
        assert after.fleet.lifecycle.joined(late) == ([], ["lasting", "passing"])
