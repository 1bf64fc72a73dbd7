"""Tests the end of a page: whoever closes it, it is gone from the browser, and no later page of its name with it."""

import asyncio

import pytest
from playwright.async_api import Page

from browser_service.host.record.settings import PageSettings
from tests.support.listening import sent
from tests.support.service import Agent, RunningService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

OPENER = "<button onclick=\"window.open('/popup')\">open</button>"
ASKING = "<button>b</button><script>onbeforeunload = event => event.preventDefault()</script>"


def windows(service: RunningService) -> list[Page]:
    """Return the pages that the browser has."""
    context = service.context()
    return list(context.pages)


def live(service: RunningService, page_id: str) -> Page:
    return service.window(page_id)


# --- late ends -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["by itself", "by a cancel"])
async def test_a_wait_that_outlives_its_page_does_not_take_a_new_page_of_the_same_name(
    service: RunningService, agent: Agent, site: Site, end: str
) -> None:
    url = site.page("/", "<button onclick='document.title = \"clicked\"'>b</button>")
    await agent.call("goto", pageId="shop", url=url)
    waiting = sent(agent, "w", "wait", pageId="shop", duration=2_000 if end == "by itself" else 60_000)
    await become(lambda: f"{agent.client_id}/w" in service.running_calls())
    await agent.call("close_page", pageId="shop")
    await agent.call("goto", pageId="shop", url=url)
    if end == "by a cancel":
        await agent.call("cancel_call", callId="w")
    await waiting
    assert [page["pageId"] for page in (await agent.call("list_pages"))["yours"]] == ["shop"]
    await agent.call("click", pageId="shop", selector="button")
    assert (await agent.call("get_page_title", pageId="shop"))["title"] == "clicked"


async def test_a_call_that_is_cancelled_while_its_window_is_prepared_leaves_no_window_and_no_page(
    service: RunningService, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await agent.call("open_page", pageId="shop")
    await agent.call("close_page", pageId="shop")
    before, preparing = {*windows(service)}, asyncio.Event()

    async def attach(*_: object, **__: object) -> None:
        preparing.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(PageSettings, "attach", attach)
        opening = sent(agent, "o", "open_page", pageId="other")
        async with asyncio.timeout(PATIENCE_S):
            await preparing.wait()
        assert {*windows(service)} > before
        (call_id,) = (each for each in service.running_calls() if each.startswith(f"{agent.client_id}/o"))
        await service.host.cancel(call_id)
        assert (await opening).json()["error"]["code"] == "CANCELLED"
    await become(lambda: {*windows(service)} == before)
    assert (await agent.call("list_pages"))["yours"] == []


# --- gone from the browser -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run_before_unload", [True, False])
async def test_a_page_that_asks_before_it_goes_is_gone_from_the_browser_when_its_close_is_answered(
    service: RunningService, agent: Agent, site: Site, *, run_before_unload: bool
) -> None:
    await agent.call("goto", pageId="asks", url=site.page("/", ASKING))
    await agent.call("click", pageId="asks", selector="button")
    page = live(service, "asks")
    await agent.call("close_page", pageId="asks", runBeforeUnload=run_before_unload)
    if run_before_unload:
        await agent.call("handle_dialog", pageId="asks", accept=True)
    assert page not in windows(service)
    assert page.is_closed()
    assert (await agent.call("list_pages"))["yours"] == []


async def test_the_holder_of_a_popup_that_closes_itself_is_told(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/popup", "<button onclick='window.close()'>close</button>")
    await agent.call("goto", pageId="shop", url=site.page("/", OPENER))
    (popup,) = (await agent.call("click", pageId="shop", selector="button"))["popups"]
    page = live(service, popup)
    reply = (await agent.reply("click", pageId=popup, selector="button")).json()
    await become(lambda: popup not in {page.page_id for page in service.known_pages()})
    assert page not in windows(service)
    listed = (await agent.reply("list_pages")).json()
    assert [page["pageId"] for page in listed["result"]["yours"]] == ["shop"]
    told = [notice["text"] for notice in (*reply["notices"], *listed["notices"])]
    assert told == [f"{popup} was closed in the browser."]
    await agent.call("click", pageId="shop", selector="button")


# --- with its session ------------------------------------------------------------------------------------------------


async def test_a_window_that_comes_while_its_session_is_closed_goes_with_it(
    service: RunningService, agent: Agent, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await agent.call("create_session", sessionId="brief")
    await agent.call("goto", pageId="shop", sessionId="brief", url=site.page("/", OPENER))
    context, logins = service.context("brief"), service.session("brief").logins
    save = logins.save

    async def save_slowly(*, with_storage: bool = False) -> None:
        late = await context.new_page()  # as a popup does whose opener is closed already
        for _ in range(20):  # in these messages others would have been taken on
            await late.evaluate("1")
        await save(with_storage=with_storage)

    monkeypatch.setattr(logins, "save", save_slowly)
    await agent.call("close_session", sessionId="brief")
    await service.parts.feeds.drain()
    assert service.host.pages == {}
    assert (await agent.call("list_pages", all=True))["people"] == []
