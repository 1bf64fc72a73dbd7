"""Tests the card that a chat shows of its page: in a small host that speaks the protocol, by a real gateway's own
connection."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client import advertise
from mcp.shared.exceptions import MCPError
from mcp.types import TextResourceContents
from playwright.async_api import Browser, FrameLocator, Page, expect

from mcp_gateway import cards
from mcp_gateway.settings import Settings
from tests.support.gateway_fixtures import connection_to
from tests.support.gateways import text_of
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.site import Answer, Site
from tests.support.wall import seat

pytestmark = pytest.mark.anyio

_HOST = Path(__file__).parents[2] / "support" / "card_host.html"
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'"
)
"""The policy that the protocol prescribes for a card that names no hosts."""
_SHOWS = advertise(cards.EXTENSION, {"mimeTypes": [cards.MIME_TYPE]})
_HTML = "<title>Kettles</title><style>body{background:teal}</style><button>Buy</button>"


@dataclass
class Chat:
    client: Client
    window: Page

    @property
    def card(self) -> FrameLocator:
        return self.window.frame_locator("iframe")

    async def show(self, result: Any, **arguments: AnyJson) -> None:  # Any: a result of the SDK's
        """Tell the card of a call, as a host does."""
        told = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        await self.window.evaluate(
            "([given, told]) => { tell('ui/notifications/tool-input', {arguments: given});"
            " tell('ui/notifications/tool-result', told) }",
            [arguments, told],
        )


@pytest.fixture
async def chat(browser: Browser, running: RunningService, site: Site) -> AsyncIterator[Chat]:
    connection = connection_to(Settings(url=running.base_url, data_dir=running.settings.data_dir, autostart=False))
    connection.chats.own.appear()
    async with Client(connection.server(), mode="legacy", extensions=[_SHOWS], read_timeout_seconds=50) as client:
        (shown,) = (await client.read_resource(cards.URI)).contents
        assert isinstance(shown, TextResourceContents)
        assert shown.mime_type == cards.MIME_TYPE
        site.page("/favicon.ico", "")  # for which whole browsers ask
        site.page("/chat", _HOST.read_text(encoding="utf-8"))
        site.page("/card", Answer(shown.text, headers={"Content-Security-Policy": _POLICY}))
        window = await (await browser.new_context(viewport={"width": 420, "height": 700})).new_page()
        window.set_default_timeout(10_000)
        errors: list[str] = []
        window.on("pageerror", lambda error: errors.append(str(error)))
        window.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)

        async def call(name: str, arguments: dict[str, AnyJson]) -> AnyJson:
            assert name in {"page_card", "stop_page"}
            result = await client.call_tool(name, arguments)
            return result.model_dump(mode="json", by_alias=True, exclude_none=True)

        await window.expose_function("callTool", call)
        await window.goto(site.url("/chat"))
        await window.evaluate("begin({theme: 'dark'}); initialized")
        yield Chat(client, window)
        await window.context.close()
        assert errors == []
    connection.chats.leave()
    await connection.chats.own.service.close(within_s=1)


async def test_only_hosts_that_show_cards_get_them(chat: Chat, running: RunningService) -> None:
    tools = {tool.name: tool for tool in (await chat.client.list_tools()).tools}
    assert tools["goto"].meta == {"ui": {"resourceUri": cards.URI}}
    assert tools["click"].meta is None
    assert {name for name, tool in tools.items() if tool.meta == {"ui": {"visibility": ["app"]}}} == {
        "page_card",
        "stop_page",
    }
    connection = connection_to(Settings(url=running.base_url, data_dir=running.settings.data_dir, autostart=False))
    async with Client(connection.server(), mode="legacy") as plain:
        listed = (await plain.list_tools()).tools
        assert [tool.name for tool in listed] == [name for name in tools if name not in {"page_card", "stop_page"}]
        assert all(tool.meta is None for tool in listed)
        with pytest.raises(MCPError, match="Tool not found"):
            await plain.call_tool("page_card", {"pageId": "kettles"})
    await connection.chats.own.service.close(within_s=1)


async def test_the_card_shows_the_page_and_stops_its_chat_until_a_person_gives_it_back(
    chat: Chat, running: RunningService, site: Site
) -> None:
    opened = await chat.client.call_tool("goto", {"url": site.page("/kettles", _HTML), "pageId": "kettles"})
    assert (opened.meta or {})[cards.PAGE_META] == "kettles"
    await chat.show(opened, url="...")
    card = chat.card
    await expect(card.get_by_role("heading")).to_have_text("/kettles")
    await expect(card.get_by_role("img", name="Picture of kettles")).to_be_visible()
    await expect(card.locator("#owner")).to_have_text("This chat")
    await chat.client.call_tool("click", {"selector": "button"})
    await expect(card.locator("#doing")).to_have_text("clicked")
    await card.get_by_role("button", name="Stop").click()
    await expect(card.locator("#holds")).to_contain_text("Stopped.")
    refused = text_of(await chat.client.call_tool("click", {"selector": "button"}))
    assert refused.startswith("HUMAN_IN_CONTROL")
    for name in ("give_back", "take_over"):
        said = text_of(await chat.client.call_tool("call_tool", {"name": name, "arguments": {"pageId": "kettles"}}))
        assert said.startswith("FORBIDDEN")
    await card.get_by_role("button", name="Give back").click()
    assert await chat.window.evaluate("opened") == [f"{running.base_url}/#/page/kettles"]
    async with seat(running) as person:
        await person.call("give_back", pageId="kettles")
    await expect(card.locator("#holds")).to_be_hidden()
    await chat.client.call_tool("click", {"selector": "button"})
    await chat.client.call_tool("close_page", {})
    await expect(card.locator("#note")).to_have_text("This page is closed")
    await expect(card.get_by_role("button")).to_have_count(0)


async def test_the_card_stops_no_page_of_others_and_shows_none_that_is_not_its_chats_to_read(
    chat: Chat, running: RunningService, site: Site
) -> None:
    async with running.agent("Stranger") as other:
        await other.call("goto", pageId="theirs", url=site.page("/kettles", _HTML))
        result = await chat.client.call_tool("page_card", {"pageId": "theirs"})
        shown = result.structured_content or {}
        assert (shown["yours"], shown["owner"]["label"], "clientId" in str(shown)) == (False, "Stranger", False)
        refused = await chat.client.call_tool("stop_page", {"pageId": "theirs"})
        assert text_of(refused).startswith("theirs is not this chat's")
        await chat.show(result, pageId="theirs")
        await expect(chat.card.get_by_role("img", name="Picture of theirs")).to_be_visible()
        await expect(chat.card.get_by_role("button", name="Stop")).to_be_hidden()
        await other.call("share_page", pageId="theirs", access="private")
        refused = await chat.client.call_tool("page_card", {"pageId": "theirs"})
        assert (refused.is_error, (refused.structured_content or {})["code"]) == (True, "PAGE_OWNED")
        await expect(chat.card.locator("#note")).to_contain_text("private to another client")
        await other.call("close_page", pageId="theirs")
