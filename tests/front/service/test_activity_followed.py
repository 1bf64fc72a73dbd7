"""Tests following the record: a follower sees each act, and delays nobody."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from httpx_sse import EventSource

from browse_together.contract import wire
from browse_together.contract.calls import Outcome
from browse_together.contract.catalogue import parse
from browser_service.security.auth import Identity
from browser_service.store.activity import RowFilter
from tests.support.account import logging_out, recorded
from tests.support.json import AnyJson
from tests.support.listening import connected, listening
from tests.support.service import Agent
from tests.support.sharing import StartService
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, dict[str, AnyJson]]]:
    async for event in EventSource(response).aiter_sse():
        yield event.event, event.json()


async def test_a_follower_sees_acts_as_they_happen_and_does_not_count_as_present(tmp_path: Path, site: Site) -> None:
    async with (
        listening(tmp_path) as service,
        connected(service, "a", "Alice") as alice,
        connected(service, "b", "Bob") as bob,
        bob.http.stream("GET", wire.EVENTS, params={"activity": "1", "action": "click"}) as response,
    ):
        stream = events(response)
        assert (await anext(stream))[0] == "hello"
        assert not service.is_present("b")
        await alice.call("goto", pageId="p", url=logging_out(site))
        await alice.call("click", pageId="p", selector="#logout")
        name, record = await asyncio.wait_for(anext(stream), PATIENCE_S)
        assert (name, record["client"], record["you"], record["action"]) == ("activity", "Alice", False, "click")
        assert record["requests"][0]["method"] == "POST"
        (kept,) = await recorded(bob, limit=1)
        assert record == kept


async def test_a_gateways_stream_carries_no_activity(tmp_path: Path, site: Site) -> None:
    async with (
        listening(tmp_path) as service,
        connected(service, "a") as agent,
        agent.http.stream("GET", wire.EVENTS) as response,
    ):
        stream = events(response)
        assert (await anext(stream))[0] == "hello"
        await agent.call("goto", pageId="p", url=site.page("/", "x"))
        assert not service.parts.ledger.activity.watchers
        service.parts.clients.repeat_progress("a", "c", 1)
        while (name := (await asyncio.wait_for(anext(stream), PATIENCE_S))[0]) == "page":
            pass
        assert name == "call"


async def test_a_slow_reader_blocks_nobody_and_learns_how_much_it_missed(
    start: StartService, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("browser_service.observability.activity._INBOX_ROWS", 2)
    service = await start()
    activity = service.parts.ledger.activity
    async with service.agent() as agent:
        with activity.watch(RowFilter(), "somebody") as watcher:
            await agent.call("goto", pageId="p", url=site.page("/", "<input id=a>"))
            for text in ("1", "22", "333", "4444"):
                await agent.call("fill", pageId="p", selector="#a", value=text)
            seen = [await watcher.next() for _ in range(3)]
            assert [one if isinstance(one, int) or one is None else one.action for one in seen] == ["goto", "fill", 3]
            await agent.call("reload_page", pageId="p")
            last = await asyncio.wait_for(watcher.next(), PATIENCE_S)
            assert not isinstance(last, int)
            assert last is not None
            assert last.action == "reload_page"
            activity.end_streams()
            assert await asyncio.wait_for(watcher.next(), PATIENCE_S) is None


async def test_a_reader_that_stops_reading_costs_the_service_a_bounded_queue(tmp_path: Path) -> None:
    noted = parse({"action": "close_page", "pageId": "p", "reason": "so " * 60})
    async with listening(tmp_path) as service, connected(service, "a") as agent:
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # which is soon full
        slow.connect(("127.0.0.1", service.settings.port))
        reader, writer = await asyncio.open_connection(sock=slow, limit=1_000)
        token = agent.http.headers["Authorization"]
        host = f"127.0.0.1:{service.settings.port}"
        request = f"GET {wire.EVENTS}?activity=1 HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n\r\n"
        writer.write(request.encode())
        await reader.readuntil(b"hello")  # and no more from now on
        activity = service.parts.ledger.activity
        (watcher,) = activity.watchers
        async with asyncio.timeout(PATIENCE_S):
            while not watcher.dropped:
                activity.note(Identity(client_id="b"), noted, Outcome(call_id="c"), "c", 0)
                await asyncio.sleep(0)  # the stream's turn to send, if its reader takes it
        assert watcher.full
        assert await agent.call("list_pages")
        writer.close()
        await become(lambda: not activity.watchers)


async def test_streams_of_followers_end_with_the_service(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        service = await stack.enter_async_context(listening(tmp_path))
        bob = await stack.enter_async_context(connected(service, "b"))
        response = await stack.enter_async_context(bob.http.stream("GET", wire.EVENTS, params={"activity": "1"}))
        stream = events(response)
        assert (await anext(stream))[0] == "hello"
        service.parts.ledger.activity.end_streams()
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(stream), PATIENCE_S)
        await become(lambda: not service.parts.ledger.activity.watchers)


async def test_a_bad_filter_of_a_stream_is_refused_before_it_begins(agent: Agent) -> None:
    reply = await agent.http.get(wire.EVENTS, params={"activity": "1", "since": "soon"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
