"""Streamable HTTP: each session and each key is a client of its own, and what is no message is refused."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from mcp.types import TextContent
from starlette.responses import Response

from mcp_gateway.connection import Connection
from mcp_gateway.gateway import Gateway
from tests.front.transports.conftest import KEY, OTHER_KEY, Listen, Listening
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.standin import Seen, StandIn, success
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
"""Less than the pause in which a client that is cut off may come back."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "curl", "version": "1"}},
}


async def text(client: Client, tool: str, **arguments: AnyJson) -> str:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def test_two_sessions_of_one_key_are_two_clients(gateway: Listening) -> None:
    async with gateway.client() as one, gateway.client() as other:
        await text(one, "open_page", pageId="shared-key")
        assert (await text(other, "reload_page", pageId="shared-key")).startswith("PAGE_OWNED")
        assert not (await text(one, "reload_page", pageId="shared-key")).startswith("PAGE_OWNED")
        await text(one, "close_page", pageId="shared-key")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_two_keys_are_two_clients_in_every_revision(gateway: Listening, mode: str) -> None:
    page = f"two-keys-{mode}"
    async with gateway.client(KEY, mode) as one, gateway.client(OTHER_KEY, mode) as other:
        await text(one, "open_page", pageId=page)
        assert (await text(other, "reload_page", pageId=page)).startswith("PAGE_OWNED")
        await text(one, "close_page", pageId=page)


async def test_without_a_session_a_key_is_one_client_from_request_to_request(gateway: Listening) -> None:
    async with gateway.client(mode="auto") as one, gateway.client(mode="auto") as again:
        await text(one, "open_page", pageId="stateless")
        assert not (await text(again, "close_page", pageId="stateless")).startswith("PAGE_OWNED")


async def test_the_first_requests_of_a_client_without_a_session_share_one_connection(
    listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[str]()
    connection = Gateway.connection

    def count(gateway: Gateway, client_id: str, *, is_here: bool = False) -> Connection:
        made.append(client_id)
        return connection(gateway, client_id, is_here=is_here)

    monkeypatch.setattr(Gateway, "connection", count)
    revision = "2026-07-28"
    about = {"protocolVersion": revision, "clientCapabilities": {}}
    envelope = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
    discover = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": envelope}}
    headers = JSON | {"mcp-protocol-version": revision, "mcp-method": "tools/list"}
    async with listen() as gateway, gateway.http() as http:
        answers = await asyncio.gather(*(http.post(gateway.url, json=discover, headers=headers) for _ in range(5)))
    assert [answer.status_code for answer in answers] == [200] * 5
    assert len(made) == 1


async def test_a_session_that_ends_is_gone_like_a_gateway_that_ends(gateway: Listening, served: RunningService) -> None:
    before = {*served.parts.clients.present_ids}
    async with gateway.client() as ending:
        await text(ending, "list_pages")
        (session,) = {*served.parts.clients.present_ids} - before
    await become(lambda: not served.is_present(session))


async def test_a_session_is_unknown_under_another_key_and_after_its_end(gateway: Listening) -> None:
    async with gateway.http() as http:
        opened = await http.post(gateway.url, json=HELLO, headers=JSON)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await http.post(gateway.url, json=ping, headers=JSON | session)).status_code == 200
        async with gateway.http(OTHER_KEY) as other:
            assert (await other.post(gateway.url, json=ping, headers=JSON | session)).status_code == 404
        assert (await http.delete(gateway.url, headers=session)).status_code == 200
        assert (await http.post(gateway.url, json=ping, headers=JSON | session)).status_code == 404


