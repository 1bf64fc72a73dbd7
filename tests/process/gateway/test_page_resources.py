"""Tests pages, elements and pictures as resources: read as the caller, and told when they change, in both eras."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    BlobResourceContents,
    ResourceLink,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    TextResourceContents,
)
from PIL import Image

from browse_together.contract.resources import TEMPLATES
from examples.processes import ServiceProcess
from tests.support import frames
from tests.support.chat import MODERN, Json, chatting
from tests.support.files import bytes_of
from tests.support.gateways import chat, environment, text_of
from tests.support.json import AnyJson
from tests.support.site import Answer, Site
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

PAGE = """<!doctype html><title>Shop</title><meta name=description content="All of the tea">
<h1>Tea</h1><button id=buy onclick="h1.textContent = 'Sold'">Buy</button><h1 id=h1 hidden></h1>"""


@dataclass
class Shop:
    service: ServiceProcess
    site: Site
    alice: Client
    bob: Client
    updates: "asyncio.Queue[str]"
    """The URIs about which Alice was notified."""

    async def updated(self, *uris: str) -> None:
        """Wait until Alice was notified about all these URIs, and check that she was about no others."""
        missing = {*uris}
        async with asyncio.timeout(PATIENCE_S):
            while missing:
                told = await self.updates.get()
                assert told in uris
                missing.discard(told)


@pytest.fixture(scope="module")
async def shop(service: ServiceProcess) -> AsyncIterator[Shop]:
    updates = asyncio.Queue[str]()

    async def told(message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            updates.put_nowait(str(message.params.uri))

    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        site.page("/shop", Answer(PAGE))
        alice = await stack.enter_async_context(chat(service, "Alice", does={"message_handler": told}))
        bob = await stack.enter_async_context(chat(service, "Bob"))
        opened = await alice.call_tool("goto", {"pageId": "shop", "url": site.url("/shop")})
        assert not opened.is_error, text_of(opened)
        yield Shop(service, site, alice, bob, updates)


async def read(client: Client, uri: str) -> AnyJson:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert (str(content.uri), content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


async def picture(client: Client, uri: str) -> tuple[str | None, tuple[int, int]]:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, BlobResourceContents)
    return content.mime_type, Image.open(io.BytesIO(base64.b64decode(content.blob))).size


async def test_a_page_is_read_by_who_may_read_it(shop: Shop) -> None:
    for client in (shop.alice, shop.bob):
        state = await read(client, "page://shop")
        assert (state["url"], state["title"], state["loaded"]) == (shop.site.url("/shop"), "Shop", True)
        assert state["metadata"]["description"] == "All of the tea"
    pages = await read(shop.bob, "pages://")
    assert [page["pageId"] for page in pages["others"]] == ["shop"]
    await shop.alice.call_tool("share_page", {"pageId": "shop", "access": "private"})
    for uri in ("page://shop", "element://shop/h1", "screenshot://shop/current"):
        with pytest.raises(MCPError) as refused:
            await shop.bob.read_resource(uri)
        assert refused.value.data["code"] == "PAGE_OWNED"
    await shop.alice.call_tool("share_page", {"pageId": "shop", "access": "read"})


async def test_a_session_is_read_by_its_own_name_or_by_that_of_a_page_in_it(shop: Shop) -> None:
    session = await read(shop.bob, "session://shop")
    assert (session["id"], session["browserType"], session["persistent"]) == ("default", "chromium", True)
    assert (session["userId"], session["pageCount"]) == ("default", 1)
    assert datetime.fromisoformat(session["createdAt"]) <= datetime.fromisoformat(session["lastAccessedAt"])
    assert (await shop.alice.call_tool("click", {"pageId": "shop", "selector": "#none", "timeout": 1})).is_error
    after = await read(shop.alice, "session://default")
    assert (after["requestCount"], after["errorCount"]) == (session["requestCount"] + 1, session["errorCount"] + 1)
    await shop.alice.call_tool("create_session", {"sessionId": "vault"})
    with pytest.raises(MCPError) as refused:
        await shop.bob.read_resource("session://vault")
    assert refused.value.data["code"] == "FORBIDDEN"
    await shop.alice.call_tool("close_session", {"sessionId": "vault"})


@pytest.mark.parametrize("selector", ["#buy", "//button", 'role=button[name="Buy"]', "text=Buy", 'a[href="x/y%z"]'])
async def test_an_element_is_read_by_any_selector_percent_encoded(shop: Shop, selector: str) -> None:
    found = await read(shop.alice, f"element://shop/{quote(selector, safe='')}")
    assert (found["selector"], found["exists"]) == (selector, not selector.startswith("a"))
    assert not found["exists"] or (found["text"], found["attributes"]["id"]) == ("Buy", "buy")


async def test_a_picture_is_read_as_bytes(shop: Shop) -> None:
    assert await picture(shop.alice, "screenshot://shop/current") == ("image/png", (1280, 720))
    taken = await shop.alice.call_tool("screenshot", {"pageId": "shop", "selector": "#buy", "type": "jpeg"})
    size, named = text_of(taken).splitlines()[:2]
    uri = f"screenshot://shop/{named.partition(':')[0]}"
    assert await picture(shop.alice, uri) == ("image/jpeg", tuple(json.loads(size).values()))
    with pytest.raises(MCPError, match="Resource not found"):
        await shop.bob.read_resource(uri)


async def test_the_files_of_a_reply_are_read_by_its_links_and_opened_by_their_paths(shop: Shop) -> None:
    async def linked(tool: str, **arguments: AnyJson) -> tuple[ResourceLink, bytes, str]:
        """Return the link of a reply, the contents of the file that its text names, and that text."""
        done = await shop.alice.call_tool(tool, {"pageId": "shop", **arguments})
        (link,) = [block for block in done.content if isinstance(block, ResourceLink)]
        (path,) = [word.rstrip(";,") for word in text_of(done).split() if word.startswith("/")]
        return link, bytes_of({"path": path}), text_of(done)

    shop.site.page("/tea.csv", Answer("name,price\nSencha,4\n", headers={"content-disposition": "attachment"}))
    add = "void document.body.insertAdjacentHTML('beforeend', '<a id=get href=/tea.csv>Get</a>')"
    await shop.alice.call_tool("evaluate_script", {"pageId": "shop", "expression": add})
    for tool, arguments, name in (
        ("screenshot", {"type": "webp"}, ".webp"),
        ("generate_pdf", {"filename": "tea.pdf"}, "tea.pdf"),
        ("extract_data", {"schema": {"t": "h1"}, "format": "csv", "save": True}, ".csv"),
        ("click", {"selector": "#get"}, "tea.csv"),
    ):
        link, whole, text = await linked(tool, **arguments)
        assert (str(link.uri).startswith("browse://files/art-"), link.name.endswith(name)) == (True, True)
        (content,) = (await shop.alice.read_resource(str(link.uri))).contents
        if isinstance(content, TextResourceContents):  # for a model, so what the page says stands in a frame
            assert frames.read(content.text).foreign == [whole.decode().replace("\r\n", "\n")]
        else:
            assert base64.b64decode(content.blob) == whole
        assert link.size == len(whole)
        with pytest.raises(MCPError, match="Resource not found"):
            await shop.bob.read_resource(str(link.uri))
    assert f'read it: content {{"cursor": "{str(link.uri).rpartition("/")[2]}:0"}}' in text
    cursor = {"cursor": f"{str(link.uri).rpartition('/')[2]}:0"}
    assert "Sencha,4" in text_of(await shop.alice.call_tool("content", cursor))
    assert "There is no artifact" in text_of(await shop.bob.call_tool("content", cursor))
    for uri in ("browse://files/", "browse://files/..%2Fsecret", "browse://files/art-none"):
        with pytest.raises(MCPError, match="Resource not found"):
            await shop.alice.read_resource(uri)


@pytest.mark.parametrize(
    "uri", ["page://none", "page://no%20id", "element://none/h1", "screenshot://shop/art-none", "page://default"]
)
async def test_what_is_not_there_is_not_found(shop: Shop, uri: str) -> None:
    with pytest.raises(MCPError) as refused:
        await shop.bob.read_resource(uri)
    assert (refused.value.code, refused.value.data["uri"]) == (-32002, uri)
    assert refused.value.data["hint"]
    assert refused.value.message.endswith(f"{refused.value.data['error']} {refused.value.data['hint']}")


async def test_a_selector_that_is_none_is_said(shop: Shop) -> None:
    with pytest.raises(MCPError) as refused:
        await shop.alice.read_resource("element://shop/%5B%5B")
    assert refused.value.data["code"] == "INVALID_SELECTOR"


async def test_the_ids_that_there_are_complete_a_template(shop: Shop) -> None:
    async def completed(uri: str, name: str, value: str) -> list[str]:
        reference = ResourceTemplateReference(uri=uri)
        return (await shop.alice.complete(reference, {"name": name, "value": value})).completion.values

    page, element, screenshot = (one.uri for one in TEMPLATES[:3])
    assert await completed(page, "sessionId", "") == ["shop", "default"]
    assert await completed(element, "sessionId", "sh") == ["shop"]
    assert await completed(screenshot, "screenshotId", "c") == ["current"]


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_who_subscribed_is_told_of_each_change_and_reads_it_anew(shop: Shop) -> None:
    uris = ("page://shop", "element://shop/h1", "screenshot://shop/current", "pages://")
    for uri in (*uris, "page://other"):
        await shop.alice.subscribe_resource(uri)
    assert (await read(shop.alice, "element://shop/h1"))["text"] == "Tea"
    await shop.alice.call_tool("evaluate_script", {"pageId": "shop", "expression": "h1.id = '', void 0"})
    await shop.alice.call_tool(
        "evaluate_script", {"pageId": "shop", "expression": "document.querySelector('h1').textContent = 'Coffee'"}
    )
    await shop.updated(*uris)
    assert (await read(shop.alice, "element://shop/h1"))["text"] == "Coffee"
    for uri in (*uris, "page://other"):
        await shop.alice.unsubscribe_resource(uri)
    with pytest.raises(MCPError, match="Resource not found"):
        await shop.alice.subscribe_resource("page://a/b")


async def test_in_the_later_era_one_stream_carries_the_changes(shop: Shop) -> None:
    env = environment(shop.service.data_dir, BROWSE_URL=shop.service.url, BROWSE_AUTOSTART="false")
    async with chatting(env) as later:
        asked: Json = {"notifications": {"resourceSubscriptions": ["page://shop"]}, "_meta": MODERN}
        await later.send("subscriptions/listen", asked)
        assert (await later.receive())["method"] == "notifications/subscriptions/acknowledged"
        missing = await later.ask("resources/read", {"uri": "page://none", "_meta": MODERN})
        assert missing["error"]["code"] == -32602  # type: ignore[index,call-overload] # an error has a code
        await shop.alice.call_tool("reload_page", {"pageId": "shop"})
        while (told := await later.receive())["method"] != "notifications/resources/updated":
            pass
    assert told["params"]["uri"] == "page://shop"  # type: ignore[index,call-overload] # and a notification a URI
