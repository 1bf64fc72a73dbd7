"""Tests parking: windows of unused pages are closed, and the next call finds the pages as they were."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from browse_together.contract.events import PageChanged
from tests.support.idle_time import HOUR_S, host_of, parked, rests, unused
from tests.support.listening import sent
from tests.support.service import RunningService, running_service, settings_for
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

LONG = "<input id=a><p style='height: 9000px'>x</p>"
FORM = "<form method=post action=/answer><input id=a name=a><button>Send</button></form>"
LOSES = (
    "{} had no window any more, and was loaded anew at {}; "
    "what was typed there and what its scripts had in memory is lost."
)


@pytest.fixture(scope="module")
async def resting(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with running_service(settings_for(tmp_path_factory.mktemp("resting"), min_instances=1)) as service:
        yield service


def windows(service: RunningService) -> int:
    """Return the windows that are open in the shared browser."""
    context = service.session().opened
    return len(context.pages) if context is not None else 0


async def test_an_unused_page_loses_its_window_and_comes_back_unchanged(resting: RunningService, site: Site) -> None:
    url = site.page("/long", LONG)
    first = site.page("/first", "x")
    async with resting.agent() as agent:
        await agent.call("goto", pageId="long", url=first)
        await agent.call("goto", pageId="long", url=url)
        before, visits = windows(resting), site.counts["/first"]
        look = "scrollTo(0, 3000); sessionStorage.token = 'k'; history.length"
        length = (await agent.call("evaluate_script", pageId="long", expression=look))["value"]
        await rests(resting)
        assert windows(resting) == before - 1
        (page,) = (await agent.call("list_pages"))["yours"]
        assert (page["pageId"], page["url"], page["title"], page["parked"]) == ("long", url, "/long", True)
        known = resting.entry("long").record.place.parked
        assert known is not None
        assert (known.y, known.history) == (3000, length)
        see = "[scrollY, sessionStorage.token, document.title, history.length]"
        reply = (await agent.reply("evaluate_script", pageId="long", expression=see)).json()
        assert reply["result"]["value"] == [3000, "k", "/long", length]
        assert [notice["text"] for notice in reply["notices"]] == [LOSES.format("long", url)]
        assert "parked" not in (await agent.call("list_pages"))["yours"][0]
        await agent.call("evaluate_script", pageId="long", expression="sessionStorage.clear()")
        await agent.call("reload_page", pageId="long")
        assert (await agent.call("evaluate_script", pageId="long", expression="sessionStorage.length"))["value"] == 0
        assert site.counts["/first"] == visits
        assert (await agent.call("go_back", pageId="long"))["url"] == first
        await agent.call("close_page", pageId="long")


async def test_refused_calls_of_others_do_not_prevent_parking_and_reveal_nothing(
    resting: RunningService, site: Site
) -> None:
    host = host_of(resting)
    async with resting.agent() as holder, resting.agent() as stranger:
        await holder.call("goto", pageId="held", url=site.page("/held", "x"))
        await holder.call("share_page", pageId="held", access="private")
        entry = host.pages["held"]
        await become(lambda: not entry.session.logins.unsaved)
        entry.record.used_at -= HOUR_S
        before = (await host.events_after(0, 0, 100_000)).last_seq
        refused: dict[str, dict[str, str]] = {
            "click": {"selector": "p"},
            "snapshot": {},
            "claim_page": {},
            "goto": {"url": site.url("/")},
        }
        for action, arguments in refused.items():
            assert (await stranger.error(action, pageId="held", **arguments))["code"] == "PAGE_OWNED"
        told = (await host.events_after(before, 0, 100_000)).events
        assert [event for event in told if isinstance(event, PageChanged)] == []
        assert not entry.session.logins.unsaved
        await host.room.sweep()
        assert "held" in parked(resting)
        await holder.call("close_page", pageId="held")


async def test_a_page_that_was_only_read_gets_no_notice_and_many_calls_open_one_window(
    resting: RunningService, site: Site
) -> None:
    async with resting.agent() as agent:
        await agent.call("goto", pageId="read", url=site.page("/long", LONG))
        before = windows(resting)
        await rests(resting)
        visits = site.counts["/long"]
        replies = await asyncio.gather(*(agent.reply("get_page_title", pageId="read") for _ in range(8)))
        assert [reply.json()["result"]["title"] for reply in replies] == ["/long"] * 8
        assert [reply.json()["notices"] for reply in replies] == [[]] * 8
        assert (windows(resting), site.counts["/long"]) == (before, visits + 1)
        await rests(resting)
        other = site.page("/other", "x")
        assert (await agent.call("goto", pageId="read", url=other))["url"] == other
        assert site.counts["/long"] == visits + 1
        await agent.call("close_page", pageId="read")


async def test_pages_that_somebody_needs_unchanged_stay(
    resting: RunningService, site: Site, hold: threading.Event
) -> None:
    def answer(received: Received) -> Answer:
        return Answer(f"<title>{received.method}</title>")

    site.page("/answer", answer)
    saved = Answer(b"1" * 500, headers={"content-disposition": "attachment; filename=a"}, pause=hold)
    site.page("/file", saved)
    site.page("/popup", "popup")
    url = site.page("/", f"{FORM}<a href=/file>File</a><a href=/popup target=_blank rel=opener>Popup</a>")
    asks = {"kind": "decision", "message": "Which?", "choices": ["a", "b"], "timeout": 1}
    async with resting.agent() as agent:
        pages = ["idle", "held", "typed", "sent", "asks", "person", "films", "loads", "runs", "opener", "signed"]
        for page_id in pages:
            await agent.call("goto", pageId=page_id, url=url)
        here = {*pages, "made", "opener~1"}
        await agent.call("open_page", pageId="made")
        await agent.call("evaluate_script", pageId="made", expression="document.body.innerHTML = 'x'")
        for page_id in ("held", "opener"):
            await agent.call("hold_page", pageId=page_id, reason="a code", minutes=9)
        await agent.call("fill", pageId="typed", selector="#a", value="half a letter")
        await agent.call("fill", pageId="sent", selector="#a", value="x")
        await agent.call("click", pageId="sent", selector="button")
        await agent.call("fill", pageId="signed", selector="#a", value="x")
        await agent.call("goto", pageId="signed", url=url)
        await agent.call("evaluate_script", pageId="asks", expression="setTimeout(() => confirm('?'))")
        await become(lambda: resting.entry("asks").record.dialog is not None)
        await agent.call("request_human", pageId="person", **asks)
        await agent.call("record_video", pageId="films", command="start")
        await agent.call("click", pageId="loads", selector="text=File")
        await agent.call("click", pageId="opener", selector="text=Popup")
        waiting = sent(agent, "w", "wait_for_selector", pageId="runs", selector="#never", timeout=20_000)
        await become(lambda: any(run.call.page_id == "runs" for run in resting.running_calls().values()))
        await rests(resting)
        assert parked(resting) & here == {"idle", "signed"}
        hold.set()
        await agent.call("cancel_call", callId="w")
        await waiting
        await agent.call("handle_dialog", pageId="asks", accept=True)
        await agent.call("record_video", pageId="films", command="stop")
        for page_id in ("opener", "opener~1"):
            await agent.call("release_page", pageId=page_id)
        await agent.call("fill", pageId="typed", selector="#a", value="")
        await become(lambda: not any(resting.host.downloads.keep(page_id) for page_id in pages))
        await rests(resting)
        assert parked(resting) & here == {
            "idle",
            "signed",
            "typed",
            "asks",
            "films",
            "loads",
            "runs",
            "opener",
            "opener~1",
        }
        assert (await agent.call("get_page_title", pageId="sent"))["title"] == "POST"


async def test_a_page_that_downloads_by_itself_long_after_its_last_use_is_parked(
    resting: RunningService, site: Site, hold: threading.Event
) -> None:
    site.page("/file", Answer(b"1" * 500, headers={"content-disposition": "attachment; filename=a"}, pause=hold))
    async with resting.agent() as agent:
        await agent.call("goto", pageId="pours", url=site.page("/pours", "<a href=/file>File</a>"))
        unused(resting, "pours", HOUR_S)
        await resting.window("pours").evaluate("document.querySelector('a').click()")
        await become(lambda: resting.parts.downloads.listed(agent.client_id))
        await rests(resting, 0)
        assert "pours" in parked(resting)


async def test_an_abandoned_page_is_parked_sooner(resting: RunningService, site: Site) -> None:
    async with resting.agent() as agent:
        for page_id in ("left", "has"):
            await agent.call("goto", pageId=page_id, url=site.page("/long", LONG))
        await agent.call("release_page", pageId="left")
        await rests(resting, 700)
        assert parked(resting) & {"left", "has"} == {"left"}
        for page_id in ("left", "has"):
            await agent.call("close_page", pageId=page_id)


async def test_a_parked_page_is_found_where_it_was_after_a_restart(tmp_path: Path, site: Site) -> None:
    url = site.page("/long", LONG)
    async with running_service(settings_for(tmp_path)) as service, service.agent(client_id="chat") as agent:
        await agent.call("goto", pageId="p", url=url)
        await agent.call("evaluate_script", pageId="p", expression="scrollTo(0, 500)")
        await rests(service)
        assert parked(service) == {"p"}
    async with running_service(settings_for(tmp_path)) as service, service.agent(client_id="chat") as agent:
        assert (await agent.call("list_pages"))["yours"][0]["parked"] is True
        assert (await agent.call("evaluate_script", pageId="p", expression="scrollY"))["value"] == 500


# --- whole browsers --------------------------------------------------------------------------------------------------


async def test_with_no_minimum_an_idle_browser_is_closed_and_comes_back_with_its_logins(
    start: StartService, site: Site
) -> None:
    url = site.page("/", Answer("<title>In</title>", headers={"set-cookie": "login=me"}))
    service = await start(min_instances=0)
    host = host_of(service)
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="own")
        for session_id in ("default", "own"):
            await agent.call("goto", pageId=f"{session_id}-page", sessionId=session_id, url=url)
            await agent.call("set_storage", pageId=f"{session_id}-page", items={"seen": "yes"}, affectOthers=True)
        await agent.call("hold_page", pageId="own-page", reason="a code", minutes=9)
        await rests(service)
        assert host.launcher.running == 1
        await agent.call("release_page", pageId="own-page")
        await rests(service)
        await become(lambda: (host.launcher.running, host.launcher.driver) == (0, None))  # another look may close it
        for session_id in ("default", "own"):
            see = "[document.cookie, localStorage.seen]"
            found = await agent.call("evaluate_script", pageId=f"{session_id}-page", expression=see)
            assert found["value"] == ["login=me", "yes"]