NO_MESSAGES: list[tuple[bytes, int]] = [
    (b"{broken", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32602),
    (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
    (b"[" * 5_000, -32700),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    (b'{"id": 1, "method": "ping"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 5}', -32602),
]


async def test_what_is_no_message_is_refused_and_the_session_lives_on(gateway: Listening) -> None:
    async with gateway.http() as http:
        opened = await http.post(gateway.url, json=HELLO, headers=JSON)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        for body, code in NO_MESSAGES:
            refused = await http.post(gateway.url, content=body, headers=JSON | session)
            assert (body, refused.status_code, refused.json()["error"]["code"]) == (body, 400, code)
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            assert (await http.post(gateway.url, json=ping, headers=JSON | session)).status_code == 200


async def test_a_message_over_the_limit_is_refused_however_it_is_sent(listen: Listen) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b" " * 512

    async with listen(max_message_bytes=1_024) as gateway, gateway.http() as http:
        for content in (b" " * 2_000, chunks()):
            refused = await http.post(gateway.url, content=content, headers=JSON)
            assert refused.status_code == 413
            assert "1,024 bytes" in refused.json()["error"]["message"]


async def test_an_unknown_method_and_an_unknown_revision_are_named(gateway: Listening) -> None:
    async with gateway.http() as http:
        opened = await http.post(gateway.url, json=HELLO, headers=JSON)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        unknown = {"jsonrpc": "2.0", "id": 3, "method": "tools/dance"}
        answer = await http.post(gateway.url, json=unknown, headers=JSON | session)
        data = next(line for line in answer.text.splitlines() if line.startswith("data: "))
        assert json.loads(data.removeprefix("data: "))["error"]["code"] == -32601
        envelope = {
            "io.modelcontextprotocol/protocolVersion": "1999-01-01",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        strange = {**unknown, "params": {"_meta": envelope}}
        refused = await http.post(
            gateway.url,
            json=strange,
            headers=JSON | {"mcp-protocol-version": "1999-01-01", "mcp-method": "tools/dance"},
        )
        assert refused.status_code == 400
        assert "1999-01-01" in refused.text


@pytest.mark.parametrize("key", ["", "wrong-key-of-many-characters"])
async def test_a_missing_or_wrong_key_is_told_how_to_send_one(gateway: Listening, key: str) -> None:
    async with gateway.http(key) as http:
        refused = await http.post(gateway.url, json=HELLO, headers=JSON)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert "Authorization: Bearer" in refused.json()["error"]["message"]
        assert str(gateway.keys_file) in refused.json()["error"]["message"]


async def test_a_key_may_come_as_x_api_key_where_that_is_set(listen: Listen) -> None:
    async with listen(auth="api-key") as gateway:
        async with gateway.http("", **{"X-API-Key": KEY}) as http:
            assert (await http.post(gateway.url, json=HELLO, headers=JSON)).status_code == 200
        async with gateway.http() as http:
            assert (await http.post(gateway.url, json=HELLO, headers=JSON)).status_code == 401


async def test_a_foreign_page_or_host_name_does_not_come_in(listen: Listen) -> None:
    app = "https://app.example.com"
    async with listen(auth="none", cors_origins=app) as gateway, gateway.http("") as http:
        for header, value, status in (
            ("origin", "https://evil.example", 403),
            ("origin", "http://127.0.0.1:1", 403),
            ("host", "rebound.example", 403),
            ("origin", app, 200),
            ("x-usual", "1", 200),
        ):
            answer = await http.post(gateway.url, json=HELLO, headers=JSON | {header: value})
            assert (header, value, answer.status_code) == (header, value, status)
        asked = {"origin": app, "access-control-request-method": "POST"}
        preflight = await http.options(gateway.url, headers=asked)
        assert preflight.headers["access-control-allow-origin"] == app
        foreign = await http.options(gateway.url, headers=asked | {"origin": "https://evil.example"})
        assert "access-control-allow-origin" not in foreign.headers


async def test_requests_beyond_the_limit_are_told_when_to_come_back(listen: Listen) -> None:
    async with listen(rate_limit_max=3) as gateway, gateway.http() as http, gateway.http(OTHER_KEY) as other:
        statuses = [(await http.post(gateway.url, json=HELLO, headers=JSON)).status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = await http.post(gateway.url, json=HELLO, headers=JSON)
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await other.post(gateway.url, json=HELLO, headers=JSON)).status_code == 200


async def test_wrong_keys_are_not_tried_without_end_and_right_ones_come_in(gateway: Listening) -> None:
    async with gateway.http("wrong-key-of-many-characters") as http:
        statuses = [(await http.post(gateway.url, json=HELLO)).status_code for _ in range(31)]
    assert statuses == [401] * 30 + [429]
    async with gateway.http() as http:
        assert (await http.post(gateway.url, json=HELLO, headers=JSON)).status_code == 200


async def test_older_clients_use_sse(listen: Listen) -> None:
    async with listen(transport="sse") as gateway, asyncio.timeout(PATIENCE_S):
        headers = {"Authorization": f"Bearer {KEY}"}
        async with Client(sse_client(gateway.urls["sse"], headers=headers), mode="legacy") as client:
            assert "sse-page" in await text(client, "open_page", pageId="sse-page")
            await text(client, "close_page", pageId="sse-page")


async def test_a_reply_is_one_body_unless_something_is_told_before_it(
    before_standin: Listening, standin: StandIn
) -> None:
    go_on = asyncio.Event()

    async def wait(seen: Seen) -> Response:
        if seen.body["action"] == "goto":
            call_id = seen.headers["x-browse-call"]
            standin.emit("call", {"callId": call_id, "clientId": "c", "state": "running", "elapsedMs": 4_100})
            await go_on.wait()
        return success({"heard": seen.body["action"]})

    standin.answer = wait
    async with asyncio.timeout(PATIENCE_S), before_standin.http() as http:
        opened = await http.post(before_standin.url, json=HELLO, headers=JSON)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        call = {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "list_pages", "arguments": {}}}
        at_once = await http.post(before_standin.url, json=call, headers=JSON | session)
        assert at_once.headers["content-type"] == "application/json"
        assert at_once.json()["id"] == "c"
        await standin.call()
        call["params"] = {"name": "goto", "arguments": {"url": "http://x/"}, "_meta": {"progressToken": "p"}}
        async with http.stream("POST", before_standin.url, json=call, headers=JSON | session) as answer:
            told = [line async for line in _data(answer, go_on)]
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert [each.get("method", each.get("id")) for each in told] == ["notifications/progress", "c"]


async def _data(answer: httpx2.Response, go_on: asyncio.Event) -> AsyncIterator[AnyJson]:
    """Yield the messages of a stream of events, of which the first lets the call go on. Any: as they are."""
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            go_on.set()
            yield json.loads(line.removeprefix("data: "))


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"content-type": "text/plain"}, 415), ({"content-type": ""}, 415), ({"accept": "text/html"}, 406)],
)
async def test_a_message_of_another_form_is_refused_as_mcp_has_it_and_opens_no_session(
    gateway: Listening, headers: dict[str, str], status: int
) -> None:
    async with gateway.http() as http:
        refused = await http.post(gateway.url, content=json.dumps(HELLO), headers=JSON | headers)
    assert refused.status_code == status
    assert refused.json()["error"]["message"]
    assert "mcp-session-id" not in refused.headers


