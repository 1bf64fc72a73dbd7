"""Tests clients whose tokens are for some origins, on a real browser: they try to read and act elsewhere."""

import asyncio
import threading
from collections.abc import AsyncIterator
from secrets import token_hex

import pytest

from browse_together.contract import wire
from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Answer, Site
from tests.support.tokens import limited
from tests.support.waiting import become, found

pytestmark = pytest.mark.anyio
BANK = "<title>Bank</title><h1>Balance 4711</h1>"


@pytest.fixture
def bank(site: Site) -> str:
    """Return the address of another origin on the same server."""
    site.page("/bank", Answer(BANK, headers={"set-cookie": "login=ana-4711; Path=/; HttpOnly"}))
    return site.url("/bank", host="localhost")


@pytest.fixture
async def shopper(service: RunningService, site: Site, bank: str) -> AsyncIterator[Agent]:  # noqa: ARG001 - it is there
    name = f"shopper-{token_hex(3)}"  # whose activity has nothing of other tests
    async with limited(service, name, origins=[site.url("").rstrip("/")]) as agent:
        yield agent
        for page in (await agent.call("list_pages"))["yours"]:
            await agent.reply("close_page", pageId=page["pageId"])


def leaked(*replies: object) -> list[object]:
    return [reply for reply in replies if "4711" in str(reply) or "Bank" in str(reply)]


async def test_a_page_of_the_client_goes_nowhere_else_by_click_script_redirect_or_popup(
    shopper: Agent, site: Site, bank: str
) -> None:
    site.page("/away", Answer("", 302, headers={"location": bank}))
    links = f"<a id=link href='{bank}'>go</a><a id=hop href=/away>hop</a><a id=pop target=_blank href='{bank}'>p</a>"
    html = f"<h1>Shop</h1>{links}"
    url = site.page("/shop", html)
    ways: list[tuple[str, dict[str, AnyJson]]] = [
        ("click", {"selector": "#link"}),
        ("click", {"selector": "#hop"}),
        ("goto", {"url": site.url("/away")}),
        ("evaluate_script", {"expression": f"location.href = '{bank}'; 1"}),
        ("click", {"selector": "#pop"}),
    ]
    replies = []
    for name, arguments in ways:
        replies.append((await shopper.reply("goto", pageId="s", url=url)).json())
        assert replies[-1]["success"], replies[-1]  # also while the error page of what a script began comes
        replies.append((await shopper.reply(name, pageId="s", **arguments)).json())
    log: dict[str, AnyJson] = {"includeBodies": True, "includeHeaders": True}
    replies.append((await shopper.reply("get_network_log", pageId="s", **log)).json())
    replies.append((await shopper.reply("list_pages", all=True)).json())
    assert leaked(*replies) == []
    told = [notice["text"] for reply in replies for notice in reply["notices"]]
    assert any("your token is for" in text for text in told), told
    for page in replies[-1]["result"]["yours"]:
        assert page["url"] in {url, site.url("/shop"), "about:blank", ""} or page["url"].startswith("chrome-error:")
        seen = (await shopper.reply("snapshot", pageId=page["pageId"])).json()
        assert leaked(seen) == []


