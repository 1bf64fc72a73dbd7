"""Tests turns: calls on one page go one at a time and in order, and no page waits for another's."""

import asyncio
import re
import threading

import psutil
import pytest

from shared.calls import CallState
from tests.page.service.test_turns import LINK, running
from tests.support import processes
from tests.support.json import AnyJson
from tests.support.listening import PATIENCE_S, connected, listening, present, sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_the_queue_is_shown_over_a_real_event_stream(tmp_path: object, site: Site, hold: threading.Event) -> None:
    async with listening(tmp_path / "data") as service, connected(service, "agent-1", "Claude") as agent:  # type: ignore[operator] # a Path
        await agent.call("goto", pageId="p", url=site.page("/", LINK))
        async with present(service, agent) as progress:
            calls = [sent(agent, "one", "goto", pageId="p", url=site.url("/held"))]
            await progress.until(lambda p: p.of("one") != [])
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


@pytest.mark.parametrize("cure", ["reload_page", "goto"])
async def test_a_page_that_does_not_respond_is_refused_with_a_hint_and_replaced_under_its_id(
    start: StartService, site: Site, cure: str
) -> None:
    service = await start()
    async with service.agent() as agent:
        await _replaced(service, agent, site, cure)


async def _renderer(service: RunningService, agent: Agent) -> psutil.Process:
    """Return the process of the agent's page: the one that works when the page does."""
    renderers = processes.renderers(service.settings.data_dir)
    before = [renderer.cpu_times().user for renderer in renderers]
    await agent.call("evaluate_script", expression="const end = Date.now() + 400; while (Date.now() < end) {}")
    worked = [renderer.cpu_times().user - was for renderer, was in zip(renderers, before, strict=True)]
    return renderers[worked.index(max(worked))]


async def _replaced(service: RunningService, agent: Agent, site: Site, cure: str) -> None:
    url = site.page("/", "<button>b</button>")
    before = (await agent.reply("goto", pageId="p", url=url)).json()["page"]
    (await _renderer(service, agent)).suspend()
    assert (await agent.error("evaluate_script", pageId="p", expression="1", timeout=300))["code"] == "TIMEOUT"
    playwright_page = live(service, "p")
    async with asyncio.timeout(PATIENCE_S):
        error = await agent.error("evaluate_script", pageId="p", expression="1", timeout=60_000)
    assert (error["status"], error["code"]) == (504, "TIMEOUT")
    assert 'reload_page {"pageId": "p"}' in error["hint"]
    arguments: dict[str, AnyJson] = {"url": url} if cure == "goto" else {}
    reply = await agent.reply(cure, pageId="p", **arguments)
    assert reply.status_code == 200, reply.text
    after = reply.json()["page"]
    assert (after["pageId"], after["url"], after["owner"]) == ("p", url, before["owner"])
    assert after["revision"] > before["revision"]
    assert live(service, "p") is not playwright_page
    await agent.call("click", pageId="p", selector="button")


def live(service: RunningService, page_id: str) -> object:
    return service.window(page_id)
