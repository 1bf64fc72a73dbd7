"""Tests memory: what ended is let go, so that a service that runs for months holds no more than one of yesterday."""

import asyncio
import gc
from functools import partial

import pytest

from browse_together.contract import catalogue
from browse_together.contract.errors import CallNotFound
from browser_service.host.sessions.session import SessionEntry
from browser_service.spine.register import CallRegister, Reply
from tests.support.service import Agent
from tests.support.site import Site
from tests.support.waiting import become, found

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

TALKS = "<script>for (let n = 0; n < 50; n++) console.log('one of many', {n}, document.body)</script>"
FORM = """<label>Name<input id=name></label><label><input type=checkbox id=box>Box</label>
<div id=editor contenteditable>it</div><p id=from draggable=true>card</p><p id=to>here</p>"""
HANDLES = {"ElementHandle", "JSHandle"}


async def test_the_oldest_ended_calls_are_forgotten_and_no_running_one() -> None:
    register, goes_on = CallRegister(), asyncio.Event()
    action = catalogue.parse({"action": "list_pages"})

    async def done() -> Reply:
        return Reply(200, {})

    async def waiting() -> Reply:
        await goes_on.wait()
        return await done()

    first = register.begin("c", "runs", 1, action, waiting)
    for number in range(3_000):
        await register.begin("c", str(number), 1, action, done).task
    assert register.find("c", "runs") is first
    assert register.find("c", "2999").done
    with pytest.raises(CallNotFound):
        register.find("c", "0")
    assert len(register.records) < 2_010
    goes_on.set()
    await first.task


async def test_what_a_page_logged_is_not_kept_by_the_driver(agent: Agent, site: Site) -> None:
    before = _handles()
    await agent.call("goto", pageId="p", url=site.page("/talks", TALKS))
    said = partial(agent.call, "get_console_messages", pageId="p")
    await found(said, lambda told: len(told["messages"]) >= 50)  # a busy browser tells some of them a moment later
    await become(lambda: _handles() <= before)


async def test_handles_that_calls_took_are_released(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/form", FORM))
    before = _handles()
    for _ in range(2):
        fields = [{"selector": "#name", "value": "Ana"}, {"selector": "#box", "value": True}]
        await agent.call("fill_form", pageId="p", fields=fields)
        await agent.call("press", pageId="p", key="x")
        await agent.call("fill", pageId="p", selector="#editor", value="a text")
        await agent.call("paste", pageId="p", selector="#name", text="y")
        await agent.error("drag_and_drop", pageId="p", source="#from", target="#to", timeout=500)
    await become(lambda: _handles() <= before)


async def test_a_closed_session_is_kept_by_nothing_of_the_browser_that_runs_on(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="p", url=site.page("/form", FORM))  # the browser runs
    before = _alive(SessionEntry)
    for number in range(2):
        name = f"passing-{number}"
        await agent.call("create_session", sessionId=name)
        await agent.call("goto", sessionId=name, pageId=name, url=site.url("/form"))
        await agent.call("close_session", sessionId=name)
    await become(lambda: _alive(SessionEntry) <= before)


def _alive(kind: type) -> int:
    gc.collect()
    return sum(type(each) is kind for each in gc.get_objects())


def _handles() -> int:
    """Count Playwright's handles that are alive in this process, by the names of their classes."""
    gc.collect()
    return sum(type(each).__name__ in HANDLES for each in gc.get_objects())
