"""Tests first calls for pages: what a refused one is told and offered, and that none leaves a page in vain."""

import asyncio
import json
import re

import pytest

from tests.support.json import AnyJson
from tests.support.service import Agent, RunningService
from tests.support.site import Site

pytestmark = pytest.mark.anyio


async def test_a_refusal_names_the_holder_by_its_label_and_nobodys_id(service: RunningService, site: Site) -> None:
    url = site.page("/cart", "<h1>Cart</h1>")
    async with (
        service.agent("Claude · shop", client_id="holder-7f3a") as holder,
        service.agent("Codex", client_id="caller-91bc") as caller,
    ):
        await holder.call("goto", pageId="cart", url=url)
        refusal = await caller.reply("fill", pageId="cart", selector="#a", value="1")
        error = refusal.json()["error"]
        assert (refusal.status_code, error["code"]) == (423, "PAGE_OWNED")
        assert '"Claude · shop"' in error["message"]
        assert refusal.json()["page"]["owner"] == {"label": "Claude · shop", "you": False}
        assert "holder-7f3a" not in refusal.text + str(refusal.headers)
        listing = await caller.reply("list_pages")
        assert [page["owner"]["label"] for page in listing.json()["result"]["others"]] == ["Claude · shop"]
        assert "holder-7f3a" not in listing.text
        await holder.call("close_page", pageId="cart")


async def test_the_call_that_a_refusal_offers_works_as_it_stands(agent: Agent, other: Agent, site: Site) -> None:
    url = site.page("/cart", '<a id="next" href="/cart?step=2#at-%22end%22">On</a>')
    await agent.call("goto", pageId="cart", url=f"{url}?q=a%22b&r=\\d")
    error = await other.error("click", pageId="cart", selector="#next")
    action, arguments = offered(error["hint"])
    reply = await other.reply(action, **arguments)
    assert reply.status_code == 200, reply.text
    assert reply.json()["page"]["owner"]["you"] is True
    assert reply.json()["page"]["pageId"] != "cart"
    assert reply.json()["page"]["url"] == f"{url}?q=a%22b&r=\\d"


async def test_a_refused_goto_is_offered_its_own_url_in_a_page_of_its_own(
    agent: Agent, other: Agent, site: Site
) -> None:
    await agent.call("goto", pageId="cart", url=site.page("/cart", "the cart"))
    wanted = site.page("/elsewhere", "elsewhere")
    error = await other.error("goto", pageId="cart", url=wanted)
    action, arguments = offered(error["hint"])
    assert (action, arguments) == ("open_page", {"url": wanted})
    assert (await other.reply(action, **arguments)).json()["page"]["url"] == wanted


async def test_a_refusal_offers_a_claim_with_a_reason_that_works(agent: Agent, other: Agent, site: Site) -> None:
    await agent.call("goto", pageId="cart", url=site.page("/cart", "<h1>Cart</h1>"))
    error = await other.error("reload_page", pageId="cart")
    action, arguments = offered(error["hint"].split("very page:")[1], "claim_page")
    assert arguments == {"pageId": "cart", "reason": "..."}
    await other.call(action, **arguments)
    await other.call("reload_page", pageId="cart")


async def test_first_calls_without_a_page_id_get_a_page_each(agent: Agent, other: Agent, site: Site) -> None:
    url = site.page("/new", "new")
    replies = await asyncio.gather(*(who.reply("goto", url=url) for who in (agent, other) for _ in range(5)))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.json()["page"]["pageId"] for reply in replies}) == 10
    assert len((await agent.call("list_pages"))["yours"]) == 5
    assert len((await other.call("list_pages"))["yours"]) == 5


async def test_a_first_call_that_may_not_go_there_leaves_no_page(agent: Agent) -> None:
    error = await agent.error("goto", pageId="nowhere", url="file:///etc/passwd")
    assert error["code"] == "FORBIDDEN"
    assert (await agent.call("list_pages"))["yours"] == []


async def test_a_page_that_nobody_opened_is_not_found_and_not_made(agent: Agent) -> None:
    error = await agent.error("click", pageId="ghost", selector="#a")
    assert (error["status"], error["code"]) == (404, "PAGE_NOT_FOUND")
    assert await agent.call("list_pages") == {"yours": [], "people": [], "others": [], "text": "No page is open."}


def offered(hint: str, action: str = "open_page") -> tuple[str, dict[str, AnyJson]]:
    """Return the call that a hint names, taken out of its text as a model would."""
    found = re.search(rf"{action} (\{{.*?\}})", hint)
    assert found is not None, hint
    return action, json.loads(found.group(1))
