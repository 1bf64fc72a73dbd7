"""Tests how dialogs end that nobody answers, or that somebody else does: nothing hangs, and nothing is claimed."""

import asyncio
from pathlib import Path

import pytest

from browser_service.host.record.life import Life
from browser_service.host.tabs import observation
from tests.process.service.conftest import lasting_service as service
from tests.process.service.test_crashes import LOST
from tests.support import processes
from tests.support.dialogs import CONFIRM, OPENER, asking_no_more, notices, state
from tests.support.listening import connected, listening, present
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import become

__all__ = ["service"]

pytestmark = pytest.mark.anyio


async def test_an_unanswered_dialog_is_dismissed_with_a_notice_and_the_calls_end_can_be_read(
    narrow: RunningService, site: Site
) -> None:
    async with narrow.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        asked = await agent.call("evaluate_script", pageId="p", expression="[confirm('Delete all?')]")
        await asking_no_more(narrow, "p")
        end = await agent.reply("get_call", callId=asked["callId"])
        assert end.json()["result"]["value"] == [False]
        (told,) = notices(end)
        assert told.startswith("p: confirm 'Delete all?' was dismissed: nobody answered it within 0.3 s.")
        assert f'get_call {{"callId": "{asked["callId"]}"}}' in told
        assert (await agent.call("evaluate_script", pageId="p", expression="2"))["value"] == 2
        assert (await agent.error("handle_dialog", pageId="p", accept=True))["status"] == 409


async def test_an_unanswered_dialog_of_a_rejected_popup_blocks_nobody_for_long(
    narrow: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observation, "_POPUP_S", 0.3)  # no page of ours comes of it
    site.page("/popup", "<script>alert('hi')</script>")
    async with narrow.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", OPENER))
        await agent.call("click", pageId="p", selector="button")
        assert (await agent.call("evaluate_script", pageId="p", expression="1"))["value"] == 1


async def test_when_its_client_is_gone_a_dialog_is_dismissed_and_its_page_is_free(tmp_path: Path, site: Site) -> None:
    async with (
        listening(tmp_path / "data", presence_grace_ms=100) as service,
        connected(service, "chat-1", "Claude") as gone,
        connected(service, "chat-2", "Codex") as stays,
    ):
        await gone.call("goto", pageId="p", url=site.page("/", CONFIRM))
        async with present(service, gone):
            await gone.call("click", pageId="p", selector="button")
        await asking_no_more(service, "p")
        await become(lambda: (found := state(service, "p")) is not None and found.holder_id is None)
        assert (await stays.call("evaluate_script", pageId="p", expression="window.said"))["value"] is not True
        assert service.running_calls() == {}


@pytest.mark.parametrize("end", ["browser", pytest.param("driver", marks=pytest.mark.long)])
async def test_a_browser_that_dies_with_a_dialog_open_leaves_nothing_that_hangs(
    service: RunningService, agent: Agent, site: Site, end: str
) -> None:
    url = site.page("/", CONFIRM)
    await agent.call("goto", pageId="p", url=url)
    asked = await agent.call("click", pageId="p", selector="button")
    await processes.kill(getattr(processes, end)(service.settings.data_dir))
    await become(lambda: service.running_calls() == {})
    assert (await agent.error("get_call", callId=asked["callId"]))["code"] in LOST
    reply = (await agent.reply("click", pageId="p", selector="#i")).json()
    assert reply["success"] is True, reply
    assert (reply["page"]["url"], "dialog" in reply["page"]) == (url, False)


async def test_a_service_that_stops_with_a_dialog_open_ends_in_good_order(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
        await agent.call("click", pageId="p", selector="button")
        await service.host.stop()
        assert not service.running_calls()


async def test_a_page_that_greets_with_an_alert_can_be_brought_back_after_a_crash(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<script>alert('Welcome')</script><h1>Here</h1>"))
    await agent.call("handle_dialog", pageId="p", accept=True)
    await processes.kill(processes.browser(service.settings.data_dir))
    assert (await agent.error("snapshot", pageId="p"))["code"] == "DIALOG_OPEN"
    await agent.call("handle_dialog", pageId="p", accept=True)
    assert "Here" in (await agent.call("snapshot", pageId="p"))["snapshot"]


async def test_an_act_that_had_only_begun_is_not_told_as_done_if_its_renderer_dies_at_a_dialog(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/", CONFIRM)
    await agent.call("goto", pageId="p", url=url)
    asked = await agent.call("click", pageId="p", selector="button", timeout=300)
    tab = service.entry("p").record.open_tab
    assert tab.cdp is not None
    await become(lambda: service.entry("p").record.life is Life.SUSPECT)  # the act's own time is over
    crash = asyncio.create_task(tab.cdp.send("Page.crash"))
    await become(lambda: service.running_calls() == {})
    error = await agent.error("get_call", callId=asked["callId"])
    assert (error["code"], error["message"]) == (
        "UNKNOWN_OUTCOME",
        "click was begun, and then the page's renderer crashed: its effect was not seen.",
    )
    await asyncio.gather(crash, return_exceptions=True)
