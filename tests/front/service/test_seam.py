"""Tests the seam: the two halves of the spine work the same where every value between them crosses as JSON, late or
twice. The host has no browser."""

import asyncio
import base64
import random
import threading
from collections import Counter
from pathlib import Path

import pytest

from browse_together.contract.calls import CallState
from browse_together.contract.frames import View
from browser_service.host.host import LocalHost
from tests.support import browsers
from tests.support.carriers import JsonCarrier, UnreliableCarrier
from tests.support.listening import sent, watching
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.sharing import StartService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

CLIENTS = 4
STEPS = 8


@pytest.fixture
async def remote(start: StartService) -> RunningService:
    """Start a service whose host might as well be on another machine."""
    return await start(carrier=JsonCarrier, queue_wait_ms=60_000)


async def test_first_calls_make_one_page_and_one_owner_across_json(remote: RunningService, site: Site) -> None:
    url = site.page("/cart", "<h1>Cart</h1>")
    async with remote.agent("Claude") as first, remote.agent("Codex") as second:
        calls = [who.reply("goto", pageId="cart", url=url) for _ in range(8) for who in (first, second)]
        replies = await asyncio.gather(*calls)
        assert Counter(reply.status_code for reply in replies) == {200: 8, 423: 8}
        assert site.counts["/cart"] == 8
        hint = next(reply for reply in replies if reply.status_code == 423).json()["error"]["hint"]
        assert f'open_page {{"url": "{url}"}}' in hint
        assert len((await first.call("list_pages"))["yours"]) == 1


async def test_turns_events_and_cancels_cross_as_json(
    remote: RunningService, site: Site, hold: threading.Event
) -> None:
    site.page("/step", "step")
    async with remote.agent("Claude") as agent, watching(remote, agent.client_id) as progress:
        calls = [sent(agent, "c-0", "goto", pageId="p", url=site.url("/held"))]
        await become(lambda: site.counts["/held"] == 1)
        for n in range(1, 6):
            calls.append(sent(agent, f"c-{n}", "goto", pageId="p", url=f"{site.url('/step')}?n={n}"))
            await progress.until(lambda p, n=n: p.of(f"c-{n}") != [])  # type: ignore[misc] # n of this round
        assert [progress.of(f"c-{n}")[0].position for n in range(1, 6)] == [1, 2, 3, 4, 5]
        assert progress.of("c-5")[0].behind == "Claude: goto"
        await agent.call("cancel_call", callId="c-3")
        hold.set()
        codes = [reply.status_code for reply in await asyncio.gather(*calls)]
    assert codes == [200, 200, 200, 499, 200, 200]
    assert [r.path for r in site.received if "/step" in r.path] == [f"/step?n={n}" for n in (1, 2, 4, 5)]


async def test_results_errors_notices_and_artifacts_cross_as_json(remote: RunningService, site: Site) -> None:
    html = "<title>Ünïcode 漢字</title><button onclick=\"alert('hé')\">b</button>"
    site.page("/", Answer(f"<!doctype html><meta charset=utf-8>{html}"))
    async with remote.agent() as agent:
        await agent.call("goto", pageId="p", url=site.url("/"))
        assert (await agent.call("get_page_title", pageId="p"))["title"] == "Ünïcode 漢字"
        clicked = (await agent.reply("click", pageId="p", selector="button")).json()
        assert clicked["result"]["dialog"]["message"] == "hé"
        answered = await agent.call("handle_dialog", pageId="p", accept=True)
        assert answered["observed"] == "click: alert 'hé' was accepted"
        assert (await agent.call("get_call", callId=clicked["result"]["callId"]))["state"] == "done"
        values = {"deep": [1, 2.5, None, True, {"ключ": "значение"}], "empty": {}, "text": "a\u2028b"}
        found = await agent.call("evaluate_script", pageId="p", expression="v => v", arg=values)
        assert found["value"] == values
        error = await agent.error("click", pageId="p", selector="#none", timeout=100)
        assert (error["status"], error["code"]) == (404, "ELEMENT_NOT_FOUND")
        assert error["details"]["selector"] == "#none"
        picture = (await agent.call("screenshot", pageId="p"))["artifact"]
        assert (await agent.http.get(picture["url"])).headers["content-type"] == "image/png"


