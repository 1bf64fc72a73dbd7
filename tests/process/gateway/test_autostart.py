"""Tests that the service is started by whoever needs it first, once, and outlives its starter."""

import asyncio
import contextlib
import json
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import httpx
import psutil
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from browse_together.client import instance
from browse_together.client.instance import START_WITHIN_S
from browse_together.contract import wire
from tests.support.chat import Chat, Json, chatting, environment, text
from tests.support.gateways import tuned
from tests.support.processes import runs
from tests.support.site import Answer, Site
from tests.support.tab import closed_port
from tests.support.terminal import Terminal
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


class Place:
    """A data directory and a port that nobody uses yet."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir = data_dir
        self.port = port
        self.changes: dict[str, str] = {}
        self.url = f"http://127.0.0.1:{port}"
        self._env = environment(BROWSE_AUTOSTART="true", BROWSE_DATA_DIR=str(data_dir), PORT=str(port))

    def chat(self, *, autostart: bool = True) -> AbstractAsyncContextManager[Chat]:
        return chatting(self._env | self.changes | {"BROWSE_AUTOSTART": str(autostart).lower()})

    @property
    def log(self) -> str:
        return (self.data_dir / wire.LOG_FILE).read_text(encoding="utf-8")

    def process(self) -> psutil.Process:
        instance = json.loads((self.data_dir / wire.INSTANCE_FILE).read_text(encoding="utf-8"))
        return psutil.Process(instance["pid"])

    def started(self) -> list[psutil.Process]:
        """Return every service that a gateway started here, those too that do not answer yet. They run in this
        directory."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.cwd() == str(self.data_dir) and "browser_service" in process.cmdline():
                    found.append(process)
        return found

    async def refuses(self) -> None:
        """Wait until nobody listens, because a killed process's sockets close a moment later."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    await writer.wait_closed()
                except ConnectionRefusedError:
                    return
                except ConnectionResetError:
                    continue

    async def health(self) -> dict[str, object]:
        async with httpx.AsyncClient(trust_env=False) as http:
            answer: dict[str, object] = (await http.get(f"{self.url}{wire.HEALTH}")).json()
            return answer


async def gone(process: psutil.Process) -> None:
    """Wait until a process has ended."""
    await become(lambda: not runs(process))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path / "data", closed_port())
    yield place
    for service in place.started():
        service.terminate()
        await gone(service)


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Return a port that somebody has bound and does not listen on."""
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        yield int(somebody.getsockname()[1])


