"""Tests turns: calls on one page go one at a time and in order."""

import asyncio
import re
import threading
import time
from itertools import groupby
from pathlib import Path

import pytest

from browse_together.contract.calls import Call, CallState
from browse_together.contract.errors import Cancelled, TimedOut
from browser_service.rules.turns import PageQueue
from browser_service.waits import turn_on
from tests.support.listening import connected, listening, present, sent, watching
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Answer, Received, Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

LINK = '<a id="go" href="/held">go</a>'


async def running(service: RunningService, page_id: str) -> None:
    """Wait until a call has the page's turn."""
    pages = service.host.pages
    await become(lambda: page_id in pages and pages[page_id].queue.current is not None)


async def test_calls_on_one_page_run_one_at_a_time_in_the_order_in_which_they_came(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    at_once: list[int] = []
    busy = threading.Semaphore(1)

    def step(_: Received) -> Answer:
        alone = busy.acquire(blocking=False)
        at_once.append(1 if alone else 2)
        if alone:
            busy.release()
        return Answer("<title>step</title>")

    site.page("/step", step)
    await agent.call("goto", pageId="p", url=site.page("/", LINK))
    first = sent(agent, "c-first", "goto", pageId="p", url=site.url("/held"))
    await running(service, "p")
    async with watching(service, agent.client_id) as progress:
        later = []
        for n in range(12):
            later.append(sent(agent, f"c-{n}", "goto", pageId="p", url=f"{site.url('/step')}?n={n}"))
            await progress.until(lambda p, n=n: p.of(f"c-{n}") != [])  # type: ignore[misc] # n of this round
        hold.set()
        replies = await asyncio.gather(first, *later)
    assert [reply.status_code for reply in replies] == [200] * 13
    asked = [received.path for received in site.received if received.path.startswith("/step")]
    assert asked == [f"/step?n={n}" for n in range(12)]
    assert set(at_once) == {1}


async def test_waiting_calls_are_told_their_position_and_who_is_ahead(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", LINK))
    async with watching(service, agent.client_id) as progress:
        calls = [sent(agent, "one", "goto", pageId="p", url=site.url("/held"))]
        await running(service, "p")
        for name in ("two", "three", "four"):
            calls.append(sent(agent, name, "evaluate_script", pageId="p", expression="1"))
            await progress.until(lambda p, name=name: p.of(name) != [])  # type: ignore[misc] # name of this round
        assert [progress.of(name)[0].position for name in ("two", "three", "four")] == [1, 2, 3]
        for name in ("two", "three", "four"):
            assert progress.of(name)[0].state is CallState.QUEUED
            assert re.fullmatch(rf"{agent.label}: goto", progress.of(name)[0].behind)
        hold.set()
        await asyncio.gather(*calls)
    positions = [m.position for m in progress.of("four") if m.state is CallState.QUEUED]
    assert [each for each, _ in groupby(positions)] == [3, 2, 1]  # once more where who is ahead has changed
    assert [m.state for m in progress.of("four")][-1] is CallState.RUNNING
    assert "evaluate_script" in progress.of("four")[-2].behind


async def test_calls_behind_a_cancelled_one_learn_that_they_moved_up(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", LINK))
    async with watching(service, agent.client_id) as progress:
        calls = [sent(agent, "one", "goto", pageId="p", url=site.url("/held"))]
        await running(service, "p")
        for name in ("two", "three"):
            calls.append(sent(agent, name, "evaluate_script", pageId="p", expression="1"))
            await progress.until(lambda p, name=name: p.of(name) != [])  # type: ignore[misc] # name of this round
        await agent.call("cancel_call", callId="two")
        await progress.until(lambda p: [m.position for m in p.of("three")] == [2, 1])
        hold.set()
        codes = [reply.status_code for reply in await asyncio.gather(*calls)]
    assert codes == [200, 499, 200]


async def test_a_waiting_call_is_never_reported_as_running(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    """The heartbeat of a reply that is not due yet goes on every two seconds."""
    await agent.call("goto", pageId="p", url=site.page("/", LINK))
    async with watching(service, agent.client_id) as progress:
        calls = [sent(agent, "one", "goto", pageId="p", url=site.url("/held"))]
        await running(service, "p")
        calls.append(sent(agent, "two", "evaluate_script", pageId="p", expression="1"))
        await progress.until(lambda p: any(m.elapsed_ms for m in p.all_of("two")))
        assert {m.state for m in progress.all_of("two")} == {CallState.QUEUED}
        assert {m.position for m in progress.all_of("two")} == {1}
        hold.set()
        await asyncio.gather(*calls)


async def test_a_turn_that_comes_in_the_instant_of_its_deadline_is_not_lost() -> None:
    """The holder ends in the very pass of the loop in which the waiter's time is up."""
    queue = PageQueue(lambda _: None)
    loop = asyncio.get_running_loop()
    let_go = asyncio.Event()

    async def hold_it() -> None:
        async with turn_on(queue, _call(1), "first", 1_000):
            await let_go.wait()

    async def wait_for_it() -> str:
        try:
            async with turn_on(queue, _call(2), "second", 50):
                return "had its turn"
        except TimedOut:
            return "timed out"

    holder = asyncio.create_task(hold_it())
    await asyncio.sleep(0)  # lets it take its turn
    waiter = asyncio.create_task(wait_for_it())
    await asyncio.sleep(0)  # lets it begin to wait
    loop.call_later(0.045, let_go.set)  # due just before the deadline, and both run late:
    loop.call_later(0.04, time.sleep, 0.02)
    assert await asyncio.wait_for(waiter, PATIENCE_S) in {"had its turn", "timed out"}
    await holder
    async with asyncio.timeout(PATIENCE_S), turn_on(queue, _call(3), "third", 500):
        assert queue.busy


async def test_turns_go_by_the_fronts_order_and_a_cancelled_one_is_left_out() -> None:
    told: list[tuple[str, int]] = []
    queue = PageQueue(lambda moved: told.append((moved.call_id, moved.position)))
    done: list[str] = []
    let_go = asyncio.Event()

    async def take(seq: int) -> None:
        try:
            async with turn_on(queue, _call(seq), f"call-{seq}", 5_000):
                if seq == 1:
                    await let_go.wait()
                done.append(f"call-{seq}")
        except Cancelled:
            done.append(f"not call-{seq}")

    tasks = []
    for seq in (1, 4, 2, 5, 3):  # as they arrive
        tasks.append(asyncio.create_task(take(seq)))
        await asyncio.sleep(0)  # lets it join the line
    assert queue.cancel("call-4")
    assert not queue.cancel("call-1")
    let_go.set()
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*tasks)
    assert sorted(done[:2]) == ["call-1", "not call-4"]
    assert done[2:] == ["call-2", "call-3", "call-5"]
    last = dict(told)
    assert last == {"call-4": 3, "call-2": 1, "call-3": 1, "call-5": 1}


def _call(seq: int) -> Call:
    return Call(call_id=f"call-{seq}", seq=seq, client_id="c", body={"action": "wait"})


async def test_the_queue_is_shown_over_a_real_event_stream(tmp_path: Path, site: Site, hold: threading.Event) -> None:
    async with listening(tmp_path / "data") as service, connected(service, "agent-1", "Claude") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", LINK))
        async with present(service, agent) as progress:
            calls = [sent(agent, "one", "goto", pageId="p", url=site.url("/held"))]
            await running(service, "p")
            calls.append(sent(agent, "two", "evaluate_script", pageId="p", expression="1"))
            await progress.until(lambda p: p.of("two") != [])
            hold.set()
            await asyncio.gather(*calls)
            await progress.until(lambda p: any(m.state is CallState.RUNNING for m in p.of("two")))
        moved = progress.of("two")[0]
    assert (moved.state, moved.position) == (CallState.QUEUED, 1)
    assert moved.behind == "Claude: goto"


async def test_a_call_that_waits_too_long_times_out_naming_who_is_ahead_and_does_not_happen(
    start: StartService, site: Site, hold: threading.Event
) -> None:
    service = await start(queue_wait_ms=300)
    async with service.agent("Claude · shop") as agent:
        await agent.call("goto", pageId="p", url=site.page("/", LINK))
        first = sent(agent, "one", "goto", pageId="p", url=site.url("/held"))
        await running(service, "p")
        second = sent(agent, "two", "goto", pageId="p", url=site.page("/second", "second"))
        error = await agent.error("click", pageId="p", selector="#go")
        assert (error["status"], error["code"]) == (504, "TIMEOUT")
        assert "click waited 300 ms" in error["message"]
        assert re.search(r"as number [12] behind Claude · shop: goto, \d+ s", error["message"])
        assert "did not happen" in error["message"]
        assert error["details"]["context"]["behind"].startswith("Claude · shop: goto")
        assert (await second).json()["error"]["code"] == "TIMEOUT"
        hold.set()
        assert (await first).status_code == 200
        assert site.counts["/second"] == 0
        assert site.counts["/held"] == 1
