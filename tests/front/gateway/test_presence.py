"""Tests the held stream: it precedes calls, carries their progress, comes back, and is never in the way."""

import asyncio

import jwt
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation
from pydantic import JsonValue
from starlette.responses import Response

from browse_together.contract import wire
from browse_together.contract.events import CallMoved
from mcp_gateway.connection import Connection
from tests.support.chat import text
from tests.support.gateway_fixtures import SECRET
from tests.support.standin import Json, Seen, StandIn, success
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


def moved(call_id: str, state: str, **more: JsonValue) -> Json:
    return {"kind": "call_moved", "callId": call_id, "clientId": "tester", "state": state, **more}


async def claims(standin: StandIn) -> Json:
    """Return what the token of the next stream says."""
    token = (await standin.stream())["authorization"].removeprefix("Bearer ")
    read: Json = jwt.decode(token, SECRET, algorithms=[wire.TOKEN_ALGORITHM], audience=wire.TOKEN_AUDIENCE)
    return read


async def test_the_stream_is_held_with_the_token_of_the_calls(connection: Connection, standin: StandIn) -> None:
    assert (await claims(standin))["sub"] == connection.chats.own.service.credentials.client_id == "tester"


async def test_a_chat_is_present_by_the_name_of_its_host_before_it_calls_anything(
    connection: Connection, standin: StandIn
) -> None:
    assert (await claims(standin))["label"] == "gateway"
    host = Implementation(name="claude-ai", version="1")
    async with asyncio.timeout(PATIENCE_S), Client(connection.server(), mode="legacy", client_info=host):
        assert (await claims(standin))["label"] == "claude-ai"
    assert standin.streams.empty()


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_only_a_chat_that_subscribes_hears_of_pages(connection: Connection, standin: StandIn) -> None:
    assert (await standin.stream())["pages"] == "0"
    async with asyncio.timeout(PATIENCE_S), Client(connection.server(), mode="legacy") as client:
        assert (await standin.stream())["pages"] == "0"  # by its host's name
        await client.subscribe_resource("pages://")
        await client.subscribe_resource("page://shop")
        assert (await standin.stream())["pages"] == "1"
        assert not (await client.call_tool("list_pages", {})).is_error
    assert standin.streams.empty()


@pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")
async def test_a_chat_subscribes_to_so_many_resources_and_then_to_others_in_their_place(connection: Connection) -> None:
    async with asyncio.timeout(PATIENCE_S), Client(connection.server(), mode="legacy") as client:
        for number in range(wire.MOST_SUBSCRIBED):
            await client.subscribe_resource(f"page://p{number}")
        await client.subscribe_resource("page://p0")
        with pytest.raises(MCPError, match="unsubscribe from others first"):
            await client.subscribe_resource("page://more")
        await client.unsubscribe_resource("page://p0")
        await client.subscribe_resource("page://more")


async def test_a_call_waits_until_the_stream_is_up(connection: Connection, standin: StandIn) -> None:
    async def look(_: Seen) -> Response:
        return success({"streams": standin.open_streams})

    standin.answer = look
    await standin.stream()
    standin.opens_streams.clear()
    standin.end_streams()
    await standin.stream()  # it is asked for again, and not given yet
    async with asyncio.timeout(PATIENCE_S), Client(connection.server()) as client:
        asyncio.get_running_loop().call_later(0.3, standin.opens_streams.set)
        result = await client.call_tool("list_pages", {})
    assert text(result.model_dump(mode="json", by_alias=True)) == '{"streams":1}'


async def test_a_call_does_not_wait_for_ever(connection: Connection, standin: StandIn) -> None:
    await standin.stream()
    standin.opens_streams.clear()
    standin.end_streams()
    await standin.stream()
    async with asyncio.timeout(PATIENCE_S), Client(connection.server()) as client:
        assert not (await client.call_tool("list_pages", {})).is_error
    standin.opens_streams.set()


async def test_a_call_that_waits_and_runs_is_told_as_progress(connection: Connection, standin: StandIn) -> None:
    go_on = asyncio.Event()
    told: asyncio.Queue[tuple[float, str | None]] = asyncio.Queue()

    async def wait(_: Seen) -> Response:
        await go_on.wait()
        return success({})

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        told.put_nowait((progress, message))

    standin.answer = wait
    async with asyncio.timeout(PATIENCE_S), Client(connection.server()) as client:
        pending = asyncio.create_task(client.call_tool("goto", {"url": "http://x/"}, progress_callback=tell))
        call_id = (await standin.call()).headers["x-browse-call"]
        standin.emit("call", moved("somebody-elses", "running"))
        standin.emit("page", {"pageId": "cart"})
        standin.emit("call", moved(call_id, "queued", position=2, behind="Claude · goto"))
        standin.emit("call", {"of a newer": "kind"})
        standin.emit("call", moved(call_id, "running", elapsedMs=4100, aNewField=True))
        assert [await told.get() for _ in range(2)] == [
            (1, "2nd in the queue, behind Claude · goto"),
            (2, "running, 4 s"),
        ]
        go_on.set()
        await pending
    assert told.empty()


@pytest.mark.parametrize(
    ("state", "position", "said"),
    [("queued", 1, "1st in"), ("queued", 3, "3rd in"), ("queued", 11, "11th in"), ("queued", 22, "22nd in")],
)
def test_a_place_in_the_queue_is_an_ordinal(state: str, position: int, said: str) -> None:
    assert CallMoved.model_validate(moved("c", state, position=position)).progress == f"{said} the queue"


@pytest.mark.usefixtures("connection")
async def test_a_stream_that_ends_is_held_anew(standin: StandIn) -> None:
    for _ in range(3):
        await standin.stream()
        standin.end_streams()
    await standin.stream()


async def test_a_refused_token_is_made_anew_from_the_secret(connection: Connection, standin: StandIn) -> None:
    standin.events_status = 401
    first = await standin.stream()
    secret = "another secret of forty-eight characters, about"
    (connection.settings.data_dir / wire.SECRET_FILE).write_text(secret, encoding="ascii")
    standin.secret = secret
    standin.events_status = 200
    while (headers := await standin.stream())["authorization"] == first["authorization"]:
        standin.end_streams()
    jwt.decode(headers["authorization"].removeprefix("Bearer "), secret, ["HS256"], audience=wire.TOKEN_AUDIENCE)


async def test_a_call_goes_out_though_the_stream_is_refused(connection: Connection, standin: StandIn) -> None:
    standin.events_status = 500
    async with asyncio.timeout(PATIENCE_S), Client(connection.server()) as client:
        assert not (await client.call_tool("list_pages", {})).is_error
