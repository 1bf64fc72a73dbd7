"""Tests requests to people: their hold above all leases, requests that several clients join, answers, and
notifications.

It is longer than 300 lines because every test asks, waits and answers by the same fixtures and helpers."""

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from browse_together.client.credentials import mint
from browse_together.contract import wire
from browser_service.rules import human
from tests.support.account import recorded
from tests.support.json import AnyJson
from tests.support.listening import connected, listening, present, sent, watching
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import PATIENCE_S, become, found

pytestmark = pytest.mark.anyio

HTML = "<h1>Cart</h1><input id=a><button id=b onclick='window.hits = (window.hits || 0) + 1'>b</button>"
LOGIN: dict[str, AnyJson] = {"kind": "login", "message": "Please sign in."}
DECISION: dict[str, AnyJson] = {"kind": "decision", "message": "Red or blue?", "choices": ["red", "blue"]}


@pytest.fixture
async def ana(service: RunningService) -> AsyncIterator[Agent]:
    """Return the account's own person, at the command line."""
    async with service.agent() as agent:
        yield as_person(service, agent)


@pytest.fixture(autouse=True)
async def _answered(agent: Agent, other: Agent, ana: Agent) -> AsyncIterator[None]:  # noqa: ARG001 - this ends before they do
    """Leave no page in a person's hands after the test."""
    yield
    for request in await asked(ana):
        await resolve(ana, request["requestId"], state="refused")


def as_person(service: RunningService, agent: Agent) -> Agent:
    token = mint(service.secret, "cli-ana", "CLI", operator=True)
    agent.http.headers["Authorization"] = f"Bearer {token}"
    return Agent(agent.http, "cli-ana", "CLI")


async def asked(who: Agent) -> list[dict[str, AnyJson]]:
    """Return the requests that are listed. Any: JSON."""
    return list((await who.http.get(wire.REQUESTS)).json()["result"]["requests"])


async def resolve(who: Agent, request_id: str, **said: str) -> httpx.Response:
    return await who.http.post(f"{wire.REQUESTS}/{request_id}/resolve", json={"by": "Ana", **said})


async def opened(agent: Agent, site: Site, page_id: str = "cart") -> None:
    await agent.call("goto", pageId=page_id, url=site.page("/cart", HTML))


async def pending(agent: Agent, page_id: str = "cart", **what: AnyJson) -> str:
    """Return the id of a request that the agent makes without waiting for the answer. Any: JSON."""
    made = await agent.call("request_human", pageId=page_id, timeout=1, **(what or LOGIN))
    assert made["state"] == "pending", made
    return str(made["requestId"])


def waiting(service: RunningService) -> int:
    requests = service.host.people.requests.values()
    return sum(sum(request.waiting.values()) for request in requests if not request.over)


def told(reply: httpx.Response) -> list[str]:
    return [notice["text"] for notice in reply.json()["notices"]]


# --- the hold ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["login", "code"])
async def test_while_a_password_or_code_may_be_typed_nobody_acts_on_or_reads_the_page(
    agent: Agent, other: Agent, site: Site, kind: str
) -> None:
    await opened(agent, site)
    request_id = await pending(agent, kind=kind, message="It asks for something secret.")
    acts: list[dict[str, AnyJson]] = [
        {"action": "click", "selector": "#b"},
        {"action": "goto", "url": site.url("/cart")},
        {"action": "evaluate_script", "expression": "document.body.innerHTML"},
        {"action": "claim_page", "reason": "I want it"},
        {"action": "close_page", "reason": "I want it gone"},
        {"action": "release_page"},
    ]
    reads = ["snapshot", "content", "screenshot", "get_page_title", "get_current_url"]
    for client in (agent, other):
        for body in [*acts, *({"action": name} for name in reads)]:
            error = await client.error(pageId="cart", **body)
            assert (error["status"], error["code"]) == (423, "HUMAN_IN_CONTROL"), body
            assert f'"{agent.label}" asked for a {kind} at {site.url("")}' in error["message"]
            assert "Cart" not in json.dumps(error)
    mine, theirs = [(await client.error("click", pageId="cart", selector="#b"))["hint"] for client in (agent, other)]
    assert f'request_human {{"pageId": "cart", "requestId": "{request_id}"}}' in mine
    assert f'request_human {{"pageId": "cart", "requestId": "{request_id}", "withdraw": true}}' in mine
    assert ('request_human {"pageId": "cart", "kind": "login"' if kind == "login" else "open_page {") in theirs


