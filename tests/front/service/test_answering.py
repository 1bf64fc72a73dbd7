"""Tests that a person answers what an agent asks people for, and is shown where the page really is."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from browse_together.client.credentials import mint_key
from browse_together.contract import wire
from browse_together.contract.pages import Answer
from browser_service.clients import inbox as inboxes
from browser_service.host.seam import SessionHost
from tests.support.json import AnyJson
from tests.support.listening import sent, watching
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio

LOGIN: dict[str, AnyJson] = {"kind": "login", "message": "Please sign in."}
DECISION: dict[str, AnyJson] = {"kind": "decision", "message": "Red or blue?", "choices": ["red", "blue"]}


@pytest.fixture
async def ana(service: RunningService) -> AsyncIterator[Agent]:
    """Return the account's own person, at the command line. What is still asked at the end is refused."""
    async with service.agent(operator=True) as person:
        yield person
        for request in await asked(person):
            await resolve(person, request["requestId"], state="refused")


async def asked(who: Agent) -> list[dict[str, AnyJson]]:
    return list((await who.http.get(wire.REQUESTS)).json()["result"]["requests"])


async def resolve(who: Agent, request_id: str, **said: str) -> httpx.Response:
    return await who.http.post(f"{wire.REQUESTS}/{request_id}/resolve", json={"by": "Ana", **said})


async def opened(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="cart", url=site.page("/cart", "<h1>Cart</h1>"))


async def pending(agent: Agent, **what: AnyJson) -> str:
    """Return the id of a request that the agent makes without waiting for the answer. Any: JSON."""
    made = await agent.call("request_human", pageId="cart", timeout=1, **what)
    return str(made["requestId"])


async def test_an_agents_token_cannot_answer_its_own_request_but_the_person_in_its_chat_can(
    service: RunningService, agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    request_id = await pending(agent, **DECISION)
    for client, code in ((agent, "FORBIDDEN"), (other, "INVALID_REQUEST")):
        refused = (await resolve(client, request_id, answer="red", by="Ana")).json()
        assert refused["error"]["code"] == code
    secret, path = service.secret, f"{wire.REQUESTS}/{request_id}/resolve"

    async def with_key(key: str) -> int:
        headers = {"Authorization": f"Bearer {key}"}
        return (await agent.http.post(path, json={"answer": "red", "by": "Ana"}, headers=headers)).status_code

    assert await with_key(mint_key(secret, request_id, client_id=other.client_id, label="Other")) == 404
    assert await with_key(mint_key(secret, "ask-0", client_id=agent.client_id)) == 401
    assert await with_key(mint_key("another secret of thirty-two bytes!", request_id)) == 401
    assert [one["requestId"] for one in await asked(ana)] == [request_id]
    assert await with_key(mint_key(secret, request_id, client_id=agent.client_id, label=agent.label)) == 200
    reply = await agent.call("request_human", pageId="cart", requestId=request_id)
    assert reply["observed"] == f'The person at "{agent.label}" decided. It says: red'


async def test_no_stream_of_an_agent_has_the_key_of_the_link(service: RunningService, agent: Agent, site: Site) -> None:
    await opened(agent, site)
    async with watching(service, agent.client_id) as progress:
        asking = sent(agent, "ask", "request_human", pageId="cart", **DECISION)
        await progress.until(lambda p: any(moved.request for moved in p.of("ask")))
        seen = "".join(moved.model_dump_json() for moved in progress.of("ask"))
    assert "&request=" not in seen
    await agent.call("cancel_call", callId="ask")
    await asking


async def test_people_see_the_pages_own_url_and_not_the_agents_claim(agent: Agent, ana: Agent, site: Site) -> None:
    await opened(agent, site)
    error = await agent.error("request_human", pageId="cart", **LOGIN, origin="https://bank.example")
    assert (error["code"], error["details"]["context"]["field"]) == ("VALIDATION_ERROR", "origin")
    assert site.url("") in error["message"]
    await pending(agent, **LOGIN, origin=site.url(""))
    (request,) = await asked(ana)
    assert request["origin"] == site.url("")
    await ana.call("goto", pageId="cart", url=site.url("/cart", host="localhost"))
    (request,) = await asked(ana)
    assert request["origin"] == site.url("", host="localhost")


async def test_one_client_has_a_bounded_number_of_open_requests(agent: Agent, ana: Agent, site: Site) -> None:
    for number in range(20):
        page_id = f"c{number // 5}"
        if number % 5 == 0:
            await agent.call("goto", pageId=page_id, url=site.page("/cart", "<h1>Cart</h1>"))
        question = {**DECISION, "message": f"Number {number}?"}
        await agent.call("request_human", pageId=page_id, timeout=1, **question)
    error = await agent.error("request_human", pageId="c3", timeout=1, **DECISION)
    assert (error["code"], "request_human" in error["hint"]) == ("RATE_LIMITED", True)
    await resolve(ana, (await asked(ana))[0]["requestId"], state="refused")
    await agent.call("request_human", pageId="c3", timeout=1, **DECISION)
    while left := await asked(ana):
        for request in left:
            await resolve(ana, request["requestId"], state="refused")


class Silent:
    """A host that answers nothing about one request."""

    def __init__(self, request_id: str, host: SessionHost) -> None:
        self._request_id, self._host = request_id, host

    async def answer(self, request_id: str, answer: Answer) -> bool:
        if request_id == self._request_id:
            await asyncio.Event().wait()
        return await self._host.answer(request_id, answer)


async def test_a_host_that_does_not_answer_hides_no_request(
    service: RunningService, agent: Agent, ana: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(agent, site)
    stuck = await pending(agent, **DECISION)
    await agent.call("goto", pageId="desk", url=site.page("/desk", "<h1>Desk</h1>"))
    asked_too = (await agent.call("request_human", pageId="desk", timeout=1, **LOGIN))["requestId"]
    inbox = service.parts.requests
    with monkeypatch.context() as changed:
        changed.setattr(inbox, "host", Silent(stuck, inbox.host))
        changed.setattr(inboxes, "_ANSWERS_WITHIN_S", 0.05)
        troubles = {one["requestId"]: one.get("trouble") for one in await asked(ana)}
    assert troubles == {stuck: "Its host does not answer now, so an answer may not reach it.", asked_too: None}
