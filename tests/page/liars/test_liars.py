"""Tests that what a reply says is true: pages that mislead, asked afterwards what they show, and their server what it
got."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import pytest
from websockets.asyncio.server import ServerConnection, serve

from browser_service.host.tabs import observation
from tests.page.liars.pages import CANNOT, HITS, LIARS, Liar
from tests.support.service import RunningService
from tests.support.site import Answer, Site
from tests.support.tab import Tab
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

IMPATIENT_MS = 700
"""Time limit of calls that fail; successful ones are faster."""
PATIENT_MS = 3_000


@pytest.fixture(scope="module")
def own_site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="module")
async def page(service: RunningService, own_site: Site) -> AsyncIterator[Tab]:
    """Return one page for all of these tests."""
    async with service.agent() as agent:
        yield Tab(agent, own_site)
        await agent.call("close_page", pageId="tab")


@pytest.fixture
def tab(page: Tab) -> Tab:
    page.site.reset()
    for path, status in {"/there": 200, "/sent": 200, "/fails": 500, "/refuses": 409, "/empty": 204}.items():
        page.site.page(path, Answer("" if status == 204 else "answer", status=status))
    return page


async def _ref(tab: Tab, what: str) -> str:
    tree = (await tab.call("snapshot"))["snapshot"]
    return str(next(line for line in tree.splitlines() if what in line).split(what)[1].split("[ref=")[1].split("]")[0])


@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: liar.name)
async def test_the_reply_says_the_truth(tab: Tab, liar: Liar) -> None:
    await tab.show(HITS + liar.html)
    selector = await _ref(tab, liar.selector[1:]) if liar.selector.startswith("@") else liar.selector
    if liar.then:
        await tab.sees(f"({liar.then}, 0)")
    arguments = {"selector": selector, "timeout": IMPATIENT_MS if liar.error else PATIENT_MS, **liar.given}
    reply = (await tab.agent.reply(liar.act, **arguments)).json()
    said = json.dumps(reply.get("error") or reply["result"], ensure_ascii=False).replace('\\"', '"')
    for expression, expected in liar.truth.items():
        assert await tab.sees(expression) == expected, said
    assert {path: tab.site.counts[path] for path in liar.server} == liar.server, said
    assert (reply["success"], reply.get("error", {}).get("code", "")) == (not liar.error, liar.error), said
    for words in liar.says:
        assert words in said, said
    for words in liar.never:
        assert words not in said, said
    if liar.error:
        assert reply["error"]["hint"], said


async def test_a_field_that_the_answer_by_a_websocket_empties_is_no_success(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observation, "_SOCKET_S", PATIENCE_S)

    async def answer(socket: ServerConnection) -> None:
        async for _ in socket:
            await asyncio.sleep(0.02)  # as long as a near server takes
            await socket.send("no")

    async with serve(answer, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        await tab.show(
            f"<input id=b><script>const s = new WebSocket('{url}');"
            "s.onmessage = () => b.value = ''; b.oninput = () => s.send('?')</script>"
        )
        await tab.sees("new Promise(then => s.readyState === 1 ? then() : s.addEventListener('open', then))")
        error = await tab.error("fill", selector="#b", value="kettle", timeout=IMPATIENT_MS)
        assert (error["code"], "shows ''" in error["message"]) == (CANNOT, True)
