"""Tests a page's dialogs answered at once, as its holder wants it: the page goes on, and the reply still names them."""

import pytest

from tests.support.dialogs import notices
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

ASKS = """<button id=all onclick="if (confirm('Delete all?')) fetch('/all', {method: 'DELETE'})">All</button>
<button id=open onclick="window.open('/asks')">Open</button>"""


async def test_dialogs_are_accepted_at_once_and_named_in_the_reply(agent: Agent, site: Site) -> None:
    site.page("/all", "gone")
    await agent.call("goto", pageId="p", url=site.page("/asks", ASKS))
    set_ = await agent.call("set_dialog_policy", pageId="p", policy="accept", promptText="Bo")
    assert set_["observed"] == "dialogs of p are accepted at once from now on"
    result = await agent.call("click", pageId="p", selector="#all")
    said = "confirm 'Delete all?' was accepted by the page's dialog policy"
    assert (result["dialogs"], "suspended" in result) == ([said], False)
    assert result["observed"] == f"DELETE /all → 200; {said}"
    asked = await agent.call("evaluate_script", pageId="p", expression="[prompt('Name?', 'Ana'), confirm('q')]")
    assert asked["value"] == ["Bo", True]
    assert len(asked["dialogs"]) == 2


async def test_a_reply_names_at_most_fifty_dialogs(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/asks", ASKS))
    await agent.call("set_dialog_policy", pageId="p", policy="accept")
    asking = "Array.from({length: 53}, (_, number) => confirm(number)).length"
    asked = await agent.call("evaluate_script", pageId="p", expression=asking)
    assert (asked["value"], len(asked["dialogs"])) == (53, 50)


async def test_dismissing_is_no_and_asking_is_as_before(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/asks", ASKS))
    await agent.call("set_dialog_policy", pageId="p", policy="dismiss")
    result = await agent.call("click", pageId="p", selector="#all")
    assert result["observed"] == "confirm 'Delete all?' was dismissed by the page's dialog policy"
    assert site.counts["/all"] == 0
    await agent.call("set_dialog_policy", pageId="p", policy="ask")
    assert (await agent.call("click", pageId="p", selector="#all"))["suspended"] is True
    still = await agent.call("set_dialog_policy", pageId="p", policy="accept")
    assert "confirm 'Delete all?', which is open, still waits for handle_dialog" in still["observed"]
    await agent.call("handle_dialog", pageId="p", accept=False)
    error = await agent.error("set_dialog_policy", pageId="p", policy="dismiss", promptText="x")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "promptText")


async def test_a_dialog_outside_of_any_act_is_reported_in_a_notice(
    service: RunningService, agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/asks", ASKS))
    await agent.call("set_dialog_policy", pageId="p", policy="accept")
    await service.window("p").evaluate("void setTimeout(() => { window.said = confirm('Still there?') })")
    await become(lambda: service.has_news_for(agent))
    told = "p: confirm 'Still there?' was accepted by the page's dialog policy."
    assert notices(await agent.reply("list_pages")) == [told]
    assert (await agent.call("evaluate_script", pageId="p", expression="window.said"))["value"] is True


async def test_popups_have_their_openers_policy_and_another_holder_is_asked(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/asks", ASKS))
    await agent.call("set_dialog_policy", pageId="p", policy="accept")
    (popup,) = (await agent.call("click", pageId="p", selector="#open"))["popups"]
    result = await agent.call("evaluate_script", pageId=popup, expression="confirm('q')")
    assert result["value"] is True
    assert (await other.error("set_dialog_policy", pageId="p", policy="dismiss"))["code"] == "PAGE_OWNED"
    await other.call("claim_page", pageId="p", reason="mine now")
    assert (await other.call("click", pageId="p", selector="#all"))["suspended"] is True
    await other.call("handle_dialog", pageId="p", accept=False)
    entry = service.entry("p")
    await become(lambda: entry.record.dialog is None)