async def test_a_frame_from_elsewhere_stays_empty_in_its_own_pages_and_keeps_it_from_reading_anothers(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    url = site.page("/framed", f"<h1>Shop</h1><iframe id=f src='{bank}'></iframe>")
    await agent.call("goto", pageId="anas", url=url)
    assert leaked(await agent.call("snapshot", pageId="anas"))
    await agent.call("share_page", pageId="anas", access="act")
    for name, arguments in {
        "snapshot": {},
        "content": {"frame": "#f"},
        "screenshot": {},
        "evaluate_script": {"expression": "document.body.innerHTML", "frame": "#f"},
        "click": {"selector": "h1"},
    }.items():
        error = await shopper.error(name, pageId="anas", **arguments)
        assert (error["code"], "--origin" in error["message"], leaked(error)) == ("FORBIDDEN", True, []), name
    card = (await shopper.http.get(f"{wire.WALL_CARD}/anas")).json()
    assert (card["error"]["code"], leaked(card)) == ("FORBIDDEN", [])
    await shopper.call("goto", pageId="own", url=url)
    assert (await shopper.http.get(f"{wire.WALL_CARD}/own")).json()["result"]["frame"]["state"] == "live"
    own = await shopper.call("snapshot", pageId="own")
    assert "Shop" in str(own)
    adding = f"document.body.append(Object.assign(document.createElement('iframe'), {{src: '{bank}'}})); 1"
    await shopper.reply("evaluate_script", pageId="own", expression=adding)
    after = (await shopper.reply("snapshot", pageId="own")).json()
    assert leaked(own, after) == []


async def test_a_page_outside_the_origins_is_not_read_acted_on_or_revealed(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    await agent.call("goto", pageId="bank", url=bank)
    await agent.call("release_page", pageId="bank")
    attempts: dict[str, dict[str, AnyJson]] = {
        "get_current_url": {},
        "get_page_title": {},
        "content": {},
        "snapshot": {},
        "screenshot": {},
        "get_page_state": {},
        "get_network_log": {},
        "get_console_messages": {},
        "get_storage": {},
        "export_har": {},
        "wait_for_url": {"url": "*"},
        "claim_page": {"reason": "mine"},
        "goto": {"url": site.url("/x")},
        "close_page": {},
        "click": {"selector": "h1"},
        "share_page": {"access": "private"},
        "batch": {"steps": [{"action": "content"}, {"action": "get_page_title"}]},
    }
    for name, arguments in attempts.items():
        reply = (await shopper.reply(name, pageId="bank", **arguments)).json()
        assert (reply["success"], reply["error"]["code"]) == (False, "FORBIDDEN"), (name, reply)
        assert leaked(reply) == [], name
        assert bank.removesuffix("/bank") not in str(reply), name
    card = (await shopper.http.get(f"{wire.WALL_CARD}/bank")).json()
    assert (card["error"]["code"], bank.removesuffix("/bank") in str(card), leaked(card)) == ("FORBIDDEN", False, [])
    listed = await shopper.call("list_pages", all=True)
    (seen,) = [page for page in listed["others"] if page["pageId"] == "bank"]
    assert (seen["url"], seen["title"]) == ("", "")
    assert "/bank" not in str(await shopper.call("get_activity")) + (await shopper.http.get("/api/activity")).text
    assert (await agent.call("get_current_url", pageId="bank"))["url"] == bank


async def test_popups_count_as_pages_of_the_token(service: RunningService, site: Site) -> None:
    async with limited(service, "few", pages=2) as few:
        url = site.page("/opens", "<button onclick=\"window.open('/shop')\">Open</button>")
        await few.call("open_page", pageId="few", url=url)
        replies = [await few.reply("click", pageId="few", selector="button") for _ in range(3)]
        assert sorted(page["pageId"] for page in (await few.call("list_pages"))["yours"]) == ["few", "few~1"]
        assert "your token allows 2 pages (--pages)" in "".join(reply.text for reply in replies)
        for page_id in ("few~1", "few"):
            await few.call("close_page", pageId=page_id)


async def test_requests_of_a_page_are_followed_nowhere_else(shopper: Agent, site: Site, bank: str) -> None:
    site.page("/hop", Answer("", 302, headers={"location": bank, "access-control-allow-origin": "*"}))
    site.page("/bank", Answer(BANK, headers={"access-control-allow-origin": "*"}))
    await shopper.call("goto", pageId="s", url=site.page("/shop", "<h1>Shop</h1>"))
    error = await shopper.error("fetch", pageId="s", url=bank)
    assert error["details"]["context"]["rule"] == "--origin"
    hopped = (await shopper.reply("fetch", pageId="s", url="/hop")).json()
    assert hopped["success"], hopped
    assert leaked(hopped) == []
    assert "<h1>Shop</h1>" in (await shopper.call("fetch", pageId="s", url="/shop"))["body"]


async def test_a_pages_earlier_urls_are_in_no_log_of_its_requests(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    site.page("/shop", "<h1>Shop</h1>")
    await agent.call("goto", pageId="s", url=bank)
    await agent.call("goto", pageId="s", url=site.url("/shop"))
    await agent.call("release_page", pageId="s")
    logged = await shopper.call("get_network_log", pageId="s", format="records")
    assert [each["url"] for each in logged["requests"]] == [site.url("/shop")]
    archive = (await shopper.call("export_har", pageId="s"))["artifact"]
    har = (await shopper.http.get(f"{wire.FILES}/{archive['artifactId']}")).text
    assert (site.url("/shop") in har, bank in har) == (True, False)
    assert len((await agent.call("get_network_log", pageId="s", format="records"))["requests"]) > 1


async def test_going_back_to_another_clients_page_reveals_only_its_origin(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    site.page("/shop", "<h1>Shop</h1>")
    for url in (f"{bank}?pin=4711", site.url("/shop")):
        await agent.call("goto", pageId="s", url=url)
    await agent.call("release_page", pageId="s")
    await shopper.call("claim_page", pageId="s")
    replies = [(await shopper.reply("go_back", pageId="s")).json()]
    if not replies[0]["notices"]:
        listed = await found(lambda: shopper.reply("list_pages"), lambda reply: reply.json()["notices"])
        replies.append(listed.json())
    told = [notice["text"] for reply in replies for notice in reply["notices"]]
    assert f"s: {bank.removesuffix('/bank')} may not be opened and was blocked: your token is for" in told[0]
    assert leaked(*replies) == []
    assert "/bank" not in str(replies)


async def test_a_wait_for_a_request_does_not_reveal_where_the_page_went(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    url = site.page("/shop", "<h1>Shop</h1>")
    await agent.call("goto", pageId="anas", url=url)
    waiting = asyncio.create_task(shopper.reply("wait_for_request", pageId="anas", pattern="**/nothing", timeout=2_500))
    while not waiting.done():  # for 2.5 s
        await agent.call("goto", pageId="anas", url=bank)
        await agent.call("goto", pageId="anas", url=url)
    error = (await waiting).json()["error"]
    assert error["code"] in {"TIMEOUT", "FORBIDDEN"}  # the latter if the page is there in that moment
    assert "/bank" not in str(error)


async def test_a_video_ends_where_its_page_comes_elsewhere(shopper: Agent, agent: Agent, site: Site, bank: str) -> None:
    await shopper.call("goto", pageId="s", url=site.page("/shop", "<h1>Shop</h1>"))
    await shopper.call("record_video", pageId="s", command="start")
    await shopper.call("release_page", pageId="s")
    await agent.call("goto", pageId="s", url=bank)
    told = await found(lambda: shopper.reply("list_pages"), lambda reply: "The video of s is kept" in reply.text)
    assert "it ended because the page came to another origin" in told.text


async def test_nothing_is_done_on_a_shared_page_that_is_leaving(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    arrives = threading.Event()
    paid = "<p>Bank one</p><p>Bank two</p><button onclick=\"fetch('/paid')\">Pay</button>"
    site.page("/bank", Answer(paid, hold=arrives))
    url = site.page("/shop", f"<a href='{bank}'>bank</a>")
    await agent.call("goto", pageId="anas", url=url)
    await agent.call("share_page", pageId="anas", access="act")
    leaves = "setTimeout(() => document.querySelector('a').click(), 1000)"  # a click of the agent's waits for its end
    await agent.call("evaluate_script", pageId="anas", expression=leaves)
    await become(lambda: site.counts["/bank"] > 0)
    attempts = [asyncio.create_task(shopper.error("click", pageId="anas", selector=each)) for each in ("button", "p")]
    await asyncio.wait(attempts, timeout=1)
    arrives.set()
    for attempt in attempts:
        error = await attempt
        assert (error["code"], leaked(error)) == ("FORBIDDEN", [])
    assert site.counts["/paid"] == 0


async def test_an_error_does_not_reveal_where_its_page_went(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    site.page("/bank", "<p>Bank one</p><p>Bank two</p>")
    url = site.page("/shop", f"<script>setTimeout(() => {{ location = '{bank}' }}, 1500)</script>")
    await agent.call("goto", pageId="anas", url=url)
    await agent.call("share_page", pageId="anas", access="act")
    error = await shopper.error("click", pageId="anas", selector="p")
    assert (error["code"], leaked(error)) == ("FORBIDDEN", [])


async def test_a_client_without_such_a_limit_takes_its_page_anywhere_again(
    shopper: Agent, agent: Agent, site: Site, bank: str
) -> None:
    await shopper.call("goto", pageId="s", url=site.page("/shop", "<h1>Shop</h1>"))
    await shopper.call("release_page", pageId="s")
    await agent.call("goto", pageId="s", url=bank)
    assert leaked(await agent.call("content", pageId="s"))
