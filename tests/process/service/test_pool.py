"""Tests that browsers, pages and memory have limits; a session may have a browser to itself; the shared one is warm."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
import pytest

from browser_service.host.sessions.memory import exact_mb, machine_mb, rough_mb
from tests.support.idle_time import host_of, parked, rests
from tests.support.listening import watching
from tests.support.processes import browsers
from tests.support.service import RunningService, running_service, settings_for, visiting
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with running_service(
        settings_for(tmp_path_factory.mktemp("limited"), max_instances=2, min_instances=1)
    ) as service:
        yield service


async def test_the_shared_browser_is_warm_before_the_first_call(limited: RunningService) -> None:
    await become(lambda: len(browsers(limited.settings.data_dir)) == 1)
    await become(lambda: limited.host.launcher.running == 1)


async def test_a_session_may_have_a_browser_to_itself_which_ends_with_it_and_their_number_is_limited(
    limited: RunningService, site: Site
) -> None:
    url = site.page("/", Answer("x", headers={"set-cookie": "login=me"}))
    launcher = limited.host.launcher
    async with limited.agent() as agent:
        for session_id in ("one", "two"):
            await agent.call("create_session", sessionId=session_id, ownBrowser=True)
        await agent.call("goto", pageId="a", sessionId="one", url=url)
        assert launcher.running == 2
        found = await agent.error("open_page", pageId="b", sessionId="two")
        assert (found["code"], found["status"]) == ("RESOURCE_EXHAUSTED", 503)
        assert "(BROWSE_MAX_INSTANCES)" in found["message"]
        assert 'close_session {"sessionId": "one"}' in found["hint"]
        assert (await agent.call("get_session", sessionId="one"))["ownBrowser"] is True
        await rests(limited)
        assert (launcher.running, parked(limited)) == (1, {"a"})
        await agent.call("goto", pageId="b", sessionId="two", url=url)
        await agent.call("close_session", sessionId="two")
        assert launcher.running == 1
        see = await agent.call("evaluate_script", pageId="a", expression="document.cookie")
        assert (see["value"], launcher.running) == ("login=me", 2)
        await agent.call("close_session", sessionId="one")
        assert launcher.running == 1


async def test_at_the_limit_the_longest_abandoned_page_makes_room_and_both_are_told_where_it_was(
    start: StartService, site: Site
) -> None:
    url = site.page("/", "<a href=/popup target=_blank>Popup</a>")
    site.page("/popup", "popup")
    service = await start(max_pages=4, presence_grace_ms=0)
    pages = service.host.pages
    async with service.agent("Claude", client_id="gone") as gone, service.agent("Codex") as here:
        async with watching(service, "gone"):
            for page_id in ("newer", "old", "held", "asks"):
                await gone.call("goto", pageId=page_id, url=url)
            await gone.call("hold_page", pageId="held", reason="a code", minutes=30)
            await gone.call("evaluate_script", pageId="asks", expression="setTimeout(() => confirm('?'))")
            await become(lambda: pages["asks"].record.dialog is not None)
            refused = await here.error("open_page", pageId="first")
            assert (refused["code"], len(pages)) == ("RESOURCE_EXHAUSTED", 4)
        await become(lambda: pages["old"].lease is None)
        pages["old"].record.used_at -= 900
        assert (await here.error("open_page", pageId="first", url="file:///etc"))["code"] == "FORBIDDEN"
        assert pages.keys() == {"newer", "old", "held", "asks"}
        reply = (await here.reply("open_page", pageId="first")).json()
        (notice,) = reply["notices"]
        assert notice["text"] == f'old was closed to make room: "Claude" had left it 15 min ago. It was at {url}'
        await here.call("open_page", pageId="second")
        assert pages.keys() == {"first", "second", "held", "asks"}
        assert (await here.error("open_page", pageId="third"))["code"] == "RESOURCE_EXHAUSTED"
        notices = (await gone.reply("get_activity")).json()["notices"]
        assert [notice["pageId"] for notice in notices] == ["asks", "old", "newer"]
        assert all(notice["text"].endswith(f"It was at {url}") for notice in notices[1:])
        await here.call("close_page", pageId="second")
        await here.call("goto", pageId="first", url=url)
        assert "first~1" in (await here.call("click", pageId="first", selector="a"))["observed"]
        assert pages.keys() == {"first", "first~1", "held", "asks"}


async def test_a_browser_that_cannot_start_keeps_no_service_from_starting(start: StartService) -> None:
    service = await start(min_instances=1, executable_path=Path("/nowhere/chromium"))
    async with service.agent() as agent:
        assert (await agent.error("open_page"))["code"] == "BROWSER_LAUNCH_FAILED"


# --- memory ----------------------------------------------------------------------------------------------------------


async def test_when_memory_is_short_idle_pages_are_parked_new_ones_refused_and_open_ones_go_on(
    limited: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = site.page("/", "<button>b</button>")
    host = host_of(limited)
    async with visiting(limited) as agent:
        for page_id in ("used", "idle"):
            await agent.call("goto", pageId=page_id, url=url)
        monkeypatch.setattr(host.memory, "limit_mb", 1)
        host.pages["idle"].record.used_at -= 300
        await host.room.sweep()
        assert parked(limited) == {"idle"}
        found = await agent.error("open_page", pageId="new")
        assert found["code"] == "RESOURCE_EXHAUSTED"
        assert "1 MB is the limit (BROWSE_MEMORY_MB); no page was opened" in found["message"]
        assert found["details"]["context"]["usedMb"] > 50
        assert 'close_page {"pageId": "idle"}' in found["hint"]
        await agent.call("click", pageId="used", selector="button")
        await agent.call("click", pageId="idle", selector="button")
        metrics = (await agent.http.get("/metrics")).text
        assert float(metrics.split("\nplaywright_mcp_memory_bytes ")[1].split("\n")[0]) > 50_000_000
        assert "playwright_mcp_memory_limit_bytes 1e+06" in metrics
        monkeypatch.setattr(host.memory, "limit_mb", 100_000)
        await agent.call("open_page", pageId="new")
        ready = (await agent.http.get("/ready")).json()
        assert (ready["pages"], ready["parked"], ready["browsers"]) == (3, 0, 1)


def test_shared_memory_is_counted_once_and_the_limit_is_at_most_the_machines() -> None:
    ours = [psutil.Process()]
    assert 0 < exact_mb(ours) <= rough_mb(ours) + 1
    looks = ((exact_mb(ours * 2), exact_mb(ours)) for _ in range(20))  # others share pages with it, and come and go
    assert any(twice <= 2 * once + 1 for twice, once in looks)
    assert 0 < machine_mb() <= psutil.virtual_memory().total // 1_000_000


# --- what is remembered ----------------------------------------------------------------------------------------------


async def test_a_page_remembers_what_it_showed_to_its_latest_fifty_readers(limited: RunningService, site: Site) -> None:
    async with AsyncExitStack() as stack:
        first, second, *others = [await stack.enter_async_context(limited.agent()) for _ in range(52)]
        await first.call("goto", pageId="looked-at", url=site.page("/", "<button>b</button>"))
        await first.call("share_page", pageId="looked-at", access="act")
        found = [await agent.call("find", pageId="looked-at", role="button") for agent in (first, second)]
        refs = [matches["matches"][0]["ref"] for matches in found]
        for agent in others[:40]:
            await agent.call("find", pageId="looked-at", role="button")
        await first.call("find", pageId="looked-at", role="button")
        for agent in others[40:]:
            await agent.call("find", pageId="looked-at", role="button")
        looked_at = limited.entry("looked-at").record.tab
        assert looked_at is not None
        assert len(looked_at.views) == 50
        await first.call("click", pageId="looked-at", selector=refs[0])
        error = await second.error("click", pageId="looked-at", selector=refs[1])
        assert error["code"] == "STALE_REVISION"
        await first.call("close_page", pageId="looked-at")
