"""Tests popups: named before the reply, owned by who opened them, and quick to act on."""

import threading
import time

import pytest

from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

OPENERS = """<a id=blank target=_blank href=/popup>blank</a>
<button id=script onclick="window.open('/popup')">script</button>
<button id=sized onclick="window.open('/popup', '_blank', 'width=400,height=300')">sized</button>"""


@pytest.mark.parametrize("opener", ["#blank", "#script", "#sized"])
async def test_the_reply_of_the_click_names_the_popup_that_it_opened(agent: Agent, site: Site, opener: str) -> None:
    site.page("/popup", "<button onclick='document.title=\"clicked\"'>Inside</button>")
    await agent.call("goto", pageId="shop", url=site.page("/shop", OPENERS))
    result = await agent.call("click", pageId="shop", selector=opener)
    (popup,) = result["popups"]
    assert popup.startswith("shop~")
    assert f"popup {popup} opened" in result["observed"]
    await agent.call("click", pageId=popup, selector="text=Inside")
    assert (await agent.call("get_page_title", pageId=popup))["title"] == "clicked"


async def test_a_popup_that_no_act_opened_is_reported_to_its_openers_holder(
    service: RunningService, agent: Agent, site: Site
) -> None:
    site.page("/popup", "later")
    await agent.call("goto", pageId="shop", url=site.page("/shop", OPENERS))
    await service.window("shop").evaluate("void setTimeout(() => window.open('/popup'))")
    await become(lambda: service.has_news_for(agent))
    told = (await agent.reply("list_pages")).json()["notices"]
    assert [notice["text"] for notice in told] == ["shop opened the popup shop~1."]


async def test_a_popup_belongs_to_the_holder_of_its_opener(agent: Agent, other: Agent, site: Site) -> None:
    site.page("/popup", "<button>Inside</button>")
    await agent.call("goto", pageId="shop", url=site.page("/shop", OPENERS))
    (popup,) = (await agent.call("click", pageId="shop", selector="#script"))["popups"]
    error = await other.error("click", pageId=popup, selector="button")
    assert error["code"] == "PAGE_OWNED"


async def test_a_click_that_closes_its_popup_is_done_and_hints_name_what_is_open(agent: Agent, site: Site) -> None:
    sends = "fetch('/sent', {method: 'POST', keepalive: true}); window.close()"
    site.page("/popup", f'<button onclick="{sends}">Done</button>')
    site.page("/sent", "")
    await agent.call("goto", pageId="shop", url=site.page("/shop", OPENERS))
    (popup,) = (await agent.call("click", pageId="shop", selector="#script"))["popups"]
    there = 'snapshot {"pageId": "shop"}'
    done = await agent.call("click", pageId=popup, selector="button")
    assert f"the page closed. Its opener is open: {there}" in done["observed"]
    for _ in range(2):  # at once, and when all know of it
        error = await agent.error("click", pageId=popup, selector="button")
        assert (error["code"], there in error["hint"], "goto" in error["hint"]) == ("PAGE_NOT_FOUND", True, False)
    assert site.counts["/sent"] == 1
    await agent.call("close_page", pageId="shop")
    error = await agent.error("click", pageId=popup, selector="button")
    assert (there in error["hint"], 'goto {"pageId": "shop"' in error["hint"]) == (False, True)


async def test_a_click_that_closes_the_popup_that_its_page_opened_says_so(agent: Agent, site: Site) -> None:
    site.page("/popup", "Inside")
    opening = "<button id=open onclick=\"it = window.open('/popup')\">Open</button>"
    buttons = f'{opening}<button onclick="it.close()">Close</button>'
    await agent.call("goto", pageId="shop", url=site.page("/shop", buttons))
    (popup,) = (await agent.call("click", pageId="shop", selector="#open"))["popups"]
    closed = await agent.call("click", pageId="shop", selector="text=Close")
    assert closed["observed"] == f"popup {popup} closed"


@pytest.mark.thorough
async def test_popups_that_go_where_no_server_answers_are_waited_for_all_at_once(agent: Agent, site: Site) -> None:
    held = threading.Event()
    site.page("/popup", "")
    site.page("/held", Answer("late", hold=held))
    opens = "<button id=open onclick=\"(window.opened ??= []).push(window.open('/popup'))\">Open</button>"
    goes = "<button id=go onclick=\"opened.forEach(each => { each.location = '/held' })\">Go</button>"
    await agent.call("goto", pageId="shop", url=site.page("/shop", opens + goes))
    for _ in range(3):
        assert (await agent.call("click", pageId="shop", selector="#open"))["popups"]
    began = time.monotonic()
    try:
        await agent.call("click", pageId="shop", selector="#go")
        seconds = time.monotonic() - began
    finally:
        held.set()
    assert 5 <= seconds < 10  # each is waited for 5 s
