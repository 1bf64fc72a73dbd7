"""How dialogs end that nobody answers, or that somebody else does: nothing hangs, and nothing is claimed."""

from pathlib import Path

import pytest

from tests.support import processes
from tests.support.asking import ASKING, CONFIRM, OPENER, asking_no_more, notices, state
from tests.support.listening import become, connected, listening, present
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

LOST = {"BROWSER_CRASHED", "UNKNOWN_OUTCOME"}


# --- unanswered ------------------------------------------------------------------------------------------------------


async def test_an_unanswered_dialog_is_dismissed_with_a_notice_and_the_calls_end_can_be_read(
    start: StartService, site: Site
) -> None:
    service = await start(dialog_wait_ms=300)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        asked = await agent.call("evaluate_script", pageId="p", expression="[confirm('Delete all?')]")
        await asking_no_more(service, "p")
        end = await agent.reply("get_call", callId=asked["callId"])
        assert end.json()["result"]["value"] == [False]
        (told,) = notices(end)
        assert told.startswith("p: confirm 'Delete all?' was dismissed: nobody answered it within 0.3 s.")
        assert f'get_call {{"callId": "{asked["callId"]}"}}' in told
        assert (await agent.call("evaluate_script", pageId="p", expression="2"))["value"] == 2
        assert (await agent.error("handle_dialog", pageId="p", accept=True))["status"] == 409


async def test_an_unanswered_dialog_of_a_popup_that_has_no_place_here_blocks_nobody_for_long(
    start: StartService, site: Site
) -> None:
    service = await start(dialog_wait_ms=300, max_pages=1)
    site.page("/popup", "<script>alert('hi')</script>")
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", OPENER))
        await agent.call("click", pageId="p", selector="button")
        assert (await agent.call("evaluate_script", pageId="p", expression="1"))["value"] == 1


