"""Tests how a tool's call becomes a request, what happens when it breaks, and how it is cancelled.

It is longer than 300 lines because each way in which a call can break on the way to the service has a test, and all
use one gateway.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from mcp import Client
from mcp.types import CallToolResult
from pydantic import JsonValue
from starlette.responses import PlainTextResponse, Response
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from browse_together.client.proven import ProvenTransport
from browse_together.contract import catalogue, wire, written
from browse_together.contract.peer_calls import CONVERTED
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from tests.support.chat import text
from tests.support.standin import BrokenOff, Json, Seen, StandIn, echo, failure, listening, success
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client(connection: Connection) -> AsyncIterator[Client]:
    """Return the SDK's client, in this process."""
    async with Client(connection.server()) as connected:
        yield connected


async def call(client: Client, tool: str, **arguments: JsonValue) -> CallToolResult:
    async with asyncio.timeout(PATIENCE_S):
        return await client.call_tool(tool, dict(arguments))


def shown(result: CallToolResult) -> str:
    return text(result.model_dump(mode="json", by_alias=True))


async def test_a_call_is_one_post_with_all_that_the_service_needs(client: Client, standin: StandIn) -> None:
    await call(client, "click", pageId="cart", selector="#buy", timeout=50)
    seen = await standin.call()
    assert seen.path == "/api/browser/cart"
    assert seen.body == {"action": "click", "pageId": "cart", "selector": "#buy", "timeout": 50}
    assert re.fullmatch(wire.CALL_ID_PATTERN, seen.headers["x-browse-call"])
    assert seen.headers["x-browse-attempt"] == "1"
    assert seen.headers["x-browse-inline"] == str(wire.INLINE_TEXT)
    assert seen.headers["x-browse-catalogue"] == written.fingerprint()
    assert seen.headers["authorization"].startswith("Bearer ")


async def test_all_that_a_gateway_logs_of_a_call_has_the_id_that_the_service_gets(
    client: Client, standin: StandIn
) -> None:
    async def refuse(_: Seen) -> Response:
        return failure("INTERNAL_ERROR", "It broke.", 500)

    with capture_logs(processors=[merge_contextvars]) as lines:
        await call(client, "get_page_title", pageId="a")
        standin.answer = refuse
        await call(client, "get_page_title", pageId="b")
    sent = [(await standin.call()).headers[wire.CALL_ID.lower()] for _ in range(2)]
    assert [(line["event"], line["request_id"]) for line in lines] == [
        ("call", sent[0]),
        ("It broke.", sent[1]),
        ("call", sent[1]),
    ]


@pytest.mark.parametrize(
    ("page_id", "path"),
    [
        ("shop~1", "/api/browser/shop~1"),
        ("a/b ?#é", "/api/browser"),
        ("..", "/api/browser"),
        ("x" * 70_000, "/api/browser"),
        (7, "/api/browser"),
        (None, "/api/browser"),
    ],
)
async def test_a_page_id_that_may_be_one_goes_into_the_path_and_any_stays_in_the_body(
    client: Client, standin: StandIn, page_id: JsonValue, path: str
) -> None:
    await call(client, "snapshot", pageId=page_id)
    seen = await standin.call()
    assert (seen.path, seen.body) == (path, {"action": "snapshot", "pageId": page_id})


async def test_each_call_has_an_id_of_its_own(client: Client, standin: StandIn) -> None:
    for _ in range(3):
        await call(client, "list_pages")
    assert len({(await standin.call()).headers["x-browse-call"] for _ in range(3)}) == 3


async def test_every_name_of_the_catalogue_can_be_called(client: Client, standin: StandIn) -> None:
    for name in catalogue.NAMES.keys() - CONVERTED.keys() - {"call_tool"}:
        await call(client, name)
        assert (await standin.call()).body == {"action": name}
        await call(client, "call_tool", name=name, arguments={"x": 1})
        assert (await standin.call()).body == {"action": name, "x": 1}, "the same, and no wrapper, is sent on"


@pytest.mark.parametrize(
    "body",
    [
        {"action": "goto", "url": "http://x/"},
        {"action": "goto", "url": "http://x/", "sessionId": "home"},
        {"action": "snapshot", "pageId": "cart"},
    ],
)
async def test_the_set_session_goes_beside_each_call(
    client: Client, connection: Connection, standin: StandIn, body: Json
) -> None:
    connection.settings.session = "work"
    await call(client, str(body["action"]), **{key: value for key, value in body.items() if key != "action"})
    seen = await standin.call()
    assert (seen.body, seen.headers[wire.SESSION.lower()]) == (body, "work")
    assert json.loads(seen.headers[wire.REPLY.lower()])["session"] == "work"


