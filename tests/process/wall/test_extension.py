"""Tests the extension in a person's browser with windows: groups in the tab strip, and tabs given by dragging."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Worker, async_playwright
from websockets.asyncio.server import ServerConnection, serve

import browser_service
from browse_together.contract.wire import EXTENSION_ORIGIN
from browser_service.security.auth import Identity
from browser_service.spine.attached import Attached
from tests.support.extension import pairing_link
from tests.support.json import AnyJson
from tests.support.listening import connected, listening, present
from tests.support.persons import Persons
from tests.support.screen import screen
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, found

pytestmark = pytest.mark.anyio

_FOLDER = Path(browser_service.__file__).parent / "extension"
_STRIP = """async () => {
  const named = new Map((await chrome.tabGroups.query({})).map(({ id, title, color }) => [id, [title, color]]));
  const pages = (await chrome.debugger.getTargets()).filter(({ type, tabId }) => type === "page" && tabId);
  const tabs = await Promise.all(pages.map(async ({ tabId, url }) => [url, await chrome.tabs.get(tabId)]));
  const shown = ({ id, groupId }) => ({ id, groupId, group: named.get(groupId) ?? null });
  return tabs.map(([url, tab]) => [new URL(url).pathname, shown(tab)]);
}"""

_DRAG = """async ([id, groupId]) => {
  await (groupId ? chrome.tabs.group({ tabIds: [id], groupId }) : chrome.tabs.ungroup(id));
  await chrome.tabs.update(id, { active: true }); // as one that is dragged is
}"""


_COME_INTO = """async ([url, groupId]) => {
  const { id } = await chrome.tabs.create({ url, active: false });
  await chrome.tabs.group({ tabIds: [id], groupId });
}"""


@dataclass
class Strip:
    """The tab strip, as the extension's own interfaces tell and change it."""

    worker: Worker

    async def tabs(self) -> dict[str, dict[str, AnyJson]]:
        """Return each tab by its path: its id, its groupId, and its group's name and colour."""
        return dict(await self.worker.evaluate(_STRIP))

    async def group(self, path: str) -> list[str] | None:
        """Return the name and colour of the group that a tab is in."""
        group: list[str] | None = (await self.tabs())[path]["group"]
        return group

    async def drag(self, path: str, beside: str | None) -> None:
        """Move a tab into the group of another, or out of its own."""
        tabs = await self.tabs()
        tab, group = tabs[path]["id"], tabs[beside]["groupId"] if beside else None
        await self.worker.evaluate(_DRAG, [tab, group])

    async def open_beside(self, url: str, beside: str) -> None:
        """Open a tab in the group of another, as a browser does for a link."""
        await self.worker.evaluate(_COME_INTO, [url, (await self.tabs())[beside]["groupId"]])

    async def badge(self) -> str:
        return str(await self.worker.evaluate("chrome.action.getBadgeText({})"))


async def become(look: Callable[[], Awaitable[object]], expected: object) -> None:
    """Wait until a look finds what is expected."""
    await found(look, lambda seen: seen == expected)


@pytest.fixture(scope="module")
async def persons(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Persons]:
    with screen() as display:
        browser = Persons(tmp_path_factory.mktemp("persons"), display=display, extension=_FOLDER)
        try:
            await browser.ready()
            yield browser
        finally:
            browser.end()


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory, persons: Persons) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("data"), cdp_url=persons.url) as service:
        yield service