async def test_a_suspended_call_says_so_to_whoever_asks_for_it_without_waiting(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    asked = await agent.call("click", pageId="p", selector="button")
    found = await agent.call("get_call", callId=asked["callId"], wait=45_000)
    assert (found["state"], found["dialog"]) == ("suspended", asked["dialog"])
    await agent.call("handle_dialog", pageId="p", accept=True)
    assert (await agent.call("get_call", callId=asked["callId"]))["state"] == "done"


# --- ends ------------------------------------------------------------------------------------------------------------


async def test_cancelling_a_suspended_call_dismisses_its_dialog_and_does_not_claim_that_nothing_happened(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    asked = await agent.call("click", pageId="p", selector="button")
    assert (await agent.call("cancel_call", callId=asked["callId"]))["state"] == "cancelling"
    await asking_no_more(service, "p")
    ended = await agent.error("get_call", callId=asked["callId"])
    assert ended["code"] == "UNKNOWN_OUTCOME"
    assert "the dialog that it waited for dismissed" in ended["message"]
    assert (await agent.call("evaluate_script", pageId="p", expression="window.said !== true"))["value"] is True
    assert (await agent.call("cancel_call", callId=asked["callId"]))["state"] == "done"


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
        assert service.parts.host._running == {}  # type: ignore[attr-defined] # the host in this process


@pytest.mark.parametrize("end", ["browser", "driver"])
async def test_a_browser_that_dies_with_a_dialog_open_leaves_nothing_that_hangs(
    start: StartService, site: Site, end: str
) -> None:
    service = await start()
    url = site.page("/", CONFIRM)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=url)
        asked = await agent.call("click", pageId="p", selector="button")
        await processes.kill(getattr(processes, end)(service.settings.data_dir))
        await become(lambda: service.parts.host._running == {})  # type: ignore[attr-defined] # the host in this process
        assert (await agent.error("get_call", callId=asked["callId"]))["code"] in LOST
        reply = (await agent.reply("click", pageId="p", selector="#i")).json()
        assert reply["success"] is True, reply
        assert (reply["page"]["url"], "dialog" in reply["page"]) == (url, False)


async def test_a_service_that_stops_with_a_dialog_open_ends_in_good_order(start: StartService, site: Site) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
        await agent.call("click", pageId="p", selector="button")
        await service.parts.host.stop()  # type: ignore[attr-defined] # the host in this process
        assert service.parts.host._working == set()  # type: ignore[attr-defined] # as above


async def test_a_page_that_shows_a_dialog_can_be_closed(service: RunningService, agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    asked = await agent.call("click", pageId="p", selector="button")
    assert (await agent.error("close_page", pageId="p", runBeforeUnload=True))["code"] == "DIALOG_OPEN"
    await agent.call("close_page", pageId="p")
    assert (await agent.error("get_call", callId=asked["callId"]))["code"] == "PAGE_NOT_FOUND"
    assert (await agent.call("list_pages"))["yours"] == []
    assert service.parts.host._dialogs._open == []  # type: ignore[attr-defined] # the host in this process
    await agent.call("goto", pageId="p", url=site.url("/"))
    await agent.call("fill", pageId="p", selector="#i", value="x")


async def test_a_dialog_that_a_person_closes_lets_its_call_go_on(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    live = service.parts.host._pages["p"].tab.page  # type: ignore[attr-defined] # the host in this process
    by_hand = await live.context.new_cdp_session(live)
    await by_hand.send("Page.enable")
    asked = await agent.call("click", pageId="p", selector="button")
    await by_hand.send("Page.handleJavaScriptDialog", {"accept": True})
    await become(lambda: service.parts.host._pages["p"].record.dialog is None)  # type: ignore[attr-defined] # as above
    ended = await agent.reply("get_call", callId=asked["callId"])
    assert "confirm 'Delete all?' was closed in the browser" in ended.json()["result"]["observed"]
    assert notices(ended)[0].startswith("p: confirm 'Delete all?' was closed in the browser.")
    assert (await agent.call("evaluate_script", pageId="p", expression="window.said"))["value"] is True


# --- leaving ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leave", [True, False])
async def test_a_page_that_asks_before_it_is_left_waits_for_the_answer(
    agent: Agent, site: Site, *, leave: bool
) -> None:
    url, elsewhere = site.page("/", ASKING), site.page("/elsewhere", "elsewhere")
    await agent.call("goto", pageId="p", url=url)
    await agent.call("click", pageId="p", selector="button")
    asked = await agent.call("goto", pageId="p", url=elsewhere)
    assert asked["dialog"]["type"] == "beforeunload"
    assert "true leaves the page, false stays" in asked["observed"]
    result = await agent.call("handle_dialog", pageId="p", accept=leave)
    assert (await agent.call("get_current_url", pageId="p"))["url"] == (elsewhere if leave else url)
    if leave:
        assert (result["url"], result["status"]) == (elsewhere, 200)
    else:
        assert result["error"]["code"] == "NAVIGATION_FAILED"
        assert "beforeunload was dismissed; goto failed" in result["observed"]


@pytest.mark.parametrize("leave", [True, False])
async def test_a_page_that_asks_before_it_is_closed_waits_for_the_answer(
    agent: Agent, site: Site, *, leave: bool
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", ASKING))
    await agent.call("click", pageId="p", selector="button")
    asked = await agent.call("close_page", pageId="p", runBeforeUnload=True)
    assert asked["dialog"]["type"] == "beforeunload"
    result = await agent.call("handle_dialog", pageId="p", accept=leave)
    assert ("page p is closed" if leave else "page p stays open") in result["observed"]
    assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ([] if leave else ["p"])


async def test_a_page_that_greets_with_an_alert_can_be_brought_back_after_a_crash(
    start: StartService, site: Site
) -> None:
    service = await start()
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<script>alert('Welcome')</script><h1>Here</h1>"))
        await agent.call("handle_dialog", pageId="p", accept=True)
        await processes.kill(processes.browser(service.settings.data_dir))
        assert (await agent.error("snapshot", pageId="p"))["code"] == "DIALOG_OPEN"
        await agent.call("handle_dialog", pageId="p", accept=True)
        assert "Here" in (await agent.call("snapshot", pageId="p"))["snapshot"]