async def test_a_connection_that_breaks_under_way_is_tried_again_as_the_same_call(
    client: Client, standin: StandIn
) -> None:
    async def break_once(seen: Seen) -> Response:
        return BrokenOff() if seen.headers["x-browse-attempt"] == "1" else await echo(seen)

    standin.answer = break_once
    assert shown(await call(client, "list_pages")) == '{"heard":"list_pages"}'
    first, second = await standin.call(), await standin.call()
    assert second.headers["x-browse-call"] == first.headers["x-browse-call"]
    assert second.headers["x-browse-attempt"] == "2"


async def test_a_socket_that_is_closed_in_the_moment_it_opens_is_a_connection_that_breaks(
    client: Client, standin: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """anyio has no peer to name then, and says so by an AttributeError."""
    real, met = ProvenTransport.handle_async_request, list[str]()

    async def closed_once(transport: ProvenTransport, request: httpx.Request) -> httpx.Response:
        if attempt := request.headers.get("x-browse-attempt"):
            met.append(attempt)
            if len(met) == 1:
                raise AttributeError("'NoneType' object has no attribute 'getpeername'")
        return await real(transport, request)

    monkeypatch.setattr(ProvenTransport, "handle_async_request", closed_once)
    assert not (await call(client, "click", selector="#buy")).is_error
    assert met == ["1", "2"]
    assert (await standin.call()).headers["x-browse-attempt"] == "2"


async def test_a_connection_that_stays_broken_is_given_up_and_nothing_is_claimed(
    client: Client, connection: Connection, standin: StandIn
) -> None:
    async def break_always(_: Seen) -> Response:
        return BrokenOff()

    standin.answer, connection.chats.own.service.retry_for_s = break_always, 0.3
    result = await call(client, "goto", url="http://x/")
    assert result.is_error
    assert shown(result) == (
        "SERVICE_UNAVAILABLE: The connection to the browser service broke during goto, and it has not come back.\n"
        "It may or may not have happened: look first (snapshot {}), then decide whether to repeat it."
    )
    assert result.structured_content is None


async def test_a_service_that_restarts_under_a_call_answers_it_when_it_is_back(
    client: Client, connection: Connection, standin: StandIn
) -> None:
    async with listening(StandIn()) as other:
        port = int(other.url.rsplit(":", 1)[1])
        connection.chats.own.service.http.base_url = other.url

        async def break_off(_: Seen) -> Response:
            return BrokenOff()

        other.answer = break_off
        pending = asyncio.create_task(call(client, "list_pages"))
        await other.call()
    async with listening(StandIn(), port) as back:
        assert shown(await pending) == '{"heard":"list_pages"}'
        assert (await back.call()).headers["x-browse-attempt"] == "2"
    assert standin.calls.empty()


async def test_a_service_that_is_not_there_is_said_at_once_with_what_starts_it_at_that_port(
    client: Client, connection: Connection
) -> None:
    service = connection.chats.own.service
    service.url, connection.settings.structured = "http://127.0.0.1:9", True
    service.http.base_url = httpx.URL("http://127.0.0.1:9")
    since = time.monotonic()
    result = await call(client, "list_pages")
    assert result.is_error
    assert time.monotonic() - since < 2
    assert shown(result) == (
        "SERVICE_UNAVAILABLE: The browser service is not running at http://127.0.0.1:9.\n"
        "Start it: browse-together up --detach --port 9"
    )
    assert result.structured_content is not None
    details = result.structured_content["error"]["details"]
    assert details["tool"] == "list_pages"
    context = details["context"]
    assert (context["service"], context["reason"]) == ("http://127.0.0.1:9", "not running")
    assert context["lastError"]


@pytest.mark.parametrize("body", ["not found", "{}", '{"success": false}'])
@pytest.mark.parametrize("tool", ["list_pages", "browser_click"])
async def test_an_answer_of_another_program_is_told_as_such(
    client: Client, standin: StandIn, body: str, tool: str
) -> None:
    async def foreign(_: Seen) -> Response:
        return PlainTextResponse(body, 404)

    standin.answer = foreign
    result = await call(client, tool, **({"selector": "#buy"} if tool == "browser_click" else {}))
    assert result.is_error
    other = int(standin.url.rpartition(":")[2]) + 1
    assert f"{standin.url} answered 404, with no reply of the browser service." in shown(result)
    assert f"--port {other}, and BROWSE_URL=http://127.0.0.1:{other} for the gateway" in shown(result)
    assert "BROWSE_URL says where" in shown(result)


async def test_a_fault_of_the_gateway_itself_is_told_too(
    client: Client, connection: Connection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(connection, "faults")
    result = await call(client, "click", selector="#buy")
    assert result.is_error
    assert shown(result).startswith("INTERNAL_ERROR: AttributeError: ")
    assert "This is a fault of the gateway" in shown(result)
    assert "a call failed in the gateway" in capsys.readouterr().out


async def test_a_token_file_that_is_not_there_is_named(client: Client, connection: Connection) -> None:
    settings = connection.settings
    settings.token_file = settings.data_dir / "missing"
    connection.chats.own.service.credentials = credentials(settings)
    result = await call(client, "click", selector="#buy")
    assert result.is_error
    assert f"The token file {settings.token_file} cannot be read" in shown(result)
    assert "BROWSE_TOKEN_FILE" in shown(result)


async def test_what_keeps_calls_from_the_service_is_logged_once_a_cause_until_it_is_over(
    client: Client, standin: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    def logged() -> list[str]:
        return [line for line in capsys.readouterr().out.splitlines() if "error" in line]

    async def refused(_: Seen) -> Response:
        return failure("UNAUTHORIZED", "The token was revoked.", 401, hint="Ask for another.")

    async def foreign(_: Seen) -> Response:
        return PlainTextResponse("hello", 200)

    for answer, said in ((refused, "The token was revoked."), (foreign, "with no reply of the browser service")):
        standin.answer = answer
        results = [await call(client, "list_pages") for _ in range(3)]
        assert all(result.is_error and said in shown(result) for result in results)
        (line,) = logged()
        assert said in line
    standin.answer = echo
    assert not (await call(client, "list_pages")).is_error
    standin.answer = refused
    result = await call(client, "list_pages")
    assert "Ask for another. This gateway made its token from the secret in " in shown(result)
    (line,) = logged()
    assert "Ask for another." in line


async def test_another_catalogue_is_logged_once_and_said_on_failures_while_it_lasts(
    client: Client, standin: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    async def refused(fingerprint: str) -> Response:
        return failure("TIMEOUT", "No.", 504, headers={wire.CATALOGUE: fingerprint})

    async def other_version(seen: Seen) -> Response:
        if seen.body["action"] == "goto":
            return success({}, headers={wire.CATALOGUE: "other"})
        return await refused("other")

    standin.answer = other_version
    advice = "Gateway and service are of different versions"
    assert advice not in shown(await call(client, "goto", url="http://x/"))
    assert advice in shown(await call(client, "list_pages"))
    assert advice in shown(await call(client, "list_pages"))
    standin.answer = lambda _: refused(written.fingerprint())
    assert advice not in shown(await call(client, "list_pages"))
    assert capsys.readouterr().out.count(advice) == 1  # structlog's default: the process sends it to stderr


async def test_a_cancelled_call_is_cancelled_in_the_service_at_once(client: Client, standin: StandIn) -> None:
    never = asyncio.Event()

    async def wait(_: Seen) -> Response:
        await never.wait()
        return success({})

    standin.answer = wait
    pending = asyncio.create_task(call(client, "goto", url="http://x/"))
    call_id = (await standin.call()).headers["x-browse-call"]
    pending.cancel()
    assert await standin.cancelled() == call_id
    standin.answer = echo
    assert shown(await call(client, "list_pages")) == '{"heard":"list_pages"}'
    never.set()


async def test_a_call_that_a_proxy_cannot_pass_on_is_sent_again_under_its_id_until_the_service_is_back(
    client: Client, standin: StandIn
) -> None:
    assert not (await call(client, "list_pages")).is_error
    first = await standin.call()
    passed_on = standin.answer

    async def bad_gateway(_: Seen) -> Response:
        standin.answer = passed_on
        return PlainTextResponse("<html><h1>502 Bad Gateway</h1></html>", 502, media_type="text/html")

    standin.answer = bad_gateway
    assert not (await call(client, "click", selector="#buy")).is_error
    sent, again = (await standin.call()).headers, (await standin.call()).headers
    assert sent["x-browse-call"] == again["x-browse-call"] != first.headers["x-browse-call"]
    assert (sent["x-browse-attempt"], again["x-browse-attempt"]) == ("1", "2")


@pytest.mark.parametrize("has_replied", [False, True])
async def test_a_proxy_that_stays_without_a_service_is_told_as_such_and_nothing_is_claimed(
    client: Client, connection: Connection, standin: StandIn, *, has_replied: bool
) -> None:
    if has_replied:
        await call(client, "list_pages")

    async def gateway_timeout(_: Seen) -> Response:
        return PlainTextResponse("no upstream", 504)

    standin.answer, connection.chats.own.service.retry_for_s = gateway_timeout, 0.3
    result = await call(client, "click", selector="#buy")
    assert result.is_error
    assert f"{standin.url} answered 504, with no reply of the browser service." in shown(result)
    assert "A proxy there does not reach it" in shown(result)
    assert "It may or may not have happened" in shown(result)
