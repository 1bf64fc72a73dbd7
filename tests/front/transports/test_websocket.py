"""Websockets: who comes in and how, what is no message, what is told meanwhile, and what a cut leaves behind."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent
from starlette.responses import Response
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from mcp_gateway.websocket_client import NotConnected, websocket_client
from tests.front.transports.conftest import KEY, OTHER_KEY, Listen, Listening
from tests.support.certificates import certificate
from tests.support.json import AnyJson
from tests.support.service import RunningService
from tests.support.standin import Seen, StandIn, success
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}},
}
PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
BEARER = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture
async def gateway(listen: Listen) -> AsyncIterator[Listening]:
    async with listen(transport="websocket", max_message_bytes=2_048) as running:
        yield running


@asynccontextmanager
async def opened(gateway: Listening, query: str = "", **options: AnyJson) -> AsyncIterator[ClientConnection]:
    """Open a websocket with the key in a header, or as these options of the library say. Any: any option."""
    usual: dict[str, AnyJson] = {"additional_headers": BEARER, "proxy": None, "compression": None}
    async with (
        asyncio.timeout(PATIENCE_S),
        connect(gateway.urls["websocket"] + query, **(usual | options)) as websocket,
    ):
        yield websocket


async def asked(websocket: ClientConnection, message: AnyJson) -> AnyJson:
    """Send a message: JSON, or what is none as it is, a list in fragments. Returns the next that comes. Any: as is."""
    await websocket.send(json.dumps(message) if isinstance(message, dict) else message)
    return json.loads(await websocket.recv())


def client_of(gateway: Listening, key: str = KEY, **options: AnyJson) -> Client:
    """Return a client of the SDK on the module's own transport. Any: any option of the transport."""
    return Client(websocket_client(gateway.urls["websocket"], key=key, **options), mode="legacy")


async def text(client: Client, tool: str, **arguments: AnyJson) -> str:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


async def test_the_key_comes_as_a_header_or_as_a_subprotocol(gateway: Listening) -> None:
    async with opened(gateway) as websocket:
        assert (await asked(websocket, HELLO))["result"]["serverInfo"]["name"] == "browse-together"
    without: dict[str, AnyJson] = {"additional_headers": {}, "subprotocols": ["mcp", f"bearer.{KEY}"]}
    async with opened(gateway, **without) as websocket:
        assert websocket.subprotocol == "mcp"
        assert (await asked(websocket, HELLO))["id"] == "hello"


async def test_who_has_no_key_or_comes_from_elsewhere_stays_outside(gateway: Listening) -> None:
    port = int(gateway.urls["websocket"].rsplit(":", 1)[1].partition("/")[0])
    refusals: list[tuple[dict[str, AnyJson], int]] = [
        ({"additional_headers": {}}, 401),
        ({"additional_headers": {"Authorization": "Bearer wrong-key-of-many-characters"}}, 401),
        ({"additional_headers": {}, "subprotocols": ["mcp", "bearer.wrong-key-of-many-characters"]}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"host": "127.0.0.1", "port": port}, 403),
    ]
    for options, status in refusals:
        name = Listening({"websocket": "ws://rebound.example/ws"}, gateway.keys_file) if "port" in options else gateway
        with pytest.raises(InvalidStatus) as refused:
            async with opened(name, **options):
                pass
        assert (options, refused.value.response.status_code) == (options, status)
        assert json.loads(refused.value.response.body or b"")["error"]["message"]


async def test_a_web_page_of_an_allowed_origin_comes_in_by_a_session(listen: Listen) -> None:
    origin = "https://app.example.com"
    async with listen(transport="websocket", auth="session", cors_origins=origin) as gateway, gateway.http() as http:
        url = gateway.urls["websocket"].replace("ws:", "http:")
        made = await http.post(url, headers={"Origin": origin})
        assert made.headers["access-control-allow-origin"] == origin
        session = made.json()["session"]
        async with opened(gateway, f"?session={session}", additional_headers={}, origin=origin) as websocket:
            assert (await asked(websocket, HELLO))["id"] == "hello"
        with pytest.raises(InvalidStatus):
            async with opened(gateway, f"?session={'0' * 32}", additional_headers={}):
                pass
        assert (await http.post(url, headers={"Authorization": "Bearer wrong"})).status_code == 401


async def test_without_auth_whoever_is_on_this_machine_comes_in(listen: Listen) -> None:
    async with listen(transport="ws", auth="none") as gateway, opened(gateway, additional_headers={}) as websocket:
        assert (await asked(websocket, HELLO))["id"] == "hello"


