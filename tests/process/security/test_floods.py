"""Tests pages that flood everybody with what they make happen: what can be left out is, and the others are stopped."""

import asyncio
import re
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio

EVENTS = 60
POPUPS = 3
FRAME = "const frame = document.createElement('iframe'); document.body.append(frame); frame.remove()"
FLOODS = {
    "errors of scripts": "setTimeout(() => { throw Error('x') })",
    "frames": FRAME,
    "workers": "new Worker(URL.createObjectURL(new Blob([''])))",
    "messages of the console": "console.log(i)",
}
AS_WELL = {"frames": "navigations"}
"""Comes with each of a kind, and may be the one too many."""
ENDLESS = "<body><script>setTimeout(() => setInterval(() => {{ for (let i = 0; i < 5; i++) {{ {0} }} }}), 100)</script>"


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Has budgets that a small flood crosses."""
    budgets = {"page_events_per_second": EVENTS, "page_popups": POPUPS}
    async with running_service(settings_for(tmp_path_factory.mktemp("data"), **budgets)) as running:
        yield running


async def stopped(agent: Agent, page_id: str, reply: httpx.Response) -> str:
    """Return what the page's holder is told when it is stopped, by the reply to a call there or by a later one."""
    async with asyncio.timeout(20):
        while True:
            for notice in reply.json()["notices"]:
                if notice["text"].startswith(f"{page_id} was stopped"):
                    return str(notice["text"])
            reply = await agent.reply("wait", pageId="own", duration=50)


@pytest.mark.parametrize("kind", FLOODS)
async def test_a_page_that_floods_is_stopped_and_its_holder_is_told_how_to_go_on(
    agent: Agent, other: Agent, site: Site, kind: str
) -> None:
    calm = site.page("/calm", "<button onclick='document.title = 1'>Go</button>")
    await other.call("goto", pageId="neighbour", url=calm)
    await agent.call("goto", pageId="own", url=calm)
    flood = site.page("/flood", ENDLESS.format(FLOODS[kind]))
    said = await stopped(agent, "loud", await agent.reply("goto", pageId="loud", url=flood, waitUntil="commit"))
    too_many = [each for each in (kind, AS_WELL.get(kind, kind)) if f"it made more {each} than" in said]
    assert too_many, said
    assert 'goto {"pageId": "loud", "url": "..."}' in said
    assert 'reload_page {"pageId": "loud"}' in said
    error = await agent.error("snapshot", pageId="loud")
    assert (error["code"], too_many[0] in error["message"]) == ("BROWSER_CRASHED", True), (
        "nobody starts it again unasked"
    )
    await other.call("click", pageId="neighbour", selector="button")
    assert (await agent.call("goto", pageId="loud", url=calm))["url"] == calm
    await agent.call("click", pageId="loud", selector="button")


async def test_endless_dialogs_that_are_answered_at_once_stop_the_page(agent: Agent, site: Site) -> None:
    await agent.call("goto", pageId="own", url=site.page("/calm", "calm"))
    await agent.call("goto", pageId="asks", url=site.page("/asks", "<button onclick='for (;;) alert(1)'>Go</button>"))
    await agent.call("set_dialog_policy", pageId="asks", policy="dismiss")
    clicked = await agent.reply("click", pageId="asks", selector="button", timeout=20_000)
    assert "it made more dialogs than" in clicked.text
    assert "it made more dialogs than" in await stopped(agent, "asks", clicked)


async def test_of_too_many_requests_the_rest_is_left_out_and_the_page_goes_on(agent: Agent, site: Site) -> None:
    site.page("/empty", Answer("", content_type="text/plain"))
    asks = "<button onclick='for (let i = 0; i < 200; i++) fetch(`/empty?${i}`)'>Go</button><input>"
    await agent.call("goto", pageId="p", url=site.page("/asks", asks))
    clicked = await agent.call("click", pageId="p", selector="button")
    assert "more requests within a second than are followed" in clicked["observed"]
    await agent.call("fill", pageId="p", selector="input", value="still there")
    async with asyncio.timeout(20):
        while site.counts["/empty"] < 200:
            await agent.call("wait", pageId="p", duration=100)
    listed: AnyJson = await agent.call("get_network_log", pageId="p")
    told = re.fullmatch(
        "after (.+) came requests that were not followed, because there were too many", listed["missing"]
    )
    assert told is not None
    later: AnyJson = await agent.call("get_network_log", pageId="p", since=int(told[1]) + 1)
    assert "missing" not in later


async def test_what_a_page_does_counts_once_however_many_sessions_look_on(agent: Agent, site: Site) -> None:
    for n in range(8):
        await agent.call("create_session", sessionId=f"s-{n}")
        await agent.call("goto", pageId=f"of-{n}", sessionId=f"s-{n}", url=site.page("/other", "other"))
    for n in range(20):
        arrived = await agent.call("goto", pageId="p", url=site.page(f"/{n}", "Hello"))
        assert arrived["status"] == 200
    assert (await agent.call("get_page_title", pageId="p"))["title"] == "/19"


SPINS = "<script>setTimeout(() => { for (;;); }, 50)</script>"
HOLDS = "<script>addEventListener('beforeunload', event => event.preventDefault())</script><button>Go</button>"
ASKS = "<script>setTimeout(() => { for (;;) alert('again') }, 50)</script>"