async def test_frames_of_a_page_cross_as_json(remote: RunningService, site: Site) -> None:
    async with remote.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
    host, view = remote.parts.host, View()
    frame = await host.frame_after("p", 0, 10_000, view)
    while frame is not None and frame.picture is None:
        frame = await host.frame_after("p", frame.seq, 10_000, view)
    assert frame is not None
    assert frame.picture is not None
    assert (base64.b64decode(frame.picture)[:2], frame.state) == (b"\xff\xd8", "live")
    again = await host.frame_after("p", frame.seq, 0, view)
    assert again is not None
    assert (again.picture, again.width) == (None, frame.width)
    assert await host.frame_after("nowhere", 0, 0, view) is None


async def test_closing_a_session_gives_the_same_spec_until_that_has_arrived(remote: RunningService, site: Site) -> None:
    async with remote.agent() as agent:
        await agent.call("create_session", sessionId="mine")
        await agent.call("goto", pageId="p", sessionId="mine", url=site.page("/", "hello"))
    host = remote.parts.host
    first, second = await asyncio.gather(host.close("mine"), host.close("mine"))
    assert first is not None
    assert [page.page_id for page in first.pages] == ["p"]
    assert first == second == await host.close("mine")
    await host.settle("mine")
    assert await host.close("mine") is None


async def test_each_start_numbers_its_calls_higher_than_the_ones_before(tmp_path: Path, site: Site) -> None:
    numbers = list[int]()
    for _ in range(2):
        running = running_service(settings_for(tmp_path), make_host=browsers.make_host())
        async with running as service, service.agent(client_id="same") as agent:
            await agent.call("goto", pageId="p", url=site.page("/", "hello"))
            lease = service.entry("p").lease
            assert lease is not None
            numbers.append(lease.seq)
    first, second = numbers
    assert 1 <= first >> 40 == (second >> 40) - 1


async def test_values_without_json_do_not_break_the_seam(remote: RunningService, site: Site) -> None:
    async with remote.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        for expression in ("NaN", "[1, Infinity]", "undefined", "() => {}", "10n", "new Map([[1, 2]])", "window"):
            reply = await agent.reply("evaluate_script", pageId="p", expression=expression)
            assert reply.status_code == 200, (expression, reply.text)


@pytest.mark.parametrize("seed", [7])
async def test_every_effect_happens_once_and_in_order_though_messages_are_late_repeated_and_reordered(
    start: StartService, site: Site, seed: int
) -> None:
    print(f"seed {seed}")  # noqa: T201 - shown where the test fails
    carriers: list[UnreliableCarrier] = []

    def unreliable(host: LocalHost) -> UnreliableCarrier:
        carriers.append(UnreliableCarrier(host, seed))
        return carriers[-1]

    dice = random.Random(seed)  # noqa: S311 - as above
    site.page("/step", lambda received: Answer(f"<title>{received.path}</title>"))
    site.page("/bought", lambda received: Answer(f"<title>{received.body.decode()}</title>"))
    service = await start(carrier=unreliable)

    async def work(agent: Agent) -> None:
        page_id = f"page-of-{agent.client_id}"
        for n in range(STEPS):
            url = f"{site.url('/step')}?page={page_id}&n={n}"
            call_id = f"step-{n}"
            calls = [sent(agent, call_id, "goto", pageId=page_id, url=url) for _ in range(dice.choice((1, 1, 2)))]
            bodies = [(await call).json() for call in calls]
            assert all(body["success"] for body in bodies), bodies
            assert bodies[0]["page"]["url"] == url
            if dice.random() < 0.5:
                script = f"fetch('/bought', {{method: 'POST', body: '{page_id} {n}'}}).then(r => r.status)"
                reply = await sent(agent, f"buy-{n}", "evaluate_script", pageId=page_id, expression=script)
                assert reply.json()["result"]["value"] == 200, reply.text
                bought.append(f"{page_id} {n}")

    bought: list[str] = []
    async with service.agent() as a, service.agent() as b, service.agent() as c, service.agent() as d:
        await asyncio.gather(*(work(agent) for agent in (a, b, c, d)))
        await carriers[0].settled()
        assert carriers[0].repeated > CLIENTS * STEPS
        assert carriers[0].lost > CLIENTS
        for agent in (a, b, c, d):
            page_id = f"page-of-{agent.client_id}"
            visits = [received.path for received in site.received if f"page={page_id}&" in received.path]
            assert visits == [f"/step?page={page_id}&n={n}" for n in range(STEPS)]
            assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == [page_id]
    posts = [received.body.decode() for received in site.received if received.method == "POST"]
    assert Counter(posts) == Counter(bought)


