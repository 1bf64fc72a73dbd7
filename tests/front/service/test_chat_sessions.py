"""Tests that the session of a chat holds for all that it calls, and is sent beside its calls."""

from collections.abc import AsyncIterator

import httpx
import pytest

from browse_together.contract import wire
from browse_together.contract.replies import ForModel
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


@pytest.fixture
async def chat(service: RunningService) -> AsyncIterator[Agent]:
    """Return a chat in a session of its own."""
    async with service.agent() as agent:
        await agent.call("create_session", sessionId="works")
        yield agent
        await agent.call("close_session", sessionId="works")


async def called(chat: Agent, action: str, *, form: bool = False, **arguments: AnyJson) -> dict[str, AnyJson]:
    headers = {wire.SESSION: "works"} | ({wire.REPLY: ForModel(session="works").model_dump_json()} if form else {})
    reply = await chat.http.post(wire.BROWSER, json={"action": action, **arguments}, headers=headers)
    return dict(reply.json())


async def test_new_pages_are_in_it_whether_they_are_named_or_not(chat: Agent, site: Site) -> None:
    url = site.page("/", "<h1>Hello</h1>")
    named: list[dict[str, AnyJson]] = [{"pageId": "told"}, {}]
    for arguments in named:
        assert (await called(chat, "goto", url=url, **arguments))["page"]["sessionId"] == "works"
    opened = await called(chat, "open_page", pageId="second")
    assert opened["page"]["sessionId"] == "works"
    assert (await called(chat, "goto", url=url, sessionId="default", pageId="apart"))["page"]["sessionId"] == "default"
    assert (await called(chat, "goto", url=url, pageId="apart"))["success"], "a page that is there stays where it is"
    steps: AnyJson = [{"action": "goto", "pageId": "third", "url": url}]
    await called(chat, "batch", pageId="told", steps=steps)
    listed = {page["pageId"]: page["sessionId"] for page in (await called(chat, "list_pages"))["result"]["yours"]}
    assert listed.items() >= {"told": "works", "second": "works", "apart": "default"}.items(), "all of the chat's"
    assert (await called(chat, "get_cookies"))["success"]
    await chat.call("close_page", pageId="apart")


async def test_a_page_elsewhere_is_said_to_be_elsewhere(chat: Agent, site: Site) -> None:
    url = site.page("/", "<h1>Hello</h1>")
    replies = [
        await called(chat, "goto", form=True, url=url, pageId=page_id, **where)
        for page_id, where in (("told", {}), ("apart", {"sessionId": "default"}))
    ]
    lines = ["\n".join(block["text"] for block in each["rendered"]["content"]) for each in replies]
    assert "session works" in lines[0]
    assert "not this chat's" not in lines[0]
    assert "session default, not this chat's works" in lines[1]
    await chat.call("close_page", pageId="apart")


async def test_a_name_that_is_none_and_a_session_that_is_not_there_are_refused(chat: Agent) -> None:
    async def opened(session: str) -> httpx.Response:
        return await chat.http.post(wire.BROWSER, json={"action": "open_page"}, headers={wire.SESSION: session})

    assert (await opened("no name!")).json()["error"]["code"] == "INVALID_REQUEST"
    assert (await opened("nowhere")).json()["error"]["code"] == "SESSION_NOT_FOUND"