@pytest.fixture(scope="module")
async def own(persons: Persons) -> AsyncIterator[BrowserContext]:
    """Return the person's browser as no service sees it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(persons.url, no_defaults=True)
        yield browser.contexts[0]
        await browser.close()


@pytest.fixture(scope="module")
async def strip(running: RunningService, own: BrowserContext) -> Strip:
    """Pair the extension by its link, as a person opens it."""
    link = (await pairing_link(running)).json()["result"]["url"]
    page = await own.new_page()
    await page.goto(link)
    await page.get_by_role("heading", name="Paired", exact=True).wait_for()
    assert page.url == f"{EXTENSION_ORIGIN}/pair.html", "the code is no longer in the address"
    (worker,) = own.service_workers
    return Strip(worker)


async def outcome(agent: Agent, page_id: str) -> str:
    """Return the code with which a click is refused; empty if it is done."""
    reply = (await agent.reply("click", pageId=page_id, selector="button")).json()
    return "" if reply["success"] else str(reply["error"]["code"])


async def test_each_agents_tabs_stand_in_its_group_and_dragging_them_gives_them_to_others(
    running: RunningService, strip: Strip, site: Site
) -> None:
    async with (
        connected(running, "c-1", "Claude") as claude,
        connected(running, "c-2", "Codex") as codex,
        present(running, claude),
        present(running, codex),
    ):
        for agent, name in ((claude, "mine"), (codex, "yours")):
            url = site.page(f"/{name}", f"<title>{name}</title><button>b</button>")
            await agent.call("goto", pageId=name, url=url)
        first, second = (running.parts.colours.known(each) for each in ("c-1", "c-2"))
        assert first != second
        await become(lambda: strip.group("/mine"), ["Claude", first])
        await become(lambda: strip.group("/yours"), ["Codex", second])

        await strip.drag("/mine", beside="/yours")
        await become(lambda: outcome(codex, "mine"), "")
        assert await outcome(claude, "mine") == "PAGE_OWNED"
        assert await strip.group("/mine") == ["Codex", second]

        await strip.drag("/yours", beside=None)
        await become(lambda: outcome(codex, "yours"), "HUMAN_IN_CONTROL")
        await strip.drag("/yours", beside="/mine")
        await become(lambda: outcome(codex, "yours"), "")
        assert await outcome(codex, "mine") == "", "it works behind the other tab"

        await codex.call("hand_over_page", pageId="mine", to="Claude")
        await become(lambda: strip.group("/mine"), ["Claude", first])

        await become(strip.badge, "")
        asked = await codex.call("request_human", pageId="yours", kind="other", message="Help.", timeout=1)
        await become(strip.badge, "1")
        await codex.call("request_human", pageId="yours", requestId=asked["requestId"], withdraw=True)
        await become(strip.badge, "")


async def test_a_persons_tab_is_shared_by_dragging_it_into_an_agents_group_and_taken_back_by_dragging_it_out(
    running: RunningService, strip: Strip, own: BrowserContext, site: Site
) -> None:
    taxes = await own.new_page()
    await taxes.goto(site.page("/taxes", "<title>Taxes</title><button>b</button>"))
    async with connected(running, "c-3", "Mail") as mail, present(running, mail):
        await mail.call("goto", pageId="inbox", url=site.page("/inbox", "inbox"))

        async def shared() -> list[str]:
            listed = (await mail.call("list_pages"))["yours"]
            return [page["pageId"] for page in listed if page["url"] == taxes.url]

        await become(lambda: strip.group("/inbox"), ["Mail", running.parts.colours.known("c-3")])
        assert await shared() == []
        await strip.drag("/taxes", beside="/inbox")
        await become(shared, ["taxes"])
        await mail.call("click", pageId="taxes", selector="button")
        await strip.drag("/taxes", beside=None)
        await become(shared, [])
        assert (await mail.error("click", pageId="taxes", selector="button"))["code"] == "PAGE_NOT_FOUND"
        assert not taxes.is_closed()

        asked = await mail.call("request_human", kind="tab", message="The taxes.", timeout=1)
        await strip.drag("/taxes", beside="/inbox")
        answered = await mail.call("request_human", pageId="tab", requestId=asked["requestId"])
        assert answered["observed"]
        assert await shared() == ["taxes"]

        await strip.open_beside(site.page("/receipt", "<title>Receipt</title>"), beside="/taxes")
        await become(lambda: strip.group("/receipt"), None)
        assert site.url("/receipt") not in str(await mail.call("list_pages", all=True)), "nobody dragged it there"


async def test_a_tab_that_is_dragged_again_while_its_last_move_is_still_being_done_stays_there(
    running: RunningService, strip: Strip, own: BrowserContext, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, held = asyncio.Event(), asyncio.Event()
    unshare = Attached.unshare

    async def slow(self: Attached, tab_id: str, by: Identity) -> None:
        begun.set()
        await held.wait()
        await unshare(self, tab_id, by)

    fees = await own.new_page()
    await fees.goto(site.page("/fees", "<title>Fees</title>"))
    async with connected(running, "c-4", "Bank") as bank, present(running, bank):
        await bank.call("goto", pageId="account", url=site.page("/account", "account"))
        await become(lambda: strip.group("/account"), ["Bank", running.parts.colours.known("c-4")])

        async def is_shared() -> bool:
            return fees.url in str((await bank.call("list_pages"))["yours"])

        await strip.drag("/fees", beside="/account")
        await become(is_shared, expected=True)
        monkeypatch.setattr(Attached, "unshare", slow)
        await strip.drag("/fees", beside=None)
        await asyncio.wait_for(begun.wait(), PATIENCE_S)
        await strip.drag("/fees", beside="/account")
        await strip.worker.evaluate(
            "new Promise(done => setTimeout(done, 500))"
        )  # the extension's own timer ends before
        held.set()
        await become(lambda: strip.group("/fees"), ["Bank", running.parts.colours.known("c-4")])
        await become(is_shared, expected=True)


async def test_another_program_at_the_services_address_gets_no_token(strip: Strip, own: BrowserContext) -> None:
    heard: list[str] = []
    kept = {"type": "paired", "id": "id", "key": "the service's alone", "token": "secret"}

    async def answer(connection: ServerConnection) -> None:
        async for text in connection:
            heard.append(json.loads(text)["type"])
            await connection.send(json.dumps(kept if heard[-1] == "pair" else {"type": "proof", "proof": "0" * 64}))

    async with serve(answer, "127.0.0.1", 0) as impostor:
        port = impostor.sockets[0].getsockname()[1]
        page = await own.new_page()
        await page.goto(f"{EXTENSION_ORIGIN}/pair.html#ws://127.0.0.1:{port}/extension#code")
        await page.get_by_role("heading", name="Paired", exact=True).wait_for()
        await become(strip.badge, "!")
    assert {*heard} == {"pair", "hello"}