@pytest.mark.parametrize("seed", [5])
async def test_calls_that_wait_take_their_turns_by_the_fronts_order_however_they_arrive(
    start: StartService, site: Site, hold: threading.Event, seed: int
) -> None:
    print(f"seed {seed}")  # noqa: T201 - shown where the test fails
    carriers: list[UnreliableCarrier] = []

    def unreliable(host: LocalHost) -> UnreliableCarrier:
        carriers.append(UnreliableCarrier(host, seed))
        return carriers[-1]

    site.page("/step", "step")
    service = await start(carrier=unreliable, queue_wait_ms=60_000)
    async with service.agent() as agent, watching(service, agent.client_id) as progress:
        calls = [sent(agent, "first", "goto", pageId="p", url=site.url("/held"))]
        await become(lambda: site.counts["/held"] == 1)
        calls += [sent(agent, f"c-{n}", "goto", pageId="p", url=f"{site.url('/step')}?n={n}") for n in range(20)]
        await progress.until(lambda p: all(p.of(f"c-{n}") for n in range(20)))
        arrived = list(dict.fromkeys(m.call_id for m in progress.moves if m.state is CallState.QUEUED))
        hold.set()
        replies = await asyncio.gather(*calls)
        await carriers[0].settled()
    assert {reply.status_code for reply in replies} == {200}
    taken = [call_id.rpartition("/")[2] for call_id in carriers[0].taken if "/c-" in call_id]
    assert arrived != taken, "the seed reorders nothing"
    visits = [received.path for received in site.received if "/step" in received.path]
    assert visits == [f"/step?n={call_id.removeprefix('c-')}" for call_id in taken]


@pytest.mark.parametrize("seed", [3])
async def test_a_cancel_that_races_its_call_is_reported_truthfully(start: StartService, site: Site, seed: int) -> None:
    print(f"seed {seed}")  # noqa: T201 - shown where the test fails
    dice = random.Random(seed)  # noqa: S311 - as above
    site.page("/step", "step")
    service = await start(carrier=lambda host: UnreliableCarrier(host, seed))
    told: dict[int, str] = {}

    async def one(agent: Agent, n: int) -> None:
        call = sent(agent, f"c-{n}", "goto", pageId="p", url=f"{site.url('/step')}?n={n}&")
        await asyncio.sleep(dice.uniform(0, 0.2))  # the cancel comes before, during or after the call
        await agent.reply("cancel_call", callId=f"c-{n}")
        body = (await call).json()
        told[n] = "ok" if body["success"] else body["error"]["code"]

    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "start"))
        async with asyncio.TaskGroup() as group:
            for n in range(20):
                group.create_task(one(agent, n))
        assert (await agent.call("evaluate_script", pageId="p", expression="1"))["value"] == 1
    visits = Counter(received.path for received in site.received)
    for n, said in told.items():
        visited = visits[f"/step?n={n}&"]
        assert (said, visited) in {("ok", 1), ("CANCELLED", 0), ("UNKNOWN_OUTCOME", 0), ("UNKNOWN_OUTCOME", 1)}, n


@pytest.mark.parametrize("seed", [2])
async def test_what_is_said_of_calls_whose_host_is_gone_is_true(start: StartService, site: Site, seed: int) -> None:
    print(f"seed {seed}")  # noqa: T201 - shown where the test fails
    site.page("/step", "step")
    service = await start(carrier=lambda host: UnreliableCarrier(host, seed, gone=0.2))
    codes = list[str]()
    async with service.agent() as agent:
        for n in range(20):
            reply = await sent(agent, f"c-{n}", "goto", pageId="p", url=f"{site.url('/step')}?n={n}&")
            code = "ok" if reply.is_success else reply.json()["error"]["code"]
            visited = [received.path for received in site.received].count(f"/step?n={n}&")
            assert (code, visited) in {("ok", 1), ("SERVICE_UNAVAILABLE", 0), ("UNKNOWN_OUTCOME", 1)}
            codes.append(code)
            known = await agent.reply("content", pageId="p")
            codes.append("read" if known.is_success else known.json()["error"]["code"])
        await agent.call("create_session", sessionId="mine")
        await agent.call("close_session", sessionId="mine")
        assert "mine" not in service.known_sessions()
    assert {*codes} >= {"ok", "read", "SERVICE_UNAVAILABLE", "UNKNOWN_OUTCOME"}