NO_MESSAGES: list[tuple[AnyJson, int, object]] = [
    ("{broken", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700, 1),
    ('{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32602, 1),
    ('\ufeff{"jsonrpc": "2.0", "id": 1, "method": "tools/dance"}', -32601, 1),
    ("[" * 1_000, -32700, None),
    ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
    ('{"id": 1, "method": "ping"}', -32600, 1),
    ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": 5}', -32602, 1),
    ('{"jsonrpc": "2.0", "id": 1, "method": "tools/dance"}', -32601, 1),
    (["{", '"jsonrpc": "1.0", ', '"id": "last"}'], -32600, "last"),
    ("", -32700, None),
]


async def test_what_is_no_message_is_refused_and_the_connection_lives_on(gateway: Listening) -> None:
    async with opened(gateway) as websocket:
        await asked(websocket, HELLO)
        for message, code, request_id in NO_MESSAGES:
            refused = await asked(websocket, message)
            assert (message, refused["error"]["code"], refused["id"]) == (message, code, request_id)
            await websocket.send('{"jsonrpc": "2.0", "method": "notifications/unheard_of"}')  # which nothing answers
            assert (await asked(websocket, PING))["result"] == {}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff\xfe"}', 1007),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 2_048 + b'"}', 1009),
    ],
)
async def test_what_the_protocol_of_websockets_refuses_ends_the_connection(
    gateway: Listening, message: bytes, code: int
) -> None:
    async with opened(gateway) as websocket:
        await asked(websocket, HELLO)
        with contextlib.suppress(ConnectionClosed):  # it may end while a long message is sent
            await websocket.send(message, text=True)
        with pytest.raises(ConnectionClosed) as closed:
            await websocket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code


async def test_a_message_over_the_limit_is_an_error_of_its_call_and_the_client_goes_on(gateway: Listening) -> None:
    async with client_of(gateway) as client:
        with pytest.raises(MCPError, match="The gateway takes no message of this size"):
            await client.call_tool("goto", {"url": f"http://{'x' * 2_048}/"})
        assert not (await client.call_tool("list_pages", {})).is_error


async def test_a_client_that_gives_no_sign_of_life_is_cut_off(listen: Listen, served: RunningService) -> None:
    clients = served.parts.clients
    async with listen(transport="websocket", heartbeat_interval_ms=100, heartbeat_timeout_ms=2_000) as gateway:
        before = {*clients.present_ids}
        async with opened(gateway) as alive, opened(gateway, close_timeout=0.1) as dead:
            for websocket in (alive, dead):
                await asked(websocket, HELLO)
            await become(lambda: len({*clients.present_ids} - before) == 2)
            dead.transport.pause_reading()
            await become(lambda: len({*clients.present_ids} - before) == 1)
            assert (await asked(alive, PING))["result"] == {}


async def test_two_websockets_are_two_clients(gateway: Listening) -> None:
    async with client_of(gateway) as one, client_of(gateway) as other, client_of(gateway, OTHER_KEY) as third:
        await text(one, "open_page", pageId="ws-page")
        for another in (other, third):
            assert (await text(another, "reload_page", pageId="ws-page")).startswith("PAGE_OWNED")
        assert not (await text(one, "close_page", pageId="ws-page")).startswith("PAGE_OWNED")


async def test_wss_has_the_certificate_of_the_settings(listen: Listen, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    async with listen(transport="websocket,http", tls_cert=cert, tls_key=key) as gateway:
        assert [gateway.urls[name].partition(":")[0] for name in ("websocket", "http")] == ["wss", "https"]
        trusting = ssl.create_default_context(cafile=str(cert))
        async with client_of(gateway, tls=trusting) as client:
            assert "tls-page" in await text(client, "open_page", pageId="tls-page")
            await text(client, "close_page", pageId="tls-page")
        with pytest.raises(NotConnected, match="CERTIFICATE_VERIFY_FAILED"):
            async with client_of(gateway):
                pass


async def test_the_loopback_of_ipv6_is_served(listen: Listen) -> None:
    async with listen(transport="websocket", mcp_host="[::1]") as gateway:
        assert gateway.urls["websocket"].startswith("ws://[::1]:")
        async with client_of(gateway) as client:
            assert (await client.list_tools()).tools


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_what_is_told_meanwhile_comes_by_the_websocket(gateway: Listening) -> None:
    told = asyncio.Queue[str]()

    async def note(message: object) -> None:
        told.put_nowait(type(message).__name__)

    transport = websocket_client(gateway.urls["websocket"], key=KEY)
    async with asyncio.timeout(PATIENCE_S), Client(transport, mode="legacy", message_handler=note) as client:
        await client.session.subscribe_resource("browse://pages")
        await text(client, "open_page", pageId="told-page")
        assert await told.get() == "ResourceUpdatedNotification"
        await text(client, "help", toolset="dialogs")
        while await told.get() != "ToolListChangedNotification":
            continue
        await text(client, "close_page", pageId="told-page")


async def test_progress_comes_by_the_websocket(before_standin: Listening, standin: StandIn) -> None:
    go_on, told = asyncio.Event(), asyncio.Queue[str | None]()

    async def wait(_: Seen) -> Response:
        await go_on.wait()
        return success({})

    async def tell(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001 - the SDK's
        told.put_nowait(message)

    standin.answer = wait
    async with asyncio.timeout(PATIENCE_S), client_of(before_standin) as client:
        pending = asyncio.create_task(client.call_tool("goto", {"url": "http://x/"}, progress_callback=tell))
        call_id = (await standin.call()).headers["x-browse-call"]
        standin.emit("call", {"callId": call_id, "clientId": "c", "state": "running", "elapsedMs": 4_100})
        assert await told.get() == "running, 4 s"
        go_on.set()
        await pending


async def test_more_messages_than_may_wait_are_all_answered(gateway: Listening) -> None:
    async with opened(gateway) as websocket:
        await asked(websocket, HELLO)
        for number in range(300):
            await websocket.send(json.dumps(PING | {"id": number}))
        assert {json.loads(await websocket.recv())["id"] for _ in range(300)} == {*range(300)}
