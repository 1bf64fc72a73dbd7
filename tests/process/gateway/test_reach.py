"""Tests that every tool is within a chat's reach: through call_tool, by a longer list, and as replies advise it."""

import functools
import json
import re
from collections.abc import AsyncIterator, Collection

import pytest
from mcp import Client
from mcp.types import CallToolResult

from browse_together.contract import toolsets
from browse_together.contract.call_spellings import of_listed
from browse_together.contract.catalogue import ACTIONS, NAMES
from browse_together.contract.errors import every_error
from browse_together.contract.help_text import action_help
from browse_together.contract.next_calls import marked, next_call, spelled
from browse_together.contract.toolsets import APART, listed_names, tools
from browser_service.spine.rendering.own_words import spell_words
from examples.processes import ServiceProcess
from mcp_gateway.tools import listed_tools
from tests.support.chat import MODERN, Json, chatting
from tests.support.gateways import chat, environment, text_of
from tests.support.json import AnyJson
from tests.support.site import Site

pytestmark = pytest.mark.anyio

HOVERED = """<title>Shop</title><button id=b onmouseover="document.title='hovered'">Buy</button>"""


CORE = listed_names(frozenset({"core"}))
ADVICE = re.compile(r"(?<![\w\"'])(\w+) (?=\{)")


def as_listed(text: str, listed: Collection[str]) -> str:
    return spelled(text, functools.partial(of_listed, listed=listed))


async def through(client: Client, name: AnyJson, arguments: AnyJson = None, **beside: AnyJson) -> CallToolResult:
    given = {} if arguments is None else {"arguments": arguments}
    return await client.call_tool("call_tool", {"name": name, **given, **beside})


async def test_a_reply_on_a_page_that_was_named_advises_calls_that_work_beside_other_pages(
    service: ServiceProcess, site: Site
) -> None:
    taken_back = site.page("/taken", "<input id=i oninput=\"this.value = 'x'\">")
    async with chat(service, "Claude") as client:
        for name in ("one", "two"):
            await client.call_tool("goto", {"url": taken_back, "pageId": name})
        missed = await client.call_tool("click", {"pageId": "one", "selector": "#none", "params": {"timeout": 200}})
        assert 'snapshot {"pageId": "one"}' in text_of(missed)
        refused = text_of(await client.call_tool("fill", {"pageId": "two", "selector": "#i", "value": "Ann"}))
        assert 'type {"pageId": "two", "selector": "#i", "text": "..."}' in refused
        assert not (await client.call_tool("snapshot", {"pageId": "one"})).is_error
        late = site.page("/late", "<p>Loading orders…</p><p style=opacity:0>ghost</p>")
        assert 'snapshot {"pageId": "one"}' in text_of(await client.call_tool("goto", {"url": late, "pageId": "one"}))
        read = text_of(await client.call_tool("content", {"pageId": "one", "format": "text"}))
        assert 'content {"pageId": "one", "unseen": true}' in read


async def test_a_tool_that_is_not_listed_is_called_through_one_that_is(service: ServiceProcess, site: Site) -> None:
    async with chat(service, "Claude") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "call_tool" in names
        assert not names & {"focus", "get_page_title", "restore_session_state", "get_activity"}
        url = site.page("/shop", HOVERED)
        await client.call_tool("goto", {"url": url, "pageId": "shop"})
        hovered = await through(client, "hover", {"selector": "#b", "params": {"timeout": 2000}})
        assert not hovered.is_error, text_of(hovered)
        assert "hovered" in text_of(await through(client, "get_page_title", json.dumps({"pageId": "shop"})))
        assert "1. focus: " in text_of(
            await client.call_tool(
                "batch", {"steps": [{"action": "call_tool", "name": "focus", "arguments": {"selector": "#b"}}]}
            )
        )
        recorded = text_of(await through(client, "get_activity", {"client": "me", "format": "records"}))
    assert '"action":"hover"' in recorded
    assert "call_tool" not in recorded


