"""Tests the resources: listed at once, and read through the service by the action that each names."""

import base64
import io
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, ImageContent, ResourceLink, TextContent, TextResourceContents
from PIL import Image
from pydantic import JsonValue
from starlette.responses import Response

from browse_together.contract.resources import RESOURCES, TEMPLATES
from examples.processes import ServiceProcess
from tests.support.chat import MODERN, Chat
from tests.support.gateways import chat as chatting_with
from tests.support.gateways import text_of
from tests.support.site import Answer, Site
from tests.support.standin import Seen, StandIn, failure, success

pytestmark = pytest.mark.anyio

StartChat = Callable[..., AbstractAsyncContextManager[Chat]]


def of(reply: dict[str, JsonValue], key: str) -> dict[str, JsonValue]:
    found = reply[key]
    assert isinstance(found, dict)
    return found


async def test_resources_are_declared_listed_and_read(chat: StartChat, standin: StandIn) -> None:
    async def answer(seen: Seen) -> Response:
        return success({"activity": f"{seen.body['action']} {seen.body['limit']}"})

    standin.answer = answer
    async with chat() as client:
        assert "resources" in of(of(await client.initialize(), "result"), "capabilities")
        listed = of(await client.ask("resources/list"), "result")["resources"]
        assert listed == [
            {
                "uri": one.uri,
                "name": one.name,
                "title": one.title,
                "description": one.description,
                "mimeType": one.mime_type,
            }
            for one in RESOURCES
        ]
        templates = of(await client.ask("resources/templates/list"), "result")["resourceTemplates"]
        assert templates == [
            {
                "uriTemplate": one.uri,
                "name": one.name,
                "title": one.title,
                "description": one.description,
                "mimeType": one.mime_type,
            }
            for one in TEMPLATES
        ]
        assert [(each["uriTemplate"], each["name"]) for each in templates] == [  # type: ignore[index,call-overload] # objects
            ("page://{sessionId}", "Current page state"),
            ("element://{sessionId}/{selector}", "Element information"),
            ("screenshot://{sessionId}/{screenshotId}", "Page screenshot"),
            ("session://{sessionId}", "Session information"),
        ]
        read = of(await client.ask("resources/read", {"uri": "browse://activity"}), "result")
    text = {"uri": "browse://activity", "mimeType": "text/plain", "text": "get_activity 100"}
    assert read["contents"] == [text]


async def test_a_resource_that_is_none_is_an_error_of_the_protocol_that_names_those_there_are(chat: StartChat) -> None:
    async with chat() as client:
        await client.initialize()
        error = of(await client.ask("resources/read", {"uri": "browse://nothing"}), "error")
    known = [one.uri for one in (*RESOURCES, *TEMPLATES)]
    data = {"uri": "browse://nothing", "availableResources": known}
    assert (error["code"], error["data"]) == (-32002, data)
    assert error["message"] == f"Resource not found: browse://nothing. There are: {', '.join(known)}."


async def test_where_no_hands_are_shaken_its_code_is_that_of_bad_parameters(chat: StartChat) -> None:
    async with chat() as client:
        error = of(await client.ask("resources/read", {"uri": "browse://nothing", "_meta": MODERN}), "error")
    assert error["code"] == -32602


async def test_a_read_or_a_completion_that_fails_says_why_in_its_message(chat: StartChat, standin: StandIn) -> None:
    async def answer(_: Seen) -> Response:
        return failure("INTERNAL_ERROR", "The journal cannot be read.", 500, hint="Look at the disk.")

    standin.answer = answer
    completion: dict[str, JsonValue] = {
        "ref": {"type": "ref/resource", "uri": TEMPLATES[0].uri},
        "argument": {"name": "sessionId", "value": ""},
    }
    async with chat() as client:
        await client.initialize()
        activity: dict[str, JsonValue] = {"uri": "browse://activity"}
        for method, params in (("resources/read", activity), ("completion/complete", completion)):
            error = of(await client.ask(method, params), "error")
            assert error["message"] == f"{method} failed: The journal cannot be read. Look at the disk."
            assert of(error, "data")["error"] == "The journal cannot be read."


async def read(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.fixture(scope="module")
async def chats(service: ServiceProcess) -> AsyncIterator[tuple[Client, Client]]:
    """Start the chats of Alice and Bob, at one service."""
    async with chatting_with(service, "Alice") as alice, chatting_with(service, "Bob") as bob:
        yield alice, bob


async def test_a_chat_looks_at_a_tall_picture_slice_by_slice_and_reads_the_whole_and_no_other_does(
    chats: tuple[Client, Client], site: Site
) -> None:
    alice, bob = chats
    url = site.page("/", "<body style='margin: 0; height: 3000px; background: rgb(255, 0, 0)'>")
    await alice.call_tool("goto", {"pageId": "tall", "url": url})
    shown = await alice.call_tool("screenshot", {"pageId": "tall", "fullPage": True})
    text, picture, link = shown.content
    assert isinstance(text, TextContent)
    assert "Shown: rows 0 to 1,280 of 3,000; the whole is in the file. … more: screenshot {" in text.text
    assert isinstance(picture, ImageContent)
    assert Image.open(io.BytesIO(base64.b64decode(picture.data))).size == (1280, 1280)
    cursor = re.findall(r'"cursor": "(art-[^"]+:1280)"', text.text)[0]
    more = await alice.call_tool("screenshot", {"cursor": cursor})
    assert [type(block) for block in more.content] == [TextContent, ImageContent, ResourceLink]
    assert "rows 1,280 to 2,560 of 3,000" in text_of(more)
    assert (await bob.call_tool("screenshot", {"cursor": cursor})).is_error
    assert isinstance(link, ResourceLink)
    (content,) = (await alice.read_resource(str(link.uri))).contents
    assert isinstance(content, BlobResourceContents)
    whole = Image.open(io.BytesIO(base64.b64decode(content.blob)))
    assert (whole.format, whole.size, link.mime_type) == ("PNG", (1280, 3000), "image/png")
    assert "base64" not in text.text
    with pytest.raises(MCPError, match="Resource not found"):
        await bob.read_resource(str(link.uri))
    await alice.call_tool("close_page", {"pageId": "tall"})


async def test_a_chat_reads_what_another_did(chats: tuple[Client, Client], site: Site) -> None:
    alice, bob = chats
    site.page("/logout", Answer("", 204))
    url = site.page("/", "<form method=post action=/logout><button>Log out</button></form>")
    await alice.call_tool("goto", {"pageId": "shop", "url": url})
    await alice.call_tool("click", {"pageId": "shop", "selector": "button"})
    assert {str(one.uri) for one in (await bob.list_resources()).resources} == {one.uri for one in RESOURCES}
    text = await read(bob, "browse://activity")
    pages = json.loads(await read(bob, "browse://pages"))
    assert [(page["pageId"], page["owner"]) for page in pages["others"]] == [("shop", {"label": "Alice", "you": False})]
    assert "Alice: click button (shop) → ok" in text
    assert "/logout 204" in text