@pytest.mark.parametrize("html", [SPINS, HOLDS, ASKS])
@pytest.mark.parametrize("asked", [False, True])
async def test_a_page_that_holds_on_is_closed(
    agent: Agent, service: RunningService, site: Site, html: str, *, asked: bool
) -> None:
    await agent.reply("goto", pageId="p", url=site.page("/stays", html), waitUntil="commit")
    if html is HOLDS:
        await agent.call("click", pageId="p", selector="button")  # without a click nobody is asked
        asked = False  # or it may refuse
    window = service.window("p")
    gone = asyncio.Event()
    window.once("close", lambda _: gone.set())
    closed = await agent.call("close_page", pageId="p", runBeforeUnload=asked and html is SPINS)
    assert closed.get("closed") == "p", closed
    if not window.is_closed():
        await asyncio.wait_for(gone.wait(), 10)


async def test_a_click_opens_some_windows_and_not_all_that_it_wants(
    agent: Agent, service: RunningService, site: Site
) -> None:
    site.page("/popup", "popup")
    opens = "<button onclick='for (let i = 0; i < 20; i++) window.open(`/popup?${i}`)'>Go</button>"
    await agent.call("goto", pageId="shop", url=site.page("/opens", opens))
    clicked = await agent.call("click", pageId="shop", selector="button", timeout=30_000)
    assert clicked["observed"]
    async with asyncio.timeout(10):
        while not (popups := [each for each in service.host.pages if each.startswith("shop~")]):
            await agent.call("wait", pageId="shop", duration=100)
    assert len(popups) <= POPUPS
    assert len(service.context().pages) < 10


async def test_a_storage_that_lies_costs_nobody_anything(agent: Agent, site: Site) -> None:
    lie = "{value: {a: 'x'.repeat(5e7), getItem: () => 'x'.repeat(5e7)}}"
    lies = f"<script>Object.defineProperty(window, 'sessionStorage', {lie})</script>"
    await agent.call("goto", pageId="p", url=site.page("/lies", lies))
    error = await agent.error("get_storage", pageId="p", kind="session")
    assert "too large" in error["message"]
    await agent.call("close_page", pageId="p")
    assert "page p is open again" in (await agent.call("undo"))["observed"]


async def test_what_a_site_was_granted_ends_with_the_last_page_of_the_chat(
    agent: Agent, other: Agent, service: RunningService, site: Site
) -> None:
    state = "navigator.permissions.query({name: 'geolocation'}).then(found => found.state)"
    url = site.page("/map", "map")
    origin = site.url().rstrip("/")
    await agent.call("goto", pageId="mine", url=url)
    before = (await agent.call("evaluate_script", pageId="mine", expression=state))["value"]
    await agent.call("grant_permissions", permissions=["geolocation"], origin=origin)
    await service.host.idle_sweep.sweep()
    assert (await agent.call("evaluate_script", pageId="mine", expression=state))["value"] == "granted"
    await agent.call("close_page", pageId="mine")
    await service.host.idle_sweep.sweep()
    await other.call("goto", pageId="theirs", url=url)
    assert (await other.call("evaluate_script", pageId="theirs", expression=state))["value"] == before


MOVES = """<body><script>let n = 0; const far = 'x'.repeat(1e6); setTimeout(() => setInterval(() => {
    history.replaceState(0, '', '#' + n++ + far) }), 100)</script>"""


BUSY = """<body><button onclick="document.title = 'clicked'">Go</button><script>
    for (let i = 0; i < 300; i++) { fetch(`/empty?${i}`); console.log(i); document.body.append(`row ${i}`) }
    let n = 0; setInterval(() => { history.replaceState(0, '', `#${n++}`); console.log(n) }, 50)</script>"""


@pytest.fixture(scope="module")
async def unmetered(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    """Has budgets that nothing crosses, so that only the watch on its browser's answers is left."""
    settings = settings_for(tmp_path_factory.mktemp("data"), page_events_per_second=1_000_000_000)
    async with running_service(settings) as running:
        yield running


async def test_a_page_that_loads_much_and_goes_on_changing_is_never_ended(
    unmetered: RunningService, site: Site
) -> None:
    site.page("/empty", Answer("", content_type="text/plain"))
    url = site.page("/busy", BUSY)
    async with unmetered.agent("a") as agent:
        for _ in range(2):
            await agent.call("goto", pageId="app", url=url)
            await agent.call("click", pageId="app", selector="button")
        said = (await agent.reply("wait", pageId="app", duration=500)).json()
        assert "was stopped" not in str(said)
        assert "clicked" in (await agent.call("evaluate_script", pageId="app", expression="document.title"))["value"]


async def test_a_page_whose_flood_lets_nothing_through_that_could_be_counted_keeps_nobody_from_acting(
    unmetered: RunningService, site: Site
) -> None:
    calm = site.page("/calm", "<button onclick='document.title = 1'>Go</button>")
    async with unmetered.agent("a") as agent, unmetered.agent("b") as other:
        await other.call("goto", pageId="neighbour", url=calm)
        await agent.reply("goto", pageId="loud", url=site.page("/moves", MOVES), waitUntil="commit")
        for _ in range(5):
            await other.call("click", pageId="neighbour", selector="button")
        await agent.call("close_page", pageId="loud")