async def test_ten_gateways_that_race_start_one_service_of_this_account_alone_which_outlives_them(place: Place) -> None:
    async with AsyncExitStack() as chats:
        clients = [await chats.enter_async_context(place.chat()) for _ in range(10)]
        await asyncio.gather(*(client.initialize() for client in clients))
        results = await asyncio.gather(*(client.call("list_pages") for client in clients))
        assert [result["isError"] for result in results] == [False] * 10
        for client in clients:
            client.stdin.close()
        assert [await client.ended() for client in clients] == [0] * 10
    assert place.log.count('"listening"') == 1
    assert "runs already" not in place.log
    (service,) = place.started()
    assert (await place.health())["pid"] == service.pid
    assert os.getsid(service.pid) == service.pid
    assert stat.S_IMODE(place.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((place.data_dir / wire.LOG_FILE).stat().st_mode) == 0o600


async def test_a_service_that_died_is_started_again_by_the_next_call(place: Place) -> None:
    async with place.chat() as client:
        await client.initialize()
        await client.call("list_pages")
        first = place.process()
        first.kill()
        await gone(first)
        await place.refuses()
        result = await client.call("cancel_call", callId="none")
        assert "UNKNOWN_OUTCOME" not in text(result)  # it was never sent before
        assert "There is no call" in text(result)
    assert place.process().pid != first.pid


async def test_a_service_that_was_ended_on_purpose_stays_down_until_a_new_chat(place: Place) -> None:
    async with place.chat() as chat:
        await chat.initialize()
        await chat.call("list_pages")
        ended = await asyncio.to_thread(Terminal(place.data_dir).succeed, "down")
        assert "It stays down until a new chat needs it, or until `browse-together up`." in ended.out
        refused = text(await chat.call("list_pages"))
        assert refused.startswith("SERVICE_UNAVAILABLE: The browser service is down. It was ended at ")
        assert "browse-together up --detach" in refused
        assert place.started() == []
        async with place.chat() as new:
            await new.initialize()
            assert not (await new.call("list_pages"))["isError"]
        assert not (await chat.call("list_pages"))["isError"]
        assert not (place.data_dir / wire.DOWN_FILE).exists()


@pytest.mark.own_start
async def test_the_handshake_does_not_wait_for_the_start(place: Place) -> None:
    async with place.chat() as client:
        await client.initialize()
        await client.ask("tools/list")
        assert not (place.data_dir / wire.INSTANCE_FILE).exists()  # which the service writes before it answers
        assert not (await client.call("list_pages"))["isError"]


async def test_a_start_that_fails_says_why(tmp_path: Path, taken_port: int) -> None:
    place = Place(tmp_path / "data", taken_port)
    place.data_dir.mkdir(mode=0o700)
    (place.data_dir / wire.LOG_FILE).write_text("what a service before said\n", encoding="utf-8")
    async with place.chat() as client:
        await client.initialize()
        result = await client.call("list_pages")
    assert result["isError"]
    assert text(result).startswith("SERVICE_UNAVAILABLE: The browser service could not be started: it ended with exit")
    assert f"Port {taken_port} on 127.0.0.1 cannot be used" in text(result)
    assert "a service before" not in text(result)
    assert "browse-together doctor" in text(result)


async def test_a_health_check_leaves_no_browser_behind_and_it_comes_with_the_next_call(
    place: Place, tmp_path: Path
) -> None:
    figures = tuned(tmp_path / "tuned", unvisited_ms=300, presence_grace_ms=300)
    place.changes |= {"BROWSE_MIN_INSTANCES": "1", **figures}
    async with place.chat() as check:
        await check.initialize()
        await check.ask("tools/list")
        await running(place, 1)
    await running(place, 0)
    async with place.chat() as chat:
        await chat.initialize()
        assert "Here" in text(await chat.call("goto", url="data:text/html,<h1>Here</h1>"))


async def test_a_chats_call_is_a_span_of_its_gateway_and_below_it_one_of_the_service(place: Place) -> None:
    """Whether the gateway has a process of its own or not."""
    with Site() as collector:
        collector.page("/v1/traces", Answer())
        place.changes |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url(""), "OTEL_BSP_SCHEDULE_DELAY": "50"}
        for shared in ("false", "true"):
            place.changes["BROWSE_SHARED"] = shared
            async with place.chat() as chat:
                await is_traced(chat, collector)


async def is_traced(chat: Chat, collector: Site) -> None:
    """Check the spans of a call that a chat makes."""
    collector.received.clear()
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    meta: Json = {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01", "tracestate": "a\nb"}
    await chat.initialize()
    await chat.ask("tools/call", {"name": "list_pages", "arguments": {}, "_meta": meta})
    await become(lambda: len(spans(collector)) == 2)
    spanned = spans(collector)
    of_chat, of_service = spanned["tools/call list_pages"], spanned["execute_tool list_pages"]
    assert (of_chat.trace_id.hex(), of_chat.parent_span_id.hex()) == (trace_id, "00f067aa0ba902b7")
    assert (of_service.trace_id, of_service.parent_span_id) == (of_chat.trace_id, of_chat.span_id)
    facts = {each.key: each.value.string_value for each in of_chat.attributes}
    assert facts.pop("mcp.session.id")
    assert facts == {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": "2025-11-25",
        "jsonrpc.request.id": "2",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "list_pages",
    }


def spans(collector: Site) -> dict[str, Span]:
    """Return the spans that a collector received, by their names."""
    exports = [ExportTraceServiceRequest.FromString(each.body) for each in [*collector.received]]
    scopes = [scope for export in exports for resource in export.resource_spans for scope in resource.scope_spans]
    return {span.name: span for scope in scopes for span in scope.spans}


async def running(place: Place, browsers: int) -> None:
    """Wait until so many browsers run."""
    async with asyncio.timeout(START_WITHIN_S):
        while instance.readiness(place.url).get("browsers") != browsers:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.1)  # between two looks
