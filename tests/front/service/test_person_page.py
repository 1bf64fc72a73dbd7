"""Tests the page behind the link of a request: a person in an ordinary browser sees what is asked, and answers it."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from client.credentials import mint_key
from shared import wire
from tests.support.json import AnyJson
from tests.support.listening import listening
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

DECISION: dict[str, AnyJson] = {
    "kind": "decision",
    "message": "Red or <b>blue</b>?",
    "choices": ["red", "blue"],
}  # Any: JSON


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("person")) as service:
        yield service


@pytest.fixture
async def asker(running: RunningService, site: Site) -> AsyncIterator[Agent]:
    async with running.agent("Claude") as agent:
        await agent.call("goto", pageId="cart", url=site.page("/cart", "<title>Cart</title>"))
        yield agent
        await agent.call("close_page", pageId="cart")


async def asks(asker: Agent, **what: Any) -> str:  # Any: JSON
    return str((await asker.call("request_human", pageId="cart", timeout=1, **what))["requestId"])


async def test_the_key_of_a_link_opens_that_request_and_nothing_else(running: RunningService, asker: Agent) -> None:
    one = await asks(asker, **DECISION)
    key, other_key = mint_key(running.parts.secret, one), mint_key(running.parts.secret, "ask-00000000")
    async with httpx.AsyncClient(base_url=running.base_url) as http:

        async def status(method: str, path: str, bearer: str, body: object = None) -> int:
            reply = await http.request(method, path, json=body, headers={"Authorization": f"Bearer {bearer}"})
            return reply.status_code

        for path in (wire.REQUESTS, wire.PAGES, wire.ACTIVITY):
            assert await status("GET", path, key) == 401
        assert await status("POST", wire.BROWSER, key, {"action": "list_pages"}) == 401
        assert await status("POST", f"{wire.REQUESTS}/{one}/resolve", other_key, {"answer": "red"}) == 401
        assert await status("GET", f"{wire.REQUESTS}/{one}", other_key) == 401
        assert await status("GET", f"{wire.REQUESTS}/{one}", key) == 200
        assert await status("POST", f"{wire.REQUESTS}/{one}/resolve", key, {"answer": "red"}) == 200


async def test_the_page_may_be_come_to_from_a_chat_and_shown_in_no_frame(running: RunningService) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    async with httpx.AsyncClient(base_url=running.base_url) as http:
        page = await http.get(f"{wire.PERSON}/ask-12345678", headers=followed)
        assert page.status_code == 200
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        framed = {**followed, "sec-fetch-dest": "iframe"}
        assert (await http.get(f"{wire.PERSON}/ask-12345678", headers=framed)).status_code == 403
        assert (await http.get(wire.HEALTH, headers=followed)).status_code == 403


async def test_no_agent_reads_the_link(running: RunningService, asker: Agent) -> None:
    request_id = await asks(asker, **DECISION)
    async with running.agent("Codex") as other:
        for who in (asker, other):
            for action in ("list_pages", "get_activity", "list_sessions"):
                assert "/person/" not in (await who.reply(action)).text
        assert (await other.http.get(wire.REQUESTS)).json()["result"]["requests"] == []
        assert "/person/" not in (await asker.http.get(wire.REQUESTS)).text
    await asker.call("request_human", pageId="cart", requestId=request_id, withdraw=True)
