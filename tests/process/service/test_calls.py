"""Calls: sent twice they happen once, they can be asked after, and they can be stopped."""

import asyncio
import threading

import pytest

from tests.front.service.test_calls import code
from tests.page.service.test_calls import said
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


async def test_a_notice_after_the_still_running_reply_is_in_the_next_reply(
    start: StartService, site: Site, hold: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await start(dialog_wait_ms=200)
    async with service.agent() as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "hello"))
        monkeypatch.setattr(service.parts.dispatcher, "reply_within_ms", 300)
        script = "fetch('/held').then(() => alert('ready'))"
        running = await sent(agent, "long", "evaluate_script", pageId="p", expression=script)
        assert running.json()["result"]["stillRunning"] is True
        monkeypatch.undo()
        hold.set()
        await become(lambda: service.has_news_for(agent))
        ended = await agent.reply("get_call", callId="long")
        assert ended.json()["result"]["state"] == "done"
        (told,) = said(ended)
        assert told.startswith("p: alert 'ready' was dismissed")
        again = await sent(agent, "long", "evaluate_script", pageId="p", expression=script)
        assert (again.json()["success"], said(again)) == (True, [])


async def test_a_call_cancelled_while_its_page_is_brought_back_frees_the_page_and_loses_no_url(
    service: RunningService, agent: Agent, site: Site, hold: threading.Event
) -> None:
    hold.set()
    await agent.call("goto", pageId="p", url=site.url("/held"))
    hold.clear()
    entry = service.entry("p")
    assert entry.record.tab is not None
    entry.tab_life.note_crash(entry.record.tab)  # as after a crash of its renderer
    running = sent(agent, "one", "click", pageId="p", selector="body")
    await become(lambda: site.counts["/held"] == 2)
    assert (await agent.call("list_pages"))["yours"][0]["url"] == site.url("/held")
    await agent.call("cancel_call", callId="one")
    async with asyncio.timeout(PATIENCE_S):
        assert await code(running) == "CANCELLED"
    assert (await agent.call("list_pages"))["yours"][0]["url"] == site.url("/held")
    hold.set()
    assert (await agent.call("evaluate_script", pageId="p", expression="document.title"))["value"] == "held"