async def test_initialize_with_a_session_that_has_ended_begins_a_new_one(gateway: Listening) -> None:
    async with gateway.http() as http:
        stale = {"mcp-session-id": "0" * 32}
        opened = await http.post(gateway.url, json=HELLO, headers=JSON | stale)
        assert opened.status_code == 200
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        assert session["mcp-session-id"] != stale["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert (await http.post(gateway.url, json=ping, headers=JSON | session)).status_code == 200
        assert (await http.post(gateway.url, json=ping, headers=JSON | session | stale)).status_code == 404


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("application/*;q=0.9", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("", "application/json text/event-stream"),
        ("text/html, */*", "application/json text/event-stream"),
    ],
)
async def test_a_client_gets_the_kind_of_answer_that_it_takes(gateway: Listening, accept: str, kind: str) -> None:
    headers = JSON | {"accept": accept}
    page = f"kind-{abs(hash(accept))}"
    go = {"name": "open_page", "arguments": {"pageId": page}, "_meta": {"progressToken": "p"}}
    async with gateway.http() as http:
        opened = await http.post(gateway.url, json=HELLO, headers=headers)
        session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": go}
        unknown = {"jsonrpc": "2.0", "id": 3, "method": "no/such"}
        later = [await http.post(gateway.url, json=each, headers=headers | session) for each in (call, unknown)]
        answers = [opened, *later]
        assert [each.status_code for each in answers] == [200] * 3
        assert {each.headers["content-type"].partition(";")[0] for each in answers} == {*kind.split()}
        assert all('"id":' in each.text for each in answers)
        assert (await http.delete(gateway.url, headers=session)).status_code == 200
        refused = await http.post(gateway.url, json=HELLO, headers=JSON | {"accept": "text/html"})
        assert refused.status_code == 406


async def test_a_path_is_served_with_a_slash_too_and_never_led_to_plain_http(gateway: Listening) -> None:
    behind = JSON | {"x-forwarded-proto": "https"}
    async with gateway.http() as http:
        assert (await http.post(f"{gateway.url}/", json=HELLO, headers=behind)).status_code == 200
        assert (await http.post(f"{gateway.url}/x/", json=HELLO, headers=behind)).status_code == 404


async def test_pages_of_sessions_are_free_at_once_when_these_end_or_their_gateway(
    listen: Listen, served: RunningService
) -> None:
    def is_free(page_id: str) -> bool:
        page = served.parts.directory.get(page_id)
        return page is not None and page.holder_id is None

    assert served.settings.tuning.presence_grace_ms > PATIENCE_S * 1_000
    async with listen() as gateway:
        async with gateway.http() as http:
            for page_id in ("deleted", "ended"):
                opened = await http.post(gateway.url, json=HELLO, headers=JSON)
                session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
                go = {"name": "open_page", "arguments": {"pageId": page_id}}
                call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": go}
                assert (await http.post(gateway.url, json=call, headers=JSON | session)).status_code == 200
                assert not is_free(page_id)
                if page_id == "deleted":
                    assert (await http.delete(gateway.url, headers=session)).status_code == 200
        await become(lambda: is_free("deleted"))
        assert not is_free("ended")
    await become(lambda: is_free("ended"))
