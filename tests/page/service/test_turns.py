"""Tests pages that spin or hang: no page waits for another's, and the next call gets through or says how to."""

import asyncio
import threading

import pytest

from browse_together.contract.calls import CallState
from tests.support.listening import sent, watching
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


async def running(service: RunningService, page_id: str) -> None:
    """Wait until a call has the page's turn."""
    pages = service.host.pages
    await become(lambda: page_id in pages and pages[page_id].queue.current is not None)


async def test_a_wait_neither_takes_a_turn_nor_waits_for_one(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    html = "<button id=b onclick=\"document.body.insertAdjacentHTML('beforeend','<p id=late>now')\">b</button>"
    await agent.call("goto", pageId="p", url=site.page("/", html))
    async with watching(service, agent.client_id) as progress:
        waiting = sent(agent, "w", "wait_for_selector", pageId="p", selector="#late")
        pausing = sent(agent, "s", "wait", pageId="p", duration=60_000)
        await agent.call("click", pageId="p", selector="#b")  # not held up by either wait, and it ends the first
        assert (await waiting).status_code == 200
        assert not pausing.done()
        assert CallState.QUEUED not in {m.state for m in progress.of("w") + progress.of("s")}
        await agent.call("cancel_call", callId="s")
        assert (await pausing).json()["error"]["code"] == "CANCELLED"

        held = sent(agent, "h", "goto", pageId="p", url=site.url("/held"))
        await running(service, "p")
        assert await agent.call("wait", pageId="p", duration=1) == {
            "observed": "waited 1 ms"
        }  # has no turn to wait for
        assert not held.done()
        hold.set()
        await held


async def test_a_page_whose_server_never_answers_delays_no_other_page(
    service: RunningService, agent: Agent, other: Agent, site: Site, hold: threading.Event
) -> None:
    await other.call("goto", pageId="other", url=site.page("/", "<button>b</button>"))
    stuck = sent(agent, "stuck", "goto", pageId="stuck", url=site.url("/held"))
    await running(service, "stuck")
    async with asyncio.timeout(PATIENCE_S):
        for n in range(5):
            assert (await other.call("evaluate_script", pageId="other", expression=f"{n} + 1"))["value"] == n + 1
            await other.call("click", pageId="other", selector="button")
        await other.call("goto", pageId="fresh", url=site.url("/"))
    assert not stuck.done()
    hold.set()
    assert (await stuck).status_code == 200


async def test_a_page_that_spins_delays_no_other_page(
    service: RunningService, agent: Agent, other: Agent, site: Site
) -> None:
    url = site.page("/", "<button>b</button>")
    await agent.call("goto", pageId="spins", url=url)
    await other.call("goto", pageId="other", url=url)
    spinning = sent(agent, "spin", "evaluate_script", pageId="spins", expression="while(true){}", timeout=60_000)
    await running(service, "spins")
    async with asyncio.timeout(PATIENCE_S):
        for n in range(5):
            assert (await other.call("evaluate_script", pageId="other", expression=f"{n} + 1"))["value"] == n + 1
            await other.call("click", pageId="other", selector="button")
        assert len((await other.call("list_pages"))["others"]) == 1
        await other.call("goto", pageId="fresh", url=url)
    assert not spinning.done()
    await agent.call("cancel_call", callId="spin")
    await spinning


@pytest.mark.parametrize("ends", ["timeout", "cancel"])
async def test_a_script_that_spins_ends_with_its_call_and_the_page_goes_on(agent: Agent, site: Site, ends: str) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<p>here</p>"))
    script = "x = new XMLHttpRequest(); x.open('GET', '/spins', false); x.send(); while (true) {}"
    timeout = 2_000 if ends == "timeout" else 60_000
    spinning = sent(agent, "s", "evaluate_script", pageId="p", expression=script, timeout=timeout)
    await become(lambda: site.counts["/spins"] == 1)
    if ends == "cancel":
        await agent.call("cancel_call", callId="s")
    async with asyncio.timeout(PATIENCE_S):
        code = (await spinning).json()["error"]["code"]
        assert (await agent.call("evaluate_script", pageId="p", expression="1 + 1"))["value"] == 2
    assert code == ("TIMEOUT" if ends == "timeout" else "UNKNOWN_OUTCOME")


async def test_a_page_that_is_stopped_while_a_script_begins_runs_the_next_one(
    service: RunningService, agent: Agent, site: Site
) -> None:
    values = []
    for n in range(10):
        await agent.call("goto", pageId="p", url=site.page("/", f"<p>{n}</p>"))
        tab = service.entry("p").record.tab
        assert tab is not None
        begun = asyncio.create_task(tab.page.evaluate("new Promise(() => {})"))
        await asyncio.sleep(0)
        assert await tab.interrupt()
        values.append((await agent.call("evaluate_script", pageId="p", expression="40 + 2"))["value"])
        begun.cancel()
    assert values == [42] * 10


async def test_a_click_that_made_the_page_spin_ends_with_its_timeout_and_the_next_call_names_the_way_out(
    agent: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="p", url=site.page("/", "<button onclick='while(true){}'>b</button>"))
    await agent.reply("click", pageId="p", selector="button", timeout=1_000)
    async with asyncio.timeout(PATIENCE_S):
        error = await agent.error("evaluate_script", pageId="p", expression="1", timeout=60_000)
    assert (error["code"], 'reload_page {"pageId": "p"}' in error["hint"]) == ("TIMEOUT", True)
    site.page("/", "calm")
    await agent.call("reload_page", pageId="p")
    assert (await agent.call("evaluate_script", pageId="p", expression="1"))["value"] == 1