@pytest.mark.parametrize(
    ("name", "arguments", "beside", "says"),
    [
        ("hovr", {}, {}, ["There is no tool 'hovr'.", "Did you mean hover"]),
        ("call_tool", {"name": "hover"}, {}, ["call_tool does not call itself."]),
        ("hover", {"selektor": "#b"}, {}, ["Unknown argument 'selektor' for hover.", "'selector'"]),
        ("hover", {}, {}, ["hover needs 'selector'."]),
        ("hover", "{", {}, ["arguments of call_tool: Input should be an object"]),
        ("hover", "[1]", {}, ["arguments of call_tool: Input should be an object"]),
        ("hover", '{"selector": "\\ud800"}', {}, ["half of a surrogate pair"]),
        ("hover", {"action": "click", "selector": "#b"}, {}, ["Give the tool once, by name."]),
        (7, {}, {}, ["name of call_tool: Input should be a valid string"]),
        (
            "hover",
            None,
            {"selector": "#b"},
            [
                "Unknown argument 'selector' for call_tool",
                'call_tool {"name": "hover", "arguments": {"selector": "#b"}}',
            ],
        ),
    ],
)
async def test_what_call_tool_cannot_pass_on_is_refused_with_the_way(
    refusing: Client,
    name: AnyJson,
    arguments: AnyJson,
    beside: AnyJson,
    says: list[str],
) -> None:
    result = await through(refusing, name, arguments, **beside)
    assert result.is_error
    for each in says:
        assert each in text_of(result)


@pytest.fixture(scope="module")
async def refusing(service: ServiceProcess) -> AsyncIterator[Client]:
    async with chat(service, "Claude") as client:
        yield client


async def test_a_call_that_is_advised_is_one_that_this_chat_can_make(service: ServiceProcess) -> None:
    """Followed by its words alone: what ends a login names the call that brings it back."""
    async with chat(service, "Claude") as client:
        login = {"name": "login", "value": "ana", "domain": "127.0.0.1"}
        await through(client, "create_session", {"sessionId": "work"})
        await through(client, "set_cookies", {"sessionId": "work", "cookies": [login]})
        closed = text_of(await through(client, "close_session", {"sessionId": "work"}))
        result = json.loads(closed.partition("\n")[0])
        advised = result["observed"].partition("kept for a day: call_tool ")[2]
        arguments, _ = json.JSONDecoder().raw_decode(advised)
        assert arguments["name"] == "restore_session_state"
        assert "1 cookies" in text_of(await client.call_tool("call_tool", arguments))
        await through(client, "close_session", {"sessionId": "work"})
        nothing = text_of(await through(client, "get_page_title", {"pageId": "nowhere"}))
        assert "list_pages {}" in nothing, "what is listed is advised as it is"
        unknown = text_of(await through(client, "get_call", {"callId": "none"}))
        assert "none" in unknown
        example = text_of(await client.call_tool("help", {"name": "focus"}))
        assert 'Example: call_tool {"name": "focus", "arguments": {"selector"' in example


def names_in(listing: Json) -> set[str]:
    result: AnyJson = listing["result"]
    return {tool["name"] for tool in result["tools"]}


def said_by(reply: Json) -> str:
    result: AnyJson = reply["result"]
    return str(result["content"][0]["text"])


async def test_a_chat_adds_a_toolset_to_its_list_and_its_host_is_told(service: ServiceProcess) -> None:
    env = environment(service.data_dir, BROWSE_URL=service.url, BROWSE_AUTOSTART="false")
    async with chatting(env) as client:
        capabilities: AnyJson = (await client.initialize())["result"]
        assert capabilities["capabilities"]["tools"] == {"listChanged": True}
        before = names_in(await client.ask("tools/list"))
        asked: Json = {"name": "help", "arguments": {"toolset": "files"}}
        request = await client.send("tools/call", asked)
        heard = [await client.receive() for _ in range(2)]
        assert [each.get("method") for each in heard] == ["notifications/tools/list_changed", None]
        assert heard[1]["id"] == request
        told = said_by(heard[1])
        assert told.startswith("files has 3 tools:\n- upload_file: ")
        assert 'call_tool {"name": "upload_file", "arguments": {...}}' in told, "its host has not read the list yet"
        assert "They are in your list of tools now." in told
        assert names_in(await client.ask("tools/list")) == before | {"upload_file", "drop", "list_downloads"}
        again = await client.send("tools/call", asked)
        reply = await client.receive()
        assert reply["id"] == again, "nothing has changed, so nothing is told"
        assert "Your list of tools had them already." in said_by(reply)
        unknown = said_by(await client.ask("tools/call", {"name": "help", "arguments": {"toolset": "filez"}}))
        assert "There is no toolset 'filez'." in unknown
        assert "files, combining" in unknown


