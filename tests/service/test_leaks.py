"""What leaks between clients where one browser is shared without rules, and does not here. A test for each."""

import pytest

from shared import catalogue
from tests.service.conftest import StartService
from tests.service.listening import become, sent
from tests.support.bodies import smallest
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

SECRET = "the secret of one"
HTML = f"<h1>{SECRET}</h1><button id=b onclick='window.hits = (window.hits || 0) + 1'>b</button>"
ASKS = "<button id=b onclick=\"document.title = confirm('Pay?') ? 'paid' : 'kept'\">b</button>"
THROWS = f"<h1>x</h1><script>setTimeout(() => {{ throw new Error('{SECRET}') }})</script>"


async def test_the_content_of_a_private_page_is_not_read(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    await agent.call("share_page", pageId="own", access="private")
    for name in ("content", "snapshot", "screenshot", "get_page_title", "evaluate_script", "wait_for_selector"):
        action = catalogue.ACTIONS[name]
        reply = await other.reply(name, **smallest(action, pageId="own"))
        assert reply.json()["success"] is False, name
        assert SECRET not in reply.text


async def test_an_act_without_a_page_does_not_land_on_the_tab_that_another_used_last(
    agent: Agent, other: Agent, site: Site
) -> None:
    await other.call("goto", pageId="others", url=site.page("/own", HTML))
    await agent.call("goto", pageId="own", url=site.url("/own"))
    await other.call("click", selector="#b")
    assert (await agent.call("evaluate_script", pageId="own", expression="window.hits ?? 0"))["value"] == 0
    assert (await other.call("evaluate_script", pageId="others", expression="window.hits ?? 0"))["value"] == 1


async def test_a_tab_of_another_is_not_closed(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    for arguments in ({}, {"reason": "tidying up"}, {"confirm": True}):
        assert (await other.error("close_page", pageId="own", **arguments))["code"] == "PAGE_OWNED"
    assert SECRET in (await agent.call("content", pageId="own"))["content"]


async def test_a_dialog_of_another_is_not_answered(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="own", url=site.page("/asks", ASKS))
    assert (await agent.call("click", pageId="own", selector="#b"))["dialog"]["message"] == "Pay?"
    assert (await other.error("handle_dialog", pageId="own", accept=True))["code"] == "PAGE_OWNED"
    await agent.call("handle_dialog", pageId="own", accept=False)
    assert (await agent.call("get_page_title", pageId="own"))["title"] == "kept"


async def test_the_cookies_of_a_session_of_ones_own_are_neither_listed_nor_cleared(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("create_session", sessionId="own-cookies")
    site.page("/in", Answer(HTML, headers={"set-cookie": "token=s3cret; Path=/"}))
    await agent.call("goto", sessionId="own-cookies", pageId="own", url=site.url("/in"))
    for action in ("get_cookies", "clear_cookies"):
        reply = await other.reply(action, sessionId="own-cookies")
        assert reply.json()["error"]["code"] == "FORBIDDEN"
        assert "s3cret" not in reply.text
    assert (await agent.call("evaluate_script", pageId="own", expression="document.cookie"))["value"] == "token=s3cret"


async def test_the_shared_login_is_not_cleared_under_those_who_use_it(agent: Agent, other: Agent, site: Site) -> None:
    site.page("/in", Answer(HTML, headers={"set-cookie": "login=ana; Path=/"}))
    await agent.call("goto", pageId="own", url=site.url("/in"))
    assert (await other.error("clear_cookies"))["code"] == "AFFECTS_OTHERS"
    assert "login=ana" in (await agent.call("evaluate_script", pageId="own", expression="document.cookie"))["value"]


async def test_what_a_page_throws_is_in_no_reply_to_another(agent: Agent, other: Agent, site: Site) -> None:
    await other.call("goto", pageId="others", url=site.page("/quiet", "<h1>quiet</h1>"))
    await agent.call("goto", pageId="own", url=site.page("/throws", THROWS))
    replies = [await other.reply("click", pageId="others", selector="h1"), await other.reply("list_pages")]
    assert all(SECRET not in reply.text for reply in replies)


async def test_the_last_one_out_leaves_the_login_behind(start: StartService, site: Site) -> None:
    service = await start(presence_grace_ms=0)
    site.page("/in", Answer(HTML, headers={"set-cookie": "login=ana; Path=/"}))
    async with service.agent() as first:
        await first.call("goto", pageId="own", url=site.url("/in"))
        await service.parts.host.release(first.client_id, 1_000_000)
    async with service.agent() as second:
        await second.call("goto", pageId="mine", url=site.url("/in"))
        assert (await second.call("evaluate_script", pageId="mine", expression="document.cookie"))[
            "value"
        ] == "login=ana"


async def test_a_wait_is_ended_by_what_another_client_does_on_the_same_page(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    """The deadlock of a wait that holds the page's turn: what it waits for could never happen."""
    await agent.call("goto", pageId="own", url=site.page("/own", HTML))
    await agent.call("share_page", pageId="own", access="act")
    waiting = sent(agent, "w", "wait_for_selector", pageId="own", selector="#later")
    await become(lambda: f"{agent.client_id}/w" in service.parts.host._running)  # type: ignore[attr-defined] # the host in this process
    add = "document.body.append(Object.assign(document.createElement('p'), {id: 'later', textContent: 'now'}))"
    await other.call("evaluate_script", pageId="own", expression=add)
    assert (await waiting).json()["success"] is True
