"""Tests that a chat gets back the logins that its acts ended, by the words of their replies, also after the service was
killed."""

import json
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from mcp import Client

from tests.support.gateways import chat, service_process, text_of
from tests.support.json import AnyJson
from tests.support.site import Answer, Received, Site

pytestmark = pytest.mark.anyio


def greeting(received: Received) -> Answer:
    login = SimpleCookie(received.headers.get("Cookie", "")).get("sid")
    return Answer(f"<h1>Hello {login.value}</h1>" if login else "<h1>Who are you?</h1>")


async def run(client: Client, name: str, **arguments: AnyJson) -> str:
    return text_of(await client.call_tool("call_tool", {"name": name, "arguments": arguments}))


async def follow(client: Client, told: str) -> str:
    """Make the call that a reply advises."""
    advised = told.replace('\\"', '"').partition("kept for a day: call_tool ")[2]
    return text_of(await client.call_tool("call_tool", json.JSONDecoder().raw_decode(advised)[0]))


async def test_logins_come_back_by_the_words_of_the_reply_also_after_a_kill(tmp_path: Path, site: Site) -> None:
    site.page("/in", Answer("in", headers={"set-cookie": "sid=ana; Path=/; Max-Age=9999"}))
    url = site.page("/who", greeting)
    ended = list[str]()
    async with (
        service_process(tmp_path, BROWSE_NOTIFY="off") as service,
        chat(service, "Claude", BROWSE_CLIENT_ID="chat-7") as client,
    ):
        await run(client, "create_session", sessionId="work", persistent=True)
        for session_id in ("default", "work"):
            await run(client, "goto", url=site.url("/in"), pageId=f"in-{session_id}", sessionId=session_id)
            ended.append(await run(client, "clear_cookies", sessionId=session_id))
            assert "Who are you?" in await run(client, "goto", url=url, pageId=f"in-{session_id}") + await run(
                client, "content", pageId=f"in-{session_id}"
            )
            await follow(client, ended[-1])
        ended.append(await run(client, "close_session", sessionId="work"))
        ended.append(await run(client, "clear_cookies", sessionId="default"))
        service.process.kill()
    async with (
        service_process(tmp_path, BROWSE_NOTIFY="off") as service,
        chat(service, "Claude", BROWSE_CLIENT_ID="chat-7") as client,
    ):
        for session_id, told in zip(("work", "default"), ended[2:], strict=True):
            assert "restored" in await follow(client, told), told
            await run(client, "goto", url=url, pageId=f"again-{session_id}", sessionId=session_id)
            assert "Hello ana" in await run(client, "content", pageId=f"again-{session_id}")
