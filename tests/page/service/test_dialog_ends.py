"""Tests the end of dialogs that nobody, or somebody else, answers: nothing hangs, and no reply claims an answer."""

import pytest

from tests.support.dialogs import ASKING, CONFIRM, asking_no_more, notices
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio


# --- unanswered ------------------------------------------------------------------------------------------------------


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


async def test_a_page_that_shows_a_dialog_can_be_closed(service: RunningService, agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    asked = await agent.call("click", pageId="p", selector="button")
    assert (await agent.error("close_page", pageId="p", runBeforeUnload=True))["code"] == "DIALOG_OPEN"
    await agent.call("close_page", pageId="p")
    assert (await agent.error("get_call", callId=asked["callId"]))["code"] == "PAGE_NOT_FOUND"
    assert (await agent.call("list_pages"))["yours"] == []
    assert service.host.dialogs.open == 0
    await agent.call("goto", pageId="p", url=site.url("/"))
    await agent.call("fill", pageId="p", selector="#i", value="x")


async def test_a_dialog_that_a_person_closes_lets_its_call_go_on(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", CONFIRM))
    live = service.window("p")
    by_hand = await live.context.new_cdp_session(live)
    await by_hand.send("Page.enable")
    asked = await agent.call("click", pageId="p", selector="button")
    await by_hand.send("Page.handleJavaScriptDialog", {"accept": True})
    await become(lambda: service.entry("p").record.dialog is None)
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