async def test_a_longer_list_is_one_chats_and_told_in_the_later_era_too(service: ServiceProcess) -> None:
    """A host of several chats in one process names them in `_meta`; one that names none lists for all of them."""
    env = environment(service.data_dir, BROWSE_URL=service.url, BROWSE_AUTOSTART="false")
    named: list[Json] = [{**MODERN, "threadId": name} for name in ("first", "second")]
    async with chatting(env) as client:
        await client.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": MODERN})
        assert (await client.receive())["method"] == "notifications/subscriptions/acknowledged"
        arguments: Json = {"name": "call_tool", "arguments": {"name": "help", "arguments": {"toolset": "sessions"}}}
        request = await client.send("tools/call", {**arguments, "_meta": named[0]})
        heard = [await client.receive() for _ in range(2)]
        assert {each.get("method") or each.get("id") for each in heard} == {
            "notifications/tools/list_changed",
            request,
        }
        lists = [names_in(await client.ask("tools/list", {"_meta": meta})) for meta in named]
        assert ["save_session_state" in each for each in lists] == [True, False]
        advice: Json = {"name": "get_cookies", "arguments": {"sessionId": "none"}}
        told = [said_by(await client.ask("tools/call", {**advice, "_meta": meta})) for meta in named]
        assert ['call_tool {"name": "create_session"' in each for each in told] == [False, True]
        assert "save_session_state" in names_in(await client.ask("tools/list", {"_meta": MODERN}))


@pytest.mark.parametrize("toolset", [name for name in toolsets.NAMES if name != APART])
def test_whatever_is_listed_the_way_to_the_rest_is_too(toolset: str) -> None:
    names = {tool["name"] for tool in listed_tools(frozenset({toolset}))}
    assert "call_tool" in names
    assert {tool.name for tool in tools({toolset})} <= names


def test_every_call_that_an_error_or_an_action_advises_can_be_made_from_the_shortest_list() -> None:
    """The hints that are written down, as a chat on `core` is told them."""
    core = {str(tool["name"]) for tool in listed_tools(frozenset({"core"}))}
    hints = [error.hint for error in every_error() if error.hint]
    hints += [hint for action in ACTIONS.values() for hint in action.hints.values()]
    hints += [action_help(name) for name in ACTIONS]
    advised = set()
    for hint in hints:
        told = as_listed(hint, core)
        advised |= {name for name in ADVICE.findall(told) if name in NAMES}
    assert advised <= core, advised - core
    assert "call_tool" in advised


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("goto {}", "goto {}"),
        ("focus {}", 'call_tool {"name": "focus", "arguments": {}}'),
        ('hold_page {"reason": "a } {"}', 'call_tool {"name": "hold_page", "arguments": {"reason": "a } {"}}'),
        ("close_session {...}", 'call_tool {"name": "close_session", "arguments": {...}}'),
    ],
)
def test_a_call_of_what_is_not_listed_is_told_as_one_that_can_be_made(call: str, told: str) -> None:
    text = marked(f"Then {call}.", [call])
    assert as_listed(text, CORE) == f"Then {told}."
    assert as_listed(text, listed_names(frozenset({"all"}))) == f"Then {call}."


def test_a_reply_is_told_so_in_all_of_its_own_words_and_a_page_is_not() -> None:
    focus = next_call("focus")
    own: AnyJson = {"observed": focus, "content": "focus {}"}
    failed: AnyJson = {"code": "TIMEOUT", "message": "x", "hint": focus, "details": {"context": {"done": [{**own}]}}}
    reply: AnyJson = {
        "success": False,
        "result": {**own, "steps": [{**own}]},
        "error": failed,
        "notices": [{"text": focus}],
    }
    told: AnyJson = spell_words(reply, functools.partial(of_listed, listed=CORE))
    assert (
        told["error"]["hint"] == told["notices"][0]["text"] == (said := 'call_tool {"name": "focus", "arguments": {}}')
    )
    steps = [told["result"], *told["result"]["steps"], *told["error"]["details"]["context"]["done"]]
    assert [(step["observed"], step["content"]) for step in steps] == [(said, "focus {}")] * 3
