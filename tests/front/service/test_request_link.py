"""Tests the link of a request: whoever has it sees that request and its page live, answers it, and can do nothing
else."""

from collections.abc import AsyncIterator

import httpx
import pytest

from browse_together.client.credentials import mint_key
from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.listening import listening
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.wall import guest

pytestmark = pytest.mark.anyio

DECISION: dict[str, AnyJson] = {
    "kind": "decision",
    "message": "Red or <b>blue</b>?",
    "choices": ["red", "blue"],
}


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


async def asks(asker: Agent, **what: AnyJson) -> str:
    return str((await asker.call("request_human", pageId="cart", timeout=1, **what))["requestId"])


async def test_the_key_of_a_link_opens_that_request_and_nothing_else(running: RunningService, asker: Agent) -> None:
    one = await asks(asker, **DECISION)
    key, other_key = mint_key(running.secret, one), mint_key(running.secret, "ask-00000000")
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


async def test_a_visitor_with_a_link_sees_the_requests_page_works_on_it_and_answers(
    running: RunningService, asker: Agent, site: Site
) -> None:
    await asker.call("goto", pageId="other", url=site.url("/cart"))
    one = await asks(asker, **DECISION)
    with pytest.raises(AssertionError):
        async with guest(running, one, mint_key(running.secret, "ask-00000000")):
            pass
    async with guest(running, one, mint_key(running.secret, one)) as person:
        state = await person.until(lambda message: message["type"] == "state")
        assert ([*state["pages"]], state["agents"], state["requests"][0]["choices"]) == (["cart"], [], ["red", "blue"])
        for action, page_id in (("take_over", "cart"), ("close_page", "cart"), ("handle_dialog", "other")):
            assert "for one request" in (await person.call(action, pageId=page_id))["reason"]
        assert "no dialog" in (await person.call("handle_dialog", pageId="cart", accept=True))["reason"]
        for kind, more in (
            ("input", {"pageId": "other", "made": []}),
            ("pictures", {"id": 1, "ids": []}),
            ("answer", {"id": 1, "requestId": "ask-00000000", "state": "done"}),
        ):
            await person.send(kind, **more)
            assert "for one request" in (await person.until(lambda message: message["type"] == "refused"))["reason"]
        await person.send("watch", tiles={"other": {}, "cart": {}}, page=None)
        assert (await person.until(lambda message: message["type"] == "frame"))["pageId"] == "cart"
        await person.send("answer", id=2, requestId=one, state="done", answer="red")
        patch = await person.until(lambda message: message.get("requests") == [])
        assert patch["pages"] == {"cart": None}
    told = await asker.call("request_human", pageId="cart", requestId=one)
    assert told["observed"] == "A person decided. It says: red"
    with pytest.raises(AssertionError):
        async with guest(running, one, mint_key(running.secret, one)):
            pass
    await asker.call("close_page", pageId="other")


async def test_no_agent_reads_the_link(running: RunningService, asker: Agent) -> None:
    request_id = await asks(asker, **DECISION)
    async with running.agent("Codex") as other:
        for who in (asker, other):
            for action in ("list_pages", "get_activity", "list_sessions"):
                assert "&request=" not in (await who.reply(action)).text
        assert (await other.http.get(wire.REQUESTS)).json()["result"]["requests"] == []
        assert "&request=" not in (await asker.http.get(wire.REQUESTS)).text
    await asker.call("request_human", pageId="cart", requestId=request_id, withdraw=True)
