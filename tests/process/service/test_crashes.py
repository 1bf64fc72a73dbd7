"""Tests crashes: whatever dies, the next call works under the same pageId, owner and URL, and says what was lost."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

import psutil
import pytest

from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.host.sessions.windows import Windows
from tests.process.service.conftest import whole_service as service
from tests.support import processes
from tests.support.listening import sent
from tests.support.service import Agent, RunningService, visiting
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

__all__ = ["service"]

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser]

Disaster = Callable[[RunningService], Awaitable[None]]
LOST = {"BROWSER_CRASHED", "UNKNOWN_OUTCOME"}


async def renderers_die(service: RunningService) -> None:
    await processes.kill(*processes.renderers(service.settings.data_dir))


async def browser_dies(service: RunningService) -> None:
    await processes.kill(processes.browser(service.settings.data_dir))


async def driver_dies(service: RunningService) -> None:
    await processes.kill(processes.driver(service.settings.data_dir))


DISASTERS = [renderers_die, browser_dies, driver_dies]
each_disaster = pytest.mark.parametrize("disaster", DISASTERS, ids=lambda disaster: disaster.__name__)


def soonest(*first: Disaster) -> pytest.MarkDecorator:
    """Return a test's disasters, of which only these are tried before each change."""
    tried = [each if each in first else pytest.param(each, marks=pytest.mark.long) for each in DISASTERS]
    return pytest.mark.parametrize("disaster", tried, ids=lambda disaster: disaster.__name__)


def performing(service: RunningService, page_id: str) -> bool:
    entry = service.host.pages.get(page_id)
    return entry is not None and entry.record.live and entry.queue.current is not None


@each_disaster
async def test_the_next_call_works_under_the_same_page_owner_and_url_and_says_what_was_lost(
    service: RunningService, site: Site, disaster: Disaster
) -> None:
    url = site.page("/form", "<input id=a>")
    async with service.agent("Claude") as agent, service.agent("Codex") as other:
        await agent.call("set_session_headers", headers={"x-mine": "1"})
        await agent.call("goto", pageId="p", url=url)
        await agent.call("fill", pageId="p", selector="#a", value="typed")
        before = (await agent.reply("get_current_url", pageId="p")).json()["page"]
        in_flight = sent(agent, "f", "evaluate_script", pageId="p", expression="new Promise(() => {})")
        await become(lambda: performing(service, "p"))
        restarts = (await service.host.figures()).browser_restarts
        await disaster(service)
        async with asyncio.timeout(PATIENCE_S):
            lost = (await in_flight).json()
        assert lost["error"]["code"] in LOST
        assert (await other.error("click", pageId="p", selector="#a"))["code"] == "PAGE_OWNED"
        async with asyncio.timeout(PATIENCE_S):
            reply = (await agent.reply("fill", pageId="p", selector="#a", value="again")).json()
        assert reply["success"] is True, reply
        assert (await service.host.figures()).browser_restarts - restarts == (disaster is not renderers_die)
        after = reply["page"]
        assert (after["pageId"], after["url"], after["owner"]) == ("p", url, before["owner"])
        assert after["revision"] > before["revision"]
        assert f"p was reopened at {url}" in str(reply["notices"])
        value = await agent.call("evaluate_script", pageId="p", expression="document.querySelector('#a').value")
        assert value["value"] == "again"
        assert [each.headers.get("x-mine") for each in site.received if each.path == "/form"] == ["1", "1"]
        windows = service.session().windows
        assert windows is not None
        await become(lambda: not windows.dead)
        await agent.call("set_session_headers", headers={})  # also where the browser's own blank page had died


@pytest.mark.parametrize(
    "disaster",
    [pytest.param(browser_dies, marks=pytest.mark.long), driver_dies],
    ids=lambda disaster: disaster.__name__,
)
async def test_the_very_next_call_works_also_on_another_page_and_a_goto_loads_nothing_but_its_own_url(
    service: RunningService, site: Site, disaster: Disaster
) -> None:
    """This must also work when nothing is in flight and nobody has noticed yet."""
    site.page("/a", "<h1>A</h1>")
    site.page("/b", "<h1>B</h1>")
    async with service.agent() as agent:
        await agent.call("goto", pageId="a", url=site.url("/a"))
        await agent.call("goto", pageId="b", url=site.url("/b"))
        await disaster(service)
        assert "A" in (await agent.call("snapshot", pageId="a"))["snapshot"]
        reply = (await agent.reply("click", pageId="b", selector="h1")).json()
        assert reply["success"] is True, reply
        assert (reply["page"]["pageId"], reply["page"]["url"]) == ("b", site.url("/b"))
        assert f"b was reopened at {site.url('/b')}" in str(reply["notices"])
        assert "B" in (await agent.call("snapshot", pageId="b"))["snapshot"]
        assert len(processes.browsers(service.settings.data_dir)) == 1
        await disaster(service)
        await agent.call("goto", pageId="a", url=site.page("/new", "new"))
        assert (site.counts["/a"], site.counts["/new"]) == (2, 1)
        await agent.call("click", pageId="b", selector="h1")


@soonest(browser_dies)
async def test_ten_calls_after_a_crash_start_one_browser(
    service: RunningService, site: Site, disaster: Disaster
) -> None:
    url = site.page("/", "<h1>Here</h1>")
    async with service.agent() as agent:
        await asyncio.gather(*(agent.call("goto", pageId=f"p{n}", url=url) for n in range(5)))
        in_flight = [sent(agent, f"f{n}", "wait_for_selector", pageId=f"p{n}", selector="#never") for n in range(5)]
        await become(lambda: len(service.running_calls()) == 5)
        await disaster(service)
        for call in in_flight:
            assert (await call).json()["error"]["code"] in LOST
        pages = [f"p{n % 5}" for n in range(10)]
        replies = await asyncio.gather(*(agent.reply("snapshot", pageId=page) for page in pages))
        assert {reply.status_code for reply in replies} == {200}, [reply.text for reply in replies]
        assert len(processes.browsers(service.settings.data_dir)) == 1
        assert [reply.json()["page"]["pageId"] for reply in replies] == pages
        assert len(drivers_of(service)) == 1


