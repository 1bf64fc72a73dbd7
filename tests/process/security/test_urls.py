"""Tests where pages may go: decided on what a caller asks for, and again on what a browser makes of it."""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from tests.pure.security.test_urls import METADATA
from tests.support.service import Agent, RunningService, running_service, settings_for
from tests.support.site import Answer, Site
from tests.support.waiting import found


@pytest.fixture(scope="module")
async def proxied(tmp_path_factory: pytest.TempPathFactory, shared_site: Site) -> AsyncIterator[RunningService]:
    """Start a service whose browser sends every request, to whatever address, to the site, which sees what is
    requested."""
    settings = settings_for(
        tmp_path_factory.mktemp("proxied"), proxy=shared_site.url().rstrip("/"), url_blacklist=["*.denied.example"]
    )
    async with running_service(settings) as service:
        yield service


@pytest.fixture
async def visitor(proxied: RunningService) -> AsyncIterator[Agent]:
    """Return an agent whose pages are closed when it leaves."""
    async with proxied.agent() as agent:
        yield agent
        for page in (await agent.call("list_pages"))["yours"]:
            await agent.reply("close_page", pageId=page["pageId"])


async def arrive(visitor: Agent) -> None:
    """Go to the shop, again and again while Chromium's own page about a blocked navigation comes late and interrupts
    it."""
    await found(lambda: visitor.reply("goto", pageId="p", url=SHOP), lambda reply: reply.is_success)


def asked_for(site: Site, *hosts: str) -> list[str]:
    return [received.path for received in site.received if any(host in received.path for host in hosts)]


@pytest.mark.anyio
async def test_no_spelling_of_a_metadata_address_is_ever_requested(visitor: Agent, site: Site) -> None:
    site.page("/", "<title>reached</title>")
    await visitor.call("goto", pageId="p", url="http://shop.example/")
    assert asked_for(site, "shop.example") != []
    for url in METADATA:
        error = await visitor.error("goto", pageId="p", url=url)
        assert error["code"] == "FORBIDDEN", url
        error = await visitor.error("fetch", pageId="p", url=url)
        assert error["code"] == "FORBIDDEN", url
    assert asked_for(site, "169.254", "metadata", "fe80", "ec2", "a9fe") == []


@pytest.mark.anyio
async def test_a_redirect_to_a_metadata_address_is_not_followed(visitor: Agent, site: Site) -> None:
    site.page("/on", Answer("", 302, headers={"Location": "http://other.example/latest"}))
    site.page("/latest", "<title>reached</title>")
    site.page("/", "<h1>shop</h1>")
    await visitor.call("goto", pageId="p", url="http://shop.example/on")
    assert asked_for(site, "/latest") == ["http://other.example/latest"]
    for spelled in ("169.254.169.254", "2852039166", "0xA9FEA9FE", "[::ffff:a9fe:a9fe]"):
        site.page("/away", Answer("", 302, headers={"Location": f"http://{spelled}/latest"}))
        error = await visitor.error("goto", pageId="p", url="http://shop.example/away")
        assert error["code"] == "NAVIGATION_FAILED", spelled
        assert "ERR_BLOCKED_BY_CLIENT" in error["message"]
        assert "may not be opened" in error["hint"]
        await arrive(visitor)
    assert asked_for(site, "/latest") == ["http://other.example/latest"]


SHOP = "http://shop.example/"


@pytest.mark.anyio
async def test_a_blocked_navigation_is_reported_to_the_pages_holder(visitor: Agent, site: Site) -> None:
    site.page("/", "<a href='http://2852039166/latest'>go</a>")
    await visitor.call("goto", pageId="p", url=SHOP)
    told = (await visitor.reply("click", pageId="p", selector="a")).text
    if "was blocked" not in told:
        look = partial(visitor.reply, "get_current_url", pageId="p")
        told = (await found(look, lambda reply: "was blocked" in reply.text)).text
    assert "http://169.254.169.254/latest may not be opened" in told


@pytest.mark.anyio
async def test_a_fetch_redirected_to_a_denied_host_reveals_nothing_of_it(visitor: Agent, site: Site) -> None:
    allowed = {"Access-Control-Allow-Origin": "*"}
    for host, code in (("open.example", None), ("sub.denied.example", "FORBIDDEN")):
        site.page("/", "<title>shop</title>")
        site.page("/away", Answer("", 302, headers={"Location": f"http://{host}/latest", **allowed}))
        site.page("/latest", Answer("secret of the host", headers=allowed))
        await arrive(visitor)
        reply = await visitor.reply("fetch", pageId="p", url="/away")
        assert (reply.status_code == 200, "secret of the host" in reply.text) == (code is None, code is None)
        assert code is None or reply.json()["error"]["code"] == code
