"""Tests how a script's lines become calls, and replies become lines, before a service that is a stand-in."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import jwt
import pytest
from starlette.responses import Response

from browse_together.contract import toolsets, wire
from mcp_gateway import tools
from mcp_gateway.settings import Settings
from mcp_gateway.transports.serving import Script
from tests.support.gateway_fixtures import connection_to
from tests.support.json import AnyJson
from tests.support.json_lines import Speaker, speaking
from tests.support.standin import Json, Seen, StandIn, failure, success
from tests.support.tab import closed_port
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

PAGE: Json = {"pageId": "shop", "url": "https://shop.example/", "title": "Shop", "revision": 3}


@pytest.fixture
async def script(standin: StandIn, data_dir: Path) -> AsyncIterator[Speaker]:
    settings = Settings(url=standin.url, data_dir=data_dir, autostart=False)
    connection = connection_to(settings)
    async with speaking(Script(connection).serve) as speaker:
        yield speaker
    await connection.chats.own.service.close(within_s=1)


async def test_a_call_is_one_post_of_a_program_and_its_result_is_the_actions_own(
    script: Speaker, standin: StandIn
) -> None:
    async def answer(_: Seen) -> Response:
        return success({"title": "Shop\nand more"}, page=PAGE, notices=[{"text": "another acted"}])

    standin.answer = answer
    assert await script.call("get_page_title", "a", pageId="shop") == {
        "type": "result",
        "id": "a",
        "ok": True,
        "result": {"title": "Shop\nand more", "page": PAGE, "notices": [{"text": "another acted"}]},
    }
    seen = await standin.call()
    assert (seen.path, seen.body) == ("/api/browser/shop", {"action": "get_page_title", "pageId": "shop"})
    assert wire.REPLY.lower() not in seen.headers
    assert wire.INLINE.lower() not in seen.headers, "a program gets a text whole"
    claims = jwt.decode(seen.headers["authorization"].removeprefix("Bearer "), options={"verify_signature": False})
    assert claims["label"] == "script"
    assert standin.calls.empty()


async def test_an_error_is_one_line_with_the_code_the_message_and_the_next_call(
    script: Speaker, standin: StandIn
) -> None:
    async def refuse(_: Seen) -> Response:
        return failure("PAGE_OWNED", '"shop" is in use.', 409, hint='Wait:\nclaim_page {"pageId": "shop"}')

    standin.answer = refuse
    assert await script.call("click", pageId="shop", selector="#buy") == {
        "type": "error",
        "id": 1,
        "ok": False,
        "error": 'PAGE_OWNED: "shop" is in use. Wait: claim_page {"pageId": "shop"}',
    }


@pytest.mark.parametrize(
    ("tool", "args", "error"),
    [
        ("clik", {}, "Tool 'clik' no encontrada"),
        ("x" * 101, {}, f"Tool '{'x' * 100}…' no encontrada"),
        ("click", {}, "Faltan parámetros requeridos: selector"),
        ("fill", {"pageId": "shop"}, "Faltan parámetros requeridos: selector, value"),
        ("fill", {"text": ""}, "Faltan parámetros requeridos: selector"),
        ("call_tool", {"name": "hover", "arguments": {}}, "Faltan parámetros requeridos: selector"),
        ("call_tool", {"name": "hoover"}, "INVALID_REQUEST: There is no tool 'hoover'. Did you mean hover"),
        ("click", {"params": 1}, "VALIDATION_ERROR: params of click must be an object of options, not a number."),
    ],
)
async def test_what_cannot_be_called_is_said_without_the_service(
    script: Speaker, standin: StandIn, tool: str, args: AnyJson, error: str
) -> None:
    refused = await script.call(tool, **args)
    assert refused["error"].startswith(error)
    assert standin.calls.empty()


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("click", {"selektor": "#buy"}),
        ("click", {"params": {"selector": "#buy"}}),
        ("clear", {"selector": "#name"}),
        ("evaluate", {"script": "1"}),
        ("goto", {"url": None}),
    ],
)
async def test_whatever_may_be_meant_goes_to_the_service(
    script: Speaker, standin: StandIn, tool: str, args: AnyJson
) -> None:
    assert (await script.call(tool, **args))["result"] == {"heard": tool}
    assert (await standin.call()).body == {"action": tool, **args}


async def test_calls_on_one_page_are_sent_in_their_order(script: Speaker, standin: StandIn) -> None:
    go_on = asyncio.Event()

    async def answer(seen: Seen) -> Response:
        if seen.body["action"] == "goto":
            await go_on.wait()
        return success({})

    standin.answer = answer
    await script.write(
        '{"type":"call","id":1,"tool":"goto","args":{"pageId":"a","url":"http://a/"}}',
        '{"type":"call","id":2,"tool":"call_tool","args":{"name":"go_back","arguments":{"pageId":"a"}}}',
        '{"type":"call","id":3,"tool":"go_back","args":{"pageId":"b"}}',
        '{"type":"call","id":4,"tool":"list_pages"}',
        '{"type":"quit"}',
    )
    assert (await script.reply())["id"] == 3
    assert standin.calls.qsize() == 2
    go_on.set()
    assert [(await script.reply())["id"] for _ in range(3)] == [1, 2, 4]
    await script.ended()


async def test_a_script_is_present_until_it_ends(script: Speaker, standin: StandIn) -> None:
    await script.call("list_pages")
    assert standin.open_streams == 1
    script.stop_writing()
    await script.ended()
    await become(lambda: standin.open_streams == 0)


async def test_a_script_that_is_gone_cancels_its_calls(script: Speaker, standin: StandIn) -> None:
    async def never(_: Seen) -> Response:
        await asyncio.Event().wait()
        return success({})

    standin.answer = never
    await script.write('{"type":"call","id":1,"tool":"list_pages"}')
    seen = await standin.call()
    script.stop_reading()
    script.stop_writing()
    assert await standin.cancelled() == seen.headers[wire.CALL_ID.lower()]


async def test_a_service_that_does_not_run_is_an_error_that_says_so(data_dir: Path) -> None:
    settings = Settings(url=f"http://127.0.0.1:{closed_port()}", data_dir=data_dir, autostart=False)
    connection = connection_to(settings)
    async with speaking(Script(connection).serve) as script:
        assert (await script.call("list_pages"))["error"].startswith("SERVICE_UNAVAILABLE: ")
    await connection.chats.own.service.close(within_s=1)


def test_the_tools_of_a_list_are_announced_with_schemas_of_what_goes_in_and_comes_out() -> None:
    announced = tools.announced_tools(frozenset({"core"}))
    assert [tool.name for tool in announced] == [tool.name for tool in toolsets.tools()]
    for tool in announced:
        assert tool.description
        assert tool.input_schema.keys() == {"type", "properties", "required"}
        assert tool.output_schema["type"] == "object"