async def test_while_a_person_decides_the_page_can_be_read_but_not_acted_on(
    agent: Agent, other: Agent, site: Site
) -> None:
    await opened(agent, site)
    await pending(agent, **DECISION)
    for client in (agent, other):
        assert "Cart" in (await client.call("content", pageId="cart"))["content"]
        assert (await client.error("click", pageId="cart", selector="#b"))["code"] == "HUMAN_IN_CONTROL"


async def test_other_pages_are_unaffected(agent: Agent, other: Agent, site: Site) -> None:
    await opened(agent, site)
    await opened(agent, site, "second")
    await opened(other, site, "theirs")
    await pending(agent)
    await agent.call("click", pageId="second", selector="#b")
    await other.call("click", pageId="theirs", selector="#b")
    (page,) = [page for page in (await other.call("list_pages"))["others"] if page["pageId"] == "cart"]
    assert page["person"] == f'a login at {site.url("")}, asked for by "{agent.label}"'


async def test_running_calls_finish_and_queued_ones_are_refused(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    await opened(agent, site)
    runs = sent(agent, "runs", "goto", pageId="cart", url=site.url("/held"))
    await become(lambda: site.counts["/held"] == 1)
    waits = sent(agent, "waits", "click", pageId="cart", selector="#b")
    await become(lambda: service.last_move(agent.client_id, "waits") is not None)
    await pending(agent)
    hold.set()
    assert (await runs).json()["success"] is True
    assert (await waits).json()["error"]["code"] == "HUMAN_IN_CONTROL"


async def test_a_popup_of_the_page_is_the_persons_too(agent: Agent, ana: Agent, site: Site) -> None:
    site.page("/provider", "<input type=password>")
    await agent.call("goto", pageId="cart", url=site.page("/shop", "<a id=p target=_blank href=/provider>sign in</a>"))
    await pending(agent)
    await ana.call("click", pageId="cart", selector="#p")
    assert (await agent.error("snapshot", pageId="cart~1"))["code"] == "HUMAN_IN_CONTROL"
    await ana.call("close_page", pageId="cart~1")
    assert len(await asked(ana)) == 1


async def test_cookies_are_not_cleared_under_a_persons_hands_nor_their_session_closed(
    agent: Agent, ana: Agent, site: Site
) -> None:
    await agent.call("create_session", sessionId="own")
    await agent.call("goto", sessionId="own", pageId="cart", url=site.page("/cart", HTML))
    request_id = await pending(agent)
    error = await agent.error("clear_cookies", sessionId="own")
    assert error["code"] == "AFFECTS_OTHERS"
    assert '"cart" of "a person"' in error["message"]
    refused = await agent.error("close_session", sessionId="own")
    assert (refused["code"], f'"{request_id}", "withdraw": true' in refused["hint"]) == ("HUMAN_IN_CONTROL", True)
    await resolve(ana, request_id)
    await agent.call("close_session", sessionId="own")


async def test_the_accounts_person_acts_on_the_page_and_the_one_who_asked_goes_on_first(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    revision = (await agent.reply("content", pageId="cart")).json()["page"]["revision"]
    request_id = await pending(agent, kind="other", message="Fill it in.")
    await ana.call("fill", pageId="cart", selector="#a", value="typed by Ana")
    assert (await resolve(ana, request_id)).json()["success"] is True
    assert (await other.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"
    typed = await agent.reply("evaluate_script", pageId="cart", expression="document.querySelector('#a').value")
    assert typed.json()["result"]["value"] == "typed by Ana"
    assert typed.json()["page"]["revision"] > revision + 1
    assert (await ana.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"


async def test_a_lease_neither_lapses_nor_passes_on_meanwhile(start: StartService, site: Site) -> None:
    service = await start(idle_lease_ms=50)
    async with service.agent("Claude") as first, service.agent("Codex") as second, service.agent() as person_:
        await opened(first, site)
        entry = service.entry("cart")
        request_id = await pending(first)
        await become(lambda: entry.lease is not None and entry.lease.idle_ms > 100)
        assert (await second.error("click", pageId="cart", selector="#b"))["code"] == "HUMAN_IN_CONTROL"
        holder = entry.record.ownership.holder()
        assert holder is not None
        assert holder.client_id == first.client_id
        await resolve(as_person(service, person_), request_id)
        await become(lambda: entry.record.ownership.holder() is None)
        await second.call("click", pageId="cart", selector="#b")


async def test_a_page_whose_holder_is_gone_is_freed_only_when_the_person_has_done(tmp_path: Path, site: Site) -> None:
    async with (
        listening(tmp_path / "data", presence_grace_ms=50) as service,
        connected(service, "chat-1", "Claude") as gone,
        connected(service, "chat-2", "Codex") as stays,
        connected(service, "cli", "CLI") as cli,
    ):
        await opened(gone, site)
        async with present(service, gone):
            call = sent(gone, "r", "request_human", pageId="cart", **LOGIN)
            await become(lambda: waiting(service) == 1)
        entry = service.entry("cart")
        await become(lambda: entry.lease is not None and entry.lease.client_left)
        assert (await stays.error("click", pageId="cart", selector="#b"))["code"] == "HUMAN_IN_CONTROL"
        (request,) = await asked(as_person(service, cli))
        await resolve(as_person(service, cli), request["requestId"])
        assert (await call).json()["result"]["state"] == "done"
        await stays.call("click", pageId="cart", selector="#b")


# --- asking --------------------------------------------------------------------------------------------------------


async def test_the_asking_call_waits_and_returns_the_answer(
    service: RunningService, agent: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    async with watching(service, agent.client_id) as progress:
        asking = sent(agent, "ask", "request_human", pageId="cart", **DECISION)
        await progress.until(lambda p: any(moved.request for moved in p.of("ask")))
    (request,) = await asked(ana)
    facts = {"kind": "decision", "askedBy": agent.label, "message": "Red or blue?", "choices": ["red", "blue"]}
    assert facts.items() <= request.items()
    assert (request["pageId"], request["url"]) == ("cart", site.url("/cart"))
    wrong = (await resolve(ana, request["requestId"], answer="green")).json()["error"]
    assert (wrong["code"], wrong["details"]["context"]["field"]) == ("VALIDATION_ERROR", "answer")
    await resolve(ana, request["requestId"], answer="blue")
    reply = (await asking).json()
    assert {"state": "done", "answer": "blue", "observed": "Ana decided. It says: blue"}.items() <= reply[
        "result"
    ].items()
    assert reply["page"]["title"] == "/cart"
    assert await asked(ana) == []
    again = (await resolve(ana, request["requestId"], answer="red")).json()["error"]
    assert (again["code"], again["details"]) == ("INVALID_REQUEST", {})


async def test_a_pending_request_can_be_read_later(
    service: RunningService, agent: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    request_id = await pending(agent)
    reply = await agent.call("request_human", pageId="cart", requestId=request_id, timeout=1)
    assert f'request_human {{"pageId": "cart", "requestId": "{request_id}"}}' in reply["observed"]
    reading = sent(agent, "on", "request_human", pageId="cart", requestId=request_id)
    await become(lambda: waiting(service) == 1)
    await resolve(ana, request_id)
    done = await reading
    assert done.json()["result"]["observed"] == f"Ana says it is done: a login at {site.url('')}."
    assert told(done) == []
    later = await agent.call("request_human", pageId="cart", requestId=request_id)
    assert later["state"] == "done"


async def test_a_client_that_does_not_wait_gets_the_answer_with_its_next_reply(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    await opened(other, site, "theirs")
    request_id = await pending(agent)
    await resolve(ana, request_id)
    for client in (agent, other):
        assert told(await client.reply("list_pages")) == [f"Ana says it is done: a login at {site.url('')}."]


async def test_a_refusal_says_why(agent: Agent, ana: Agent, site: Site) -> None:
    await opened(agent, site)
    request_id = await pending(agent, kind="other", message="Pay, please.")
    await resolve(ana, request_id, state="refused", reason="not with this card")
    reply = await agent.call("request_human", pageId="cart", requestId=request_id)
    assert reply["state"] == "refused"
    assert reply["observed"].endswith("The reason: not with this card")
    await agent.call("click", pageId="cart", selector="#b")


async def test_a_senseless_request_is_refused_with_what_to_send(agent: Agent) -> None:
    assert (await agent.error("request_human", **LOGIN))["code"] == "PAGE_REQUIRED"
    await agent.call("open_page", pageId="blank")
    assert "Go there first" in (await agent.error("request_human", pageId="blank", **LOGIN))["hint"]
    assert "message is missing" in (await agent.error("request_human", pageId="blank", kind="login"))["message"]
    error = await agent.error("request_human", pageId="blank", requestId="ask-0")
    assert (error["status"], error["code"]) == (404, "INVALID_REQUEST")
    assert "request_human" in error["hint"]
    for wrong in ({"choices": ["a", "b"]}, {"origin": "shop"}, {"withdraw": True}, {"timeout": 45_001}):
        assert (await agent.error("request_human", pageId="blank", **LOGIN, **wrong))["code"] == "VALIDATION_ERROR"


# --- one login, several agents -------------------------------------------------------------------------------------


async def test_agents_that_meet_the_same_login_ask_once_and_all_go_on(
    service: RunningService, agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    def account(received: Received) -> Answer:
        if "met=1" in received.headers.get("Cookie", ""):
            return Answer("<title>account</title>Hello")
        return Answer("<title>wall</title><form method=post action=/in><button id=in>Sign in</button></form>")

    site.page("/account", account)
    site.page("/in", Answer("", 303, headers={"location": "/account", "set-cookie": "met=1; Path=/"}))
    for client, page_id in ((agent, "one"), (other, "two")):
        await client.call("goto", pageId=page_id, url=site.url("/account"))
    first = sent(agent, "a", "request_human", pageId="one", **LOGIN)
    await become(lambda: waiting(service) == 1)
    second = sent(other, "b", "request_human", pageId="two", **LOGIN)
    await become(lambda: waiting(service) == 2)
    (request,) = await found(lambda: asked(ana), lambda requests: requests[0]["joinedBy"])  # the host knows it first
    assert (request["askedBy"], request["joinedBy"]) == (agent.label, [other.label])
    assert (await other.reply("get_page_title", pageId="two")).json()["result"]["title"] == "wall"
    await ana.call("click", pageId="one", selector="#in")
    await resolve(ana, request["requestId"], answer="for who asked first")
    async with asyncio.timeout(PATIENCE_S):
        replies = [(await call).json() for call in (first, second)]
    assert [reply["result"]["state"] for reply in replies] == ["done", "done"]
    assert "answer" in replies[0]["result"]
    assert "for who asked first" not in json.dumps(replies[1])
    await other.call("reload_page", pageId="two")
    assert "Hello" in (await other.call("content", pageId="two", format="text"))["content"]
    assert site.counts["/in"] == 1
    await agent.call("clear_cookies", name="sid", affectOthers=True)


async def test_a_login_elsewhere_and_another_kind_are_requests_of_their_own(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    await opened(other, site, "same")
    await other.call("goto", pageId="else", url=site.url("/cart", host="localhost"))
    ids = [
        await pending(agent),
        await pending(other, "else"),
        await pending(other, "same", kind="other", message="Look at this."),
    ]
    assert len(set(ids)) == 3
    assert sorted(request["requestId"] for request in await asked(ana)) == sorted(ids)


async def test_another_question_on_the_same_page_is_asked_after_the_first(
    agent: Agent, other: Agent, ana: Agent, service: RunningService, site: Site
) -> None:
    await opened(agent, site)
    login = await pending(agent)
    assert await pending(agent) == login
    asking = sent(agent, "decide", "request_human", pageId="cart", **DECISION)
    await become(lambda: waiting(service) == 1)
    another = {**DECISION, "message": "Left or right?", "choices": ["left", "right"]}
    last = await pending(agent, **another)
    withdrawn = await pending(agent, kind="other", message="Never mind.")
    told = await agent.call("request_human", pageId="cart", requestId=last, timeout=1)
    assert f"another question first, {login} of yours, and" in told["observed"]
    assert [one["requestId"] for one in await asked(ana)] == [login]
    assert (await other.error("request_human", pageId="cart", **DECISION))["code"] == "HUMAN_IN_CONTROL"
    await agent.call("request_human", pageId="cart", requestId=withdrawn, withdraw=True)
    await resolve(ana, login)
    (now,) = await asked(ana)
    assert (now["kind"], now["message"]) == ("decision", "Red or blue?")
    assert (await agent.error("click", pageId="cart", selector="#b"))["code"] == "HUMAN_IN_CONTROL"
    assert "decided" not in str(await agent.call("request_human", pageId="cart", requestId=login))
    await resolve(ana, now["requestId"], answer="blue")
    assert (await asking).json()["result"]["answer"] == "blue"
    (now,) = await asked(ana)
    assert now["requestId"] == last
    closing = [await pending(agent, kind="other", message=f"Number {number}") for number in range(5)]
    full = await agent.error("request_human", pageId="cart", kind="other", message="One more")
    assert (full["code"], closing[0] in full["hint"]) == ("HUMAN_IN_CONTROL", True)
    await ana.call("close_page", pageId="cart", reason="done")
    people = service.host.people
    assert {people.requests[each].state for each in (last, *closing)} == {"closed"}
    assert people.queued == 0


async def test_a_client_may_join_a_request_on_the_page_that_the_person_has(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    request_id = await pending(agent)
    assert await pending(other, "cart") == request_id
    error = await other.error("request_human", pageId="cart", requestId="ask-1")
    assert error["code"] == "INVALID_REQUEST"
    await resolve(ana, request_id)
    assert (await other.call("request_human", pageId="cart", requestId=request_id))["state"] == "done"
    assert (await other.error("click", pageId="cart", selector="#b"))["code"] == "PAGE_OWNED"


# --- how it ends otherwise -----------------------------------------------------------------------------------------


async def test_a_cancelled_call_ends_the_request_and_the_hold(
    service: RunningService, agent: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    asking = sent(agent, "ask", "request_human", pageId="cart", **LOGIN)
    await become(lambda: waiting(service) == 1)
    await agent.call("cancel_call", callId="ask")
    assert (await asking).json()["error"]["code"] == "CANCELLED"
    assert await asked(ana) == []
    await agent.call("click", pageId="cart", selector="#b")


async def test_a_client_that_gives_up_leaves_the_others_waiting(
    agent: Agent, other: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    await opened(other, site, "theirs")
    request_id = await pending(agent)
    assert await pending(other, "theirs") == request_id
    await agent.call("request_human", pageId="cart", requestId=request_id, withdraw=True, timeout=1)
    assert [request["askedBy"] for request in await asked(ana)] == [other.label]
    ended = await other.call("request_human", pageId="theirs", requestId=request_id, withdraw=True)
    assert ended["state"] == "withdrawn"
    await agent.call("click", pageId="cart", selector="#b")


async def test_a_page_that_the_person_closes_ends_its_request(agent: Agent, ana: Agent, site: Site) -> None:
    await opened(agent, site)
    await opened(agent, site, "second")
    request_id = await pending(agent)
    await ana.call("close_page", pageId="cart", reason="not needed")
    assert await asked(ana) == []
    ended = await agent.call("request_human", pageId="second", requestId=request_id)
    assert ended["state"] == "closed"


async def test_without_a_sign_of_presence_the_hold_expires_with_a_notice(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(human, "STAYS_S", 0.3)
    await opened(agent, site)
    request_id = await pending(agent, kind="other", message="Anybody?")
    ended = await agent.call("request_human", pageId="cart", requestId=request_id)
    assert ended["state"] == "expired"
    assert ended["observed"].startswith("No person came for something")
    other_id = await pending(agent, kind="other", message="Anybody now?")
    assert other_id != request_id
    entry = service.entry("cart")
    await become(lambda: entry.record.person is None)
    clicked = await agent.reply("click", pageId="cart", selector="#b")
    assert [text.split(" in ")[0] for text in told(clicked)] == [f"No person came for something at {site.url('')}"]


async def test_a_person_who_looks_or_acts_keeps_the_page(
    service: RunningService, agent: Agent, ana: Agent, site: Site
) -> None:
    await opened(agent, site)
    await pending(agent)
    (request,) = [one for one in service.host.people.requests.values() if not one.over]
    for sign in (asked(ana), ana.call("reload_page", pageId="cart")):
        request.seen_at = long_ago = request.seen_at - 1_000
        await sign
        assert request.seen_at > long_ago + 900


# --- who learns what -----------------------------------------------------------------------------------------------


async def test_an_answer_is_in_no_record_no_log_and_no_reply_but_the_askers(
    start: StartService, site: Site, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    service = await start()
    async with service.agent("Claude") as agent, service.agent("Codex") as other, service.agent() as cli:
        await opened(agent, site)
        request_id = await pending(agent, kind="code", message="The code that was sent.")
        stranger = await other.http.get(wire.REQUESTS)
        assert stranger.json()["result"]["requests"] == []
        assert (await resolve(other, request_id, answer="123")).status_code == 404
        await resolve(as_person(service, cli), request_id, answer="s3cr3t-724")
        replies = [await other.reply(name) for name in ("list_pages", "get_activity", "list_sessions")]
        assert (await agent.call("request_human", pageId="cart", requestId=request_id))["answer"] == "s3cr3t-724"
        assert "s3cr3t-724" not in json.dumps([reply.json() for reply in replies])
        records = await recorded(agent)
        assert records[0]["action"] == "request_human"
        assert "s3cr3t-724" not in json.dumps(records)
        assert "The code that was sent" not in json.dumps(records)
    out = capfd.readouterr()
    assert "s3cr3t-724" not in out.out + out.err + caplog.text
    kept = [path.read_bytes() for path in (tmp_path / "data").glob("journal*")]
    assert kept
    assert not any(b"s3cr3t-724" in data for data in kept)
