"""Tests pages that flood everybody with events: they are ordinary ones, until one blocks everybody and is ended."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = [pytest.mark.anyio, pytest.mark.whole_browser, pytest.mark.long]

POPUPS = 3


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with running_service(settings_for(tmp_path_factory.mktemp("data"), page_popups=POPUPS)) as running:
        yield running


MOVES = """<body><script>for (let i = 0; i < 40; i++) document.body.insertAdjacentHTML('beforeend',
    '<iframe src=/empty></iframe>'); onload = () => setInterval(() => { for (let i = 0; i < 2000; i++)
    frames[i % 40].history.pushState(0, '', '#' + i) })</script>"""


async def test_a_page_that_blocks_the_browser_is_ended_and_its_holder_learns_how_to_continue(
    agent: Agent, other: Agent, site: Site
) -> None:
    site.page("/empty", "")
    calm = site.page("/calm", "<button onclick='document.title = 1'>Go</button>")
    await other.call("goto", pageId="neighbour", url=calm)
    await agent.call("goto", pageId="own", url=calm)
    reply = await agent.reply("goto", pageId="loud", url=site.page("/moves", MOVES), waitUntil="commit")
    said = await stopped(agent, "loud", reply)
    assert "it kept the browser from answering" in said
    assert 'goto {"pageId": "loud", "url": "..."}' in said
    assert 'reload_page {"pageId": "loud"}' in said
    error = await agent.error("snapshot", pageId="loud")
    assert (error["code"], "kept the browser" in error["message"]) == ("BROWSER_CRASHED", True), (
        "nobody starts it again"
    )
    await other.call("click", pageId="neighbour", selector="button")
    assert (await agent.call("goto", pageId="loud", url=calm))["url"] == calm
    await agent.call("click", pageId="loud", selector="button")


async def stopped(agent: Agent, page_id: str, reply: httpx.Response) -> str:
    """Return what the holder of an ended page learns, from the reply to a running call or a later one."""
    async with asyncio.timeout(240):  # 2 s of work take half a minute on a machine of its own
        while True:
            for notice in reply.json()["notices"]:
                if notice["text"].startswith(f"{page_id} was stopped"):
                    return str(notice["text"])
            reply = await agent.reply("wait", pageId="own", duration=50)


LOUD = {
    "frames": "const one = document.createElement('iframe'); document.body.append(one); one.remove()",
    "errors": "setTimeout(() => { throw Error('x') })",
    "messages": "console.log(i)",
    "requests": "fetch('/empty?' + i)",
    "scripts that fail": "document.body.append(Object.assign(document.createElement('script'), {src: '/broken?' + i}))",
}
A_WHILE = (
    "<body><button onclick='document.title = 1'>Go</button><script>for (let i = 0; i < 300; i++) {{ {0} }}</script>"
)


@pytest.mark.parametrize("kind", LOUD)
async def test_a_page_that_makes_many_things_at_once_is_an_ordinary_page(agent: Agent, site: Site, kind: str) -> None:
    site.page("/empty", Answer("", content_type="text/plain"))
    site.page("/broken", Answer("{{{", content_type="text/javascript"))
    url = site.page("/loud", A_WHILE.format(LOUD[kind]))
    for _ in range(2):
        assert (await agent.call("goto", pageId="p", url=url))["status"] == 200
    await agent.call("click", pageId="p", selector="button")
    assert (await agent.call("get_page_title", pageId="p"))["title"] == "1"


async def test_endless_dialogs_block_nobody_else(agent: Agent, other: Agent, site: Site) -> None:
    await other.call("goto", pageId="neighbour", url=site.page("/calm", "<button>Go</button>"))
    await agent.call("goto", pageId="asks", url=site.page("/asks", "<button onclick='for (;;) alert(1)'>Go</button>"))
    await agent.call("set_dialog_policy", pageId="asks", policy="dismiss")
    clicking = asyncio.ensure_future(agent.reply("click", pageId="asks", selector="button", timeout=2_000))
    for _ in range(5):
        await other.call("click", pageId="neighbour", selector="button", timeout=60_000)
    assert len((await clicking).text) < 10_000
    assert (await agent.call("close_page", pageId="asks"))["closed"] == "asks"


async def test_all_of_many_requests_are_heard_and_the_page_goes_on(agent: Agent, site: Site) -> None:
    site.page("/empty", "")
    asks = """<input><button>Go</button><script>document.querySelector('button').onclick = () => {
        for (let i = 0; i < 400; i++) fetch(`/empty?${i}`)
        const last = new XMLHttpRequest(); last.open('GET', '/empty', false); last.send() }</script>"""
    await agent.call("goto", pageId="p", url=site.page("/asks", asks))
    await agent.call("click", pageId="p", selector="button")
    await agent.call("fill", pageId="p", selector="input", value="still there")
    await become(lambda: site.counts["/empty"] >= 401)
    listed: AnyJson = await agent.call("get_network_log", pageId="p", pattern="**/empty*", limit=1)
    assert listed["matching"] == 401


async def test_a_pages_work_counts_once_for_any_number_of_sessions(agent: Agent, site: Site) -> None:
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
        await asyncio.wait_for(gone.wait(), PATIENCE_S)


async def test_a_click_opens_some_windows_and_not_all_that_it_wants(
    agent: Agent, service: RunningService, site: Site
) -> None:
    site.page("/popup", "popup")
    opens = "<button onclick='for (let i = 0; i < 20; i++) window.open(`/popup?${i}`)'>Go</button>"
    await agent.call("goto", pageId="shop", url=site.page("/opens", opens))
    clicked = await agent.call("click", pageId="shop", selector="button", timeout=30_000)
    assert clicked["observed"]

    def popups() -> list[str]:
        return [each for each in service.host.pages if each.startswith("shop~")]

    await become(popups)
    assert len(popups()) <= POPUPS
    assert len(service.context().pages) < 10


async def test_a_lying_storage_costs_nobody_anything(agent: Agent, site: Site) -> None:
    lie = "{value: {a: 'x'.repeat(5e7), getItem: () => 'x'.repeat(5e7)}}"
    lies = f"<script>Object.defineProperty(window, 'sessionStorage', {lie})</script>"
    await agent.call("goto", pageId="p", url=site.page("/lies", lies))
    assert (await agent.call("get_storage", pageId="p", kind="session"))["items"] == {}
    assert (await agent.call("close_page", pageId="p"))["closed"] == "p"


async def test_a_sites_permissions_end_with_the_chats_last_page(
    agent: Agent, other: Agent, service: RunningService, site: Site
) -> None:
    state = "navigator.permissions.query({name: 'geolocation'}).then(found => found.state)"
    url = site.page("/map", "map")
    origin = site.url().rstrip("/")
    await agent.call("goto", pageId="mine", url=url)
    before = (await agent.call("evaluate_script", pageId="mine", expression=state))["value"]
    await agent.call("grant_permissions", permissions=["geolocation"], origin=origin)
    await service.host.room.sweep()
    assert (await agent.call("evaluate_script", pageId="mine", expression=state))["value"] == "granted"
    await agent.call("close_page", pageId="mine")
    await service.host.room.sweep()
    await other.call("goto", pageId="theirs", url=url)
    assert (await other.call("evaluate_script", pageId="theirs", expression=state))["value"] == before