async def test_a_renderer_that_crashes_by_itself_takes_no_other_page_with_it(
    service: RunningService, site: Site
) -> None:
    url = site.page("/", "<h1>Here</h1>")
    async with service.agent() as agent, service.agent() as other:
        await agent.call("goto", pageId="mine", url=url)
        await other.call("goto", pageId="others", url=url)
        waiting = sent(other, "w", "wait_for_selector", pageId="others", selector="#late")
        entry = service.entry("mine")
        page = service.window("mine")
        session = await page.context.new_cdp_session(page)
        crash = asyncio.create_task(session.send("Page.crash"))
        await become(lambda: entry.record.life.crashed)
        crash.cancel()  # nobody is left to answer it
        await other.call("evaluate_script", pageId="others", expression="document.querySelector('h1').id = 'late'")
        assert (await waiting).json()["success"] is True
        await become(page.is_closed)
        await other.call("set_session_headers", headers={"x-other": "1"}, affectOthers=True)
        assert (await agent.call("list_pages"))["yours"][0]["pageId"] == "mine"
        reply = (await agent.reply("click", pageId="mine", selector="h1")).json()
        assert reply["success"] is True
        assert "reopened" in str(reply["notices"])


async def test_a_page_that_fails_to_reopen_keeps_its_url_and_is_tried_again(
    service: RunningService, site: Site
) -> None:
    async with service.agent() as agent:
        with Site() as short_lived:
            url = short_lived.page("/", "<h1>Here</h1>")
            await agent.call("goto", pageId="p", url=url)
        await browser_dies(service)
        for _ in range(2):
            error = await agent.error("click", pageId="p", selector="h1")
            assert (error["status"], error["code"]) == (502, "BROWSER_CRASHED")
            assert f"{url} does not open again" in error["message"]
            assert 'goto {"pageId": "p", "url": "..."}' in error["hint"]
            assert (await agent.call("list_pages"))["yours"][0]["url"] == url
        await agent.call("goto", pageId="p", url=site.page("/", "<h1>Elsewhere</h1>"))
        await agent.call("click", pageId="p", selector="h1")


async def test_two_sessions_that_lost_their_browser_share_the_next_one_and_stay_apart(
    service: RunningService, agent: Agent, site: Site
) -> None:
    url = site.page("/apart", "<h1>Here</h1>")
    places = {"a1": "apart", "a2": "apart", "d1": DEFAULT_SESSION, "d2": DEFAULT_SESSION}

    async def cookies() -> list[object]:
        seen = [await agent.call("evaluate_script", pageId=page, expression="document.cookie") for page in places]
        return [each["value"] for each in seen]

    await agent.call("create_session", sessionId="apart")
    await asyncio.gather(*(agent.call("goto", pageId=page, sessionId=at, url=url) for page, at in places.items()))
    for page in ("a1", "d1"):
        cookie = f"document.cookie = 'who={places[page]}; path=/apart'"
        await agent.call("evaluate_script", pageId=page, expression=cookie)
    apart = [f"who={session}" for session in places.values()]
    assert await cookies() == apart
    await become(lambda: all("who" in str(service.session(s).logins.saved.get("cookies")) for s in places.values()))
    await browser_dies(service)
    await asyncio.gather(*(agent.call("get_page_title", pageId=page) for page in places))
    assert len(processes.browsers(service.settings.data_dir)) == 1
    assert await cookies() == apart
    assert {page["pageId"] for page in (await agent.call("list_pages"))["yours"]} == {*places}


class Losing:
    """A launcher of a Chromium in which the first windows never come, or close at once."""

    def __init__(self, windows: Windows, loses: Literal["window", "renderer"]) -> None:
        self._cdp = windows.cdp
        self._windows = windows
        self._loses = loses
        self.asked = 0

    async def send(self, method: str, params: dict[str, object]) -> object:
        assert self._cdp is not None
        self.asked += method == "Target.createTarget"
        if method != "Target.createTarget" or self.asked > 1:
            return await self._cdp.send(method, params)
        if self._loses == "renderer":
            self._windows.crashed({"targetId": "lost"})
        return {"targetId": "lost"}


@pytest.mark.parametrize("loses", ["window", "renderer"])
async def test_a_window_that_never_comes_is_asked_for_again_and_none_is_left_over(
    service: RunningService, site: Site, monkeypatch: pytest.MonkeyPatch, loses: Literal["window", "renderer"]
) -> None:
    retries = (0.5, 60.0) if loses == "window" else (60.0,)
    monkeypatch.setattr("browser_service.host.sessions.windows._RETRY_AFTER_S", retries)
    async with visiting(service) as agent:
        await agent.call("goto", pageId="p", url=site.page("/", "<h1>Here</h1>"))
        windows = service.session().windows
        assert windows is not None
        before = len(service.context().pages)
        losing = Losing(windows, loses)
        monkeypatch.setattr(windows, "cdp", losing)
        await agent.call("goto", pageId="again", url=site.url("/"))
        assert losing.asked == 2
        assert len(service.context().pages) == before + 1


def drivers_of(service: RunningService) -> list[psutil.Process]:
    """Return the drivers that are children of this process, except those of services that other tests share."""
    found = {processes.driver(service.settings.data_dir)}
    return [*found]
