"""Calls: sent twice they happen once, they can be asked after, and they can be stopped.

It is longer than 300 lines because one call can be sent again, read on, cancelled and left, and each of these has a
test.
"""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from browse_together.contract import wire
from browse_together.contract.errors import InvalidRequest
from tests.support.json import AnyJson
from tests.support.listening import connected, listening, sent, watching
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

FORM = "<form action=/bought method=post><button id=buy>Buy</button></form>"


async def has_turn(service: RunningService, page_id: str) -> None:
    pages = service.host.pages
    await become(lambda: page_id in pages and pages[page_id].queue.current is not None)


async def code(reply: "asyncio.Task[httpx.Response]") -> str:
    body = (await reply).json()
    return "ok" if body["success"] else str(body["error"]["code"])


# --- the same callId again -----------------------------------------------------------------------------------------


async def test_a_call_sent_again_while_it_runs_joins_it_and_happens_once(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    first = sent(agent, "same", "goto", pageId="p", url=site.url("/held"))
    await has_turn(service, "p")
    again = [sent(agent, "same", "goto", pageId="p", url=site.url("/held")) for _ in range(4)]
    hold.set()
    bodies = [(await reply).json() for reply in (first, *again)]
    assert all(body == bodies[0] for body in bodies)
    assert bodies[0]["success"] is True
    assert site.counts["/held"] == 1


async def test_a_call_sent_again_afterwards_gets_the_stored_outcome_and_happens_once(agent: Agent, site: Site) -> None:
    site.page("/bought", "thanks")
    await agent.call("goto", pageId="p", url=site.page("/", FORM))
    first = await sent(agent, "buy-1", "click", pageId="p", selector="#buy")
    assert first.json()["success"] is True
    resent = await agent.reply("click", headers={wire.CALL_ID: "buy-1", wire.ATTEMPT: "2"}, pageId="p", selector="#buy")
    assert resent.json() == first.json()
    assert site.counts["/bought"] == 1


async def test_a_failure_is_stored_like_a_result(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<b>nothing here</b>"))
    first = await sent(agent, "c", "click", pageId="p", selector="#none", timeout=100)
    again = await sent(agent, "c", "click", pageId="p", selector="#none", timeout=100)
    assert first.status_code == again.status_code == 404
    assert first.json() == again.json()


async def test_another_clients_call_of_the_same_id_is_another_call(agent: Agent, other: Agent, site: Site) -> None:
    url = site.page("/", "<title>own</title>")
    mine, others = await asyncio.gather(
        sent(agent, "same", "goto", pageId="mine", url=f"{url}?mine"),
        sent(other, "same", "goto", pageId="others", url=f"{url}?others"),
    )
    assert mine.json()["page"]["url"].endswith("?mine")
    assert others.json()["page"]["url"].endswith("?others")
    assert site.counts["/"] == 2


async def test_an_unknown_act_sent_for_the_second_time_has_an_unknown_outcome(agent: Agent, site: Site) -> None:
    site.page("/bought", "thanks")
    await agent.call("goto", pageId="p", url=site.page("/", FORM))
    headers = {wire.CALL_ID: "never-heard-of", wire.ATTEMPT: "2"}
    refused = await agent.reply("click", headers=headers, pageId="p", selector="#buy")
    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "UNKNOWN_OUTCOME")
    assert "snapshot" in refused.json()["error"]["hint"]
    assert site.counts["/bought"] == 0


async def test_an_unknown_read_sent_for_the_second_time_runs(agent: Agent, site: Site) -> None:
    url = site.page("/", FORM)
    await agent.call("goto", pageId="p", url=url)
    headers = {wire.CALL_ID: "never-heard-of", wire.ATTEMPT: "2"}
    reply = await agent.reply("get_current_url", headers=headers, pageId="p")
    assert reply.json()["result"] == {"url": url}


async def test_a_call_id_that_comes_with_other_arguments_is_refused_and_the_first_outcome_stays(
    agent: Agent, site: Site
) -> None:
    site.page("/second", "second")
    url = site.page("/", FORM)
    first = await sent(agent, "same", "goto", pageId="p", url=url)
    others: list[tuple[str, dict[str, AnyJson]]] = [
        ("goto", {"url": site.url("/second")}),
        ("goto", {"url": url, "timeout": 9_000}),
        ("reload_page", {}),
    ]
    for action, arguments in others:
        refused = await sent(agent, "same", action, pageId="p", **arguments)
        error = refused.json()["error"]
        assert (refused.status_code, error["code"]) == (422, "VALIDATION_ERROR")
        assert "'same'" in error["message"]
        assert error["details"]["context"]["field"] == "callId"
    assert (await sent(agent, "same", "goto", pageId="p", url=url)).json() == first.json()
    assert (site.counts["/"], site.counts["/second"]) == (1, 0)


async def test_a_running_call_is_not_joined_by_one_with_other_arguments(
    agent: Agent, site: Site, hold: threading.Event
) -> None:
    running = sent(agent, "same", "goto", pageId="p", url=site.url("/held"))
    await become(lambda: site.counts["/held"] == 1)
    refused = await sent(agent, "same", "goto", pageId="p", url=site.page("/", FORM))
    assert (refused.status_code, refused.json()["error"]["details"]["context"]["field"]) == (422, "callId")
    hold.set()
    assert (await running).json()["result"]["url"] == site.url("/held")


# --- asking after a call -------------------------------------------------------------------------------------------


async def test_get_call_waits_for_a_running_call_and_returns_its_result(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    first = sent(agent, "slow", "goto", pageId="p", url=site.url("/held"))
    await has_turn(service, "p")
    now = await agent.call("get_call", callId="slow", wait=0)
    assert (now["state"], now["stillRunning"]) == ("running", True)
    waiting = asyncio.create_task(agent.call("get_call", callId="slow"))
    hold.set()
    result = await waiting
    assert (result["state"], result["url"], result["status"]) == ("done", site.url("/held"), 200)
    assert (await first).json()["result"]["url"] == result["url"]


async def test_get_call_returns_the_error_of_the_call_in_its_own_words(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<b>nothing</b>"))
    failed = (await sent(agent, "fails", "click", pageId="p", selector="#none", timeout=100)).json()["error"]
    found = await agent.reply("get_call", callId="fails")
    assert found.status_code == 404
    error = found.json()["error"]
    assert {key: error[key] for key in ("code", "message", "hint")} == {
        key: failed[key] for key in ("code", "message", "hint")
    }
    assert error["details"]["tool"] == "click"


async def test_get_call_over_http_get_answers_at_once(agent: Agent, site: Site) -> None:
    await sent(agent, "done", "goto", pageId="p", url=site.page("/", "hello"))
    reply = await agent.http.get(f"{wire.CALLS}/done")
    assert reply.json()["result"]["state"] == "done"


async def test_a_call_is_followed_to_its_own_reply_by_its_client_alone(
    service: RunningService, agent: Agent, other: Agent, site: Site, hold: threading.Event
) -> None:
    running, path = sent(agent, "mine", "goto", pageId="p", url=site.url("/held")), f"{wire.CALLS}/mine/reply"
    await has_turn(service, "p")
    reply = await agent.http.get(path)
    assert reply.json()["call"].items() >= {"callId": "mine", "action": "goto", "hasReplied": False}.items()
    assert reply.json()["result"]["stillRunning"]
    assert (await other.http.get(path)).status_code == 404
    hold.set()
    first, again = (await running).json(), (await agent.http.get(path)).json()
    assert again.pop("call")["hasReplied"]
    assert again == {**first, "notices": []}


async def test_another_clients_call_is_not_found_and_cannot_be_cancelled(
    service: RunningService, agent: Agent, other: Agent, site: Site, hold: threading.Event
) -> None:
    running = sent(agent, "mine", "goto", pageId="p", url=site.url("/held"))
    await has_turn(service, "p")
    for action in ("get_call", "cancel_call"):
        error = await other.error(action, callId="mine")
        assert (error["status"], error["code"]) == (404, "INVALID_REQUEST")
        assert "mine" in error["message"]
    hold.set()
    assert (await running).status_code == 200


async def test_an_unknown_call_is_not_found(agent: Agent) -> None:
    error = await agent.error("get_call", callId="nobodys")
    assert error["status"] == 404
    assert "10 minutes" in error["hint"]


async def test_a_call_that_outlasts_its_reply_says_so_and_can_be_read_later(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.parts.dispatcher, "reply_within_ms", 300)
    reply = await sent(agent, "long", "goto", pageId="p", url=site.url("/held"))
    assert reply.status_code == 200
    result = reply.json()["result"]
    assert (result["stillRunning"], result["callId"]) == (True, "long")
    assert result["elapsedMs"] >= 300
    again = await sent(agent, "long", "goto", pageId="p", url=site.url("/held"))
    assert again.json()["result"]["stillRunning"] is True
    monkeypatch.undo()
    hold.set()
    assert (await agent.call("get_call", callId="long"))["status"] == 200
    assert site.counts["/held"] == 1


async def test_a_long_call_without_an_id_gets_one_to_read_it_by(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.parts.dispatcher, "reply_within_ms", 300)
    result = await agent.call("goto", pageId="p", url=site.url("/held"))
    monkeypatch.undo()
    hold.set()
    assert (await agent.call("get_call", callId=result["callId"]))["url"] == site.url("/held")


# --- notices -------------------------------------------------------------------------------------------------------


# --- cancelling ----------------------------------------------------------------------------------------------------


async def test_a_cancelled_queued_call_did_not_happen(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    site.page("/second", "second")
    async with watching(service, agent.client_id) as progress:
        first = sent(agent, "one", "goto", pageId="p", url=site.url("/held"))
        await has_turn(service, "p")
        second = sent(agent, "two", "goto", pageId="p", url=site.url("/second"))
        await progress.until(lambda p: p.of("two") != [])
        assert (await agent.call("cancel_call", callId="two"))["callId"] == "two"
        error = (await second).json()["error"]
        assert error["code"] == "CANCELLED"
        assert "did not happen" in error["message"]
        assert not first.done()
        hold.set()
        assert await code(first) == "ok"
    assert (await agent.call("get_current_url", pageId="p"))["url"] == site.url("/held")
    assert site.counts["/second"] == 0


async def test_a_cancelled_running_act_has_an_unknown_outcome_and_the_page_takes_the_next_call_within_a_second(
    agent: Agent, site: Site, hold: threading.Event
) -> None:
    """Unless the machine is busy, which it is not five times in a row."""
    await agent.call("goto", pageId="p", url=site.page("/", "<p id=x>here</p>"))
    seconds = [60.0]
    while min(seconds) >= 1 and len(seconds) <= 5:
        number = len(seconds)
        running = sent(agent, f"go-{number}", "goto", pageId="p", url=site.url("/held"))
        await become(lambda number=number: site.counts["/held"] == number)  # type: ignore[misc] # number of this round
        await agent.call("cancel_call", callId=f"go-{number}")
        began = time.monotonic()
        assert await code(running) == "UNKNOWN_OUTCOME"
        assert (await agent.call("evaluate_script", pageId="p", expression="document.title"))["value"] == "/"
        seconds.append(time.monotonic() - began)
    assert min(seconds) < 1
    assert not hold.is_set()


async def test_a_click_cancelled_while_its_navigation_hangs_frees_the_page(
    agent: Agent, site: Site, hold: threading.Event
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<a href=/held>on</a>"))
    running = sent(agent, "one", "click", pageId="p", selector="a")
    await become(lambda: site.counts["/held"] == 1)
    await agent.call("cancel_call", callId="one")
    async with asyncio.timeout(PATIENCE_S):
        assert await code(running) == "UNKNOWN_OUTCOME"
        assert (await agent.call("evaluate_script", pageId="p", expression="document.title"))["value"] == "/"
    assert not hold.is_set()


async def test_a_cancelled_script_frees_the_page(service: RunningService, agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "hello"))
    running = sent(agent, "one", "evaluate_script", pageId="p", expression="new Promise(() => {})")
    await has_turn(service, "p")
    await agent.call("cancel_call", callId="one")
    async with asyncio.timeout(PATIENCE_S):
        assert await code(running) == "UNKNOWN_OUTCOME"
        assert (await agent.call("evaluate_script", pageId="p", expression="40 + 2"))["value"] == 42


async def test_a_cancelled_running_read_is_cancelled(service: RunningService, agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "hello"))
    waiting = sent(agent, "one", "wait_for_selector", pageId="p", selector="#never")
    host = service.host
    await become(lambda: f"{agent.client_id}/one" in host.running)
    await agent.call("cancel_call", callId="one")
    assert await code(waiting) == "CANCELLED"


async def test_cancelling_twice_is_cancelling_once(agent: Agent, site: Site, hold: threading.Event) -> None:
    running = sent(agent, "one", "goto", pageId="p", url=site.url("/held"))
    await become(lambda: site.counts["/held"] == 1)
    replies = await asyncio.gather(*(agent.reply("cancel_call", callId="one") for _ in range(2)))
    assert [reply.status_code for reply in replies] == [200, 200]
    assert await code(running) == "UNKNOWN_OUTCOME"
    assert (await agent.call("cancel_call", callId="one"))["state"] == "done"
    hold.set()
    assert await code(sent(agent, "two", "goto", pageId="p", url=site.page("/", "on"))) == "ok"


async def test_a_finished_call_stays_what_it_was_when_it_is_cancelled(agent: Agent, site: Site) -> None:
    first = await sent(agent, "one", "goto", pageId="p", url=site.page("/", "hello"))
    assert (await agent.call("cancel_call", callId="one"))["state"] == "done"
    assert (await sent(agent, "one", "goto", pageId="p", url=site.url("/"))).json() == first.json()


async def test_a_cancel_that_overtakes_its_call_stops_it(agent: Agent, site: Site) -> None:
    url = site.page("/", "hello")
    early = await agent.error("cancel_call", callId="later")
    assert early["status"] == 404
    late = await sent(agent, "later", "goto", pageId="p", url=url)
    assert late.json()["error"]["code"] == "CANCELLED"
    assert "did not happen" in late.json()["error"]["message"]
    assert site.counts["/"] == 0
    assert (await agent.call("list_pages"))["yours"] == []


# --- connections that end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_id", [True, False], ids=["with a callId", "without a callId"])
async def test_a_disconnect_cancels_only_a_call_that_can_never_be_asked_for_again(
    tmp_path: Path, site: Site, hold: threading.Event, *, has_id: bool
) -> None:
    async with listening(tmp_path / "data") as service, connected(service, "agent-1") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<title>before</title>"))
        headers = {wire.CALL_ID: "kept"} if has_id else None
        asking = asyncio.create_task(agent.reply("goto", headers=headers, pageId="p", url=site.url("/held")))
        await become(lambda: site.counts["/held"] == 1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        register = service.parts.ledger.register
        if has_id:
            assert (await agent.call("get_call", callId="kept", wait=0))["stillRunning"] is True
            hold.set()
            assert (await agent.call("get_call", callId="kept"))["status"] == 200
            assert (await agent.call("get_current_url", pageId="p"))["url"] == site.url("/held")
        else:
            await become(lambda: register.running("agent-1") == [])
            assert not hold.is_set()
            assert (await agent.call("get_current_url", pageId="p"))["url"] == site.url("/")


async def test_a_connection_that_ends_within_its_request_is_not_logged_as_a_fault(
    service: RunningService, agent: Agent
) -> None:
    """It would be logged as one, with a traceback, whenever a gateway is killed."""
    host, token = service.base_url.removeprefix("http://"), agent.http.headers["authorization"]
    headers = {"host": host, "authorization": token, "content-type": "application/json", "content-length": "100"}
    request: dict[str, Any] = {  # Any: as ASGI has it
        "type": "http",
        "method": "POST",
        "path": f"{wire.BROWSER}/p",
        "raw_path": f"{wire.BROWSER}/p".encode(),
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    arrives = iter([{"type": "http.request", "body": b'{"action":', "more_body": True}, {"type": "http.disconnect"}])
    sent: list[Any] = []  # Any: as there

    async def receive() -> Any:  # Any: as there
        return next(arrives)

    async def send(message: Any) -> None:  # Any: as there
        sent.append(message)

    await service.app(request, receive, send)
    assert sent[0]["status"] == InvalidRequest.status


async def test_a_queued_call_whose_connection_ends_does_not_happen(
    tmp_path: Path, site: Site, hold: threading.Event
) -> None:
    site.page("/second", "second")
    async with listening(tmp_path / "data") as service, connected(service, "agent-1") as agent:
        async with watching(service, "agent-1") as progress:
            first = sent(agent, "one", "goto", pageId="p", url=site.url("/held"))
            await has_turn(service, "p")
            asking = asyncio.create_task(agent.reply("goto", pageId="p", url=site.url("/second")))
            await progress.until(lambda p: any(moved.position == 1 for moved in p.moves))
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await become(lambda: len(service.registered_calls("agent-1")) == 1)
            hold.set()
            assert await code(first) == "ok"  # while its client is there
        assert site.counts["/second"] == 0
