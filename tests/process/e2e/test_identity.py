"""Tests who a chat is: itself, whatever it is called, and still itself after its gateway was killed."""

import re
from typing import cast

import psutil
import pytest
from mcp import Client
from mcp.types import CallToolResult, RequestParamsMeta

from examples.processes import ServiceProcess
from tests.support.gateways import chat, text_of
from tests.support.site import Site

pytestmark = pytest.mark.anyio

HTML = "<button id=b onclick='window.hits = (window.hits || 0) + 1'>b</button>"


def gateway_of(client_id: str) -> psutil.Process:
    """Return the gateway process of a chat that this process has started."""
    return next(child for child in psutil.Process().children() if child.environ().get("BROWSE_CLIENT_ID") == client_id)


async def test_two_chats_of_one_name_are_two_owners(plain: ServiceProcess, site: Site) -> None:
    url = site.page("/", HTML)
    async with chat(plain, "Goose") as one, chat(plain, "Goose") as two:
        await one.call_tool("goto", {"pageId": "ones", "url": url})
        refused = await two.call_tool("click", {"pageId": "ones", "selector": "#b"})
        assert re.match(r'PAGE_OWNED: "ones" is in use by "Goose( 2)?" ', text_of(refused)), "whoever came first"
        assert not (await one.call_tool("click", {"pageId": "ones", "selector": "#b"})).is_error


@pytest.mark.own_start
async def test_a_killed_gateway_that_comes_back_with_its_chats_id_is_the_same_owner_at_once(
    plain: ServiceProcess, site: Site
) -> None:
    url = site.page("/", HTML)
    async with chat(plain, "Claude", BROWSE_CLIENT_ID="chat-7") as before:
        await before.call_tool("goto", {"pageId": "kept", "url": url})
        gateway_of("chat-7").kill()
    async with chat(plain, "Claude", BROWSE_CLIENT_ID="chat-7") as after, chat(plain, "Claude") as stranger:
        clicked = await after.call_tool("click", {"selector": "#b"})
        assert not clicked.is_error, text_of(clicked)
        assert (await stranger.call_tool("click", {"pageId": "kept", "selector": "#b"})).is_error
        hits = await after.call_tool("evaluate_script", {"expression": "window.hits"})
        assert text_of(hits).splitlines()[0] == "1"


ONE, TWO = "dm9uIGVpbnM/Pg==", "dm9uIHp3ZWk/Pg=="
"""Ids as VS Code makes them: base64, with characters that no client id may have."""


async def call(host: Client, conversation: str, tool: str, **arguments: str) -> CallToolResult:
    """Call as VS Code does: all of its conversations through one gateway, each under its name."""
    meta = cast("RequestParamsMeta", {"vscode.conversationId": conversation})
    return await host.call_tool(tool, {**arguments}, meta=meta)


async def test_the_conversations_of_one_host_are_owners_of_their_own(plain: ServiceProcess, site: Site) -> None:
    url = site.page("/", HTML)
    async with chat(plain, "Code") as host:
        opened = [text_of(await call(host, name, "goto", url=url)) for name in (ONE, TWO)]
        assert len(set(opened)) == 2  # without an id each has a page of its own
        await call(host, ONE, "goto", pageId="firsts", url=url)
        refused = await call(host, TWO, "click", pageId="firsts", selector="#b")
        # the host itself is a chat too, and may have had the name before
        assert re.match(r'PAGE_OWNED: "firsts" is in use by "Code( \d+)?"', text_of(refused)), text_of(refused)
        assert not (await call(host, ONE, "click", pageId="firsts", selector="#b")).is_error


@pytest.mark.own_start
async def test_a_conversation_finds_its_pages_after_its_gateway_was_killed(plain: ServiceProcess, site: Site) -> None:
    url = site.page("/", HTML)
    async with chat(plain, "Code", BROWSE_LOG_LEVEL="error") as before:
        await call(before, "lasting", "goto", pageId="lasts", url=url)
        next(p for p in psutil.Process().children() if p.environ().get("BROWSE_LOG_LEVEL") == "error").kill()
    async with chat(plain, "Code") as after:
        clicked = await call(after, "lasting", "click", selector="#b")
        assert not clicked.is_error, text_of(clicked)
        assert (await call(after, "another", "click", pageId="lasts", selector="#b")).is_error
