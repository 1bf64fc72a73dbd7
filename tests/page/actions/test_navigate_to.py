"""Tests `navigate_to`: `goto` by a second name, which without a page makes a session of its own."""

import pytest

from tests.support.service import Agent
from tests.support.site import Answer, Site

pytestmark = [pytest.mark.anyio, pytest.mark.one_window]


async def test_without_page_and_session_it_makes_a_session_that_has_no_login_and_says_so(
    agent: Agent, site: Site
) -> None:
    site.page("/", Answer("<title>Shop</title>", headers={"set-cookie": "mine=1; Path=/"}))
    await agent.call("goto", pageId="logged-in", url=site.url("/"))
    reply = (await agent.reply("navigate_to", url=site.url("/"))).json()
    session_id = reply["page"]["sessionId"]
    assert session_id != "default"
    assert reply["page"]["pageId"] == session_id
    assert f"in {session_id}, a new session, which is not logged in anywhere" in reply["result"]["observed"]
    assert "cookie" not in {name.lower() for name in site.received[-1].headers}
    title = await agent.call("get_page_title", sessionId=session_id)
    assert title["title"] == "Shop"


async def test_with_a_session_it_goes_there_in_the_sessions_one_page(agent: Agent, site: Site) -> None:
    session_id = (await agent.call("create_session"))["sessionId"]
    for path in ("/a", "/b"):
        reply = (await agent.reply("navigate_to", sessionId=session_id, url=site.page(path, "hello"))).json()
        assert (reply["page"]["pageId"], reply["page"]["url"]) == (session_id, site.url(path))
        assert "not logged in" not in reply["result"]["observed"]
    pages = (await agent.call("list_pages", sessionId=session_id))["yours"]
    assert len(pages) == 1


async def test_with_a_page_it_is_goto(agent: Agent, site: Site) -> None:
    reply = (await agent.reply("navigate_to", pageId="p", url=site.page("/", "hello"))).json()
    assert (reply["page"]["pageId"], reply["page"]["sessionId"]) == ("p", "default")


async def test_a_session_that_came_to_no_page_is_not_left_behind(agent: Agent) -> None:
    before = await agent.call("list_sessions")
    assert (await agent.error("navigate_to", url="file:///etc/passwd"))["code"] == "FORBIDDEN"
    assert await agent.call("list_sessions") == before
