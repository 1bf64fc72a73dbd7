"""Tests what comes over a raw socket before a token is looked at: it says one thing, within limits, or goes."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from browse_together.client.credentials import mint
from browse_together.contract import requests, wire
from browse_together.contract.pages import Figures
from browser_service import process
from browser_service.http import edge, streams, watching
from tests.support.listening import listening
from tests.support.service import RunningService
from tests.support.waiting import PATIENCE_S, become

pytestmark = pytest.mark.anyio

LIST = b'{"action": "list_pages"}'


@pytest.fixture(scope="module")
async def listener(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("connections")) as service:
        yield service


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Raw:
    """A client that speaks to a service in bytes."""

    def __init__(self, service: RunningService) -> None:
        self.service = service
        self.host = f"127.0.0.1:{service.settings.port}"
        self.token = mint(service.secret, "raw", "raw")

    def head(self, *lines: str, method: str = "GET", target: str = wire.PAGES, proven: bool = True) -> bytes:
        """Return a request's head, with further headers after ours."""
        proof = [f"Authorization: Bearer {self.token}"] if proven else []
        return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {self.host}", *proof, *lines, "", ""]).encode()

    async def open(self, *sent: bytes) -> Streams:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.service.settings.port)
        for part in sent:
            writer.write(part)
        await writer.drain()
        return reader, writer

    async def status(self, *sent: bytes) -> int:
        """Return the status that a request is answered with."""
        reader, writer = await self.open(*sent)
        async with asyncio.timeout(PATIENCE_S):
            line = await reader.readline()
        writer.close()
        return int(line.split()[1])


async def closed(reader: asyncio.StreamReader) -> bytes:
    """Wait until the service has closed a connection, and return what it had said."""
    said = b""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65_536):
                said += part
    return said


@pytest.fixture
def raw(listener: RunningService) -> Raw:
    return Raw(listener)


# --- it says one thing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "twice",
    ["Host: evil.example", "Origin: http://127.0.0.1", "Authorization: Bearer no", "Content-Type: text/plain",
     "Content-Length: 3", "Sec-Fetch-Site: none", "X-Browse-Call: other"],
)  # fmt: skip
async def test_a_header_that_stands_twice_is_refused(raw: Raw, twice: str) -> None:
    name = twice.partition(":")[0]
    first = {
        "Origin": f"Origin: http://{raw.host}",
        "Sec-Fetch-Site": "Sec-Fetch-Site: none",
        "X-Browse-Call": "X-Browse-Call: c",
    }
    body = ["Content-Type: application/json", f"Content-Length: {len(LIST)}"]
    lines = [*body, *([first[name]] if name in first else [])]
    for sent, status in ((lines, 200), ([*lines, twice], 400), ([twice, *lines], 400)):
        assert await raw.status(raw.head(*sent, method="POST", target=wire.BROWSER), LIST) == status


async def test_a_handshake_with_two_hosts_or_origins_is_refused(raw: Raw) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: eA==")
    ours = f"Origin: http://{raw.host}"
    for twice in ((f"Host: {raw.host}",), (ours, ours)):
        assert await raw.status(raw.head(*upgrade, *twice, target=wire.EVENTS)) == 400


async def test_a_length_that_an_older_forwarder_does_not_know_is_refused(raw: Raw) -> None:
    head = raw.head("Content-Type: application/json", "Transfer-Encoding: chunked", method="POST", target=wire.BROWSER)
    body = f"{len(LIST):x}\r\n".encode() + LIST + b"\r\n0\r\n\r\n"
    assert await raw.status(head, body) == 200
    assert await raw.status(head.replace(b"HTTP/1.1", b"HTTP/1.0"), body) == 400


async def test_a_request_with_hundreds_of_headers_is_refused(raw: Raw) -> None:
    assert await raw.status(raw.head(*(f"X-{number}: 1" for number in range(90)))) == 200
    assert await raw.status(raw.head(*(f"X-{number}: 1" for number in range(200)))) == 400


async def test_a_target_that_is_no_path_is_refused(raw: Raw) -> None:
    for target in ("http://evil.example", f"http://evil.example@{raw.host}", "http://127.0.0.1:1", "//evil", "ftp://x"):
        assert await raw.status(raw.head(target=f"{target}{wire.PAGES}")) in {400, 404}, target
    assert await raw.status(raw.head(target=f"http://evil.example{wire.PAGES}")) == 400
    assert await raw.status(raw.head(target="evil.example:80", method="CONNECT")) in {400, 405}
    assert await raw.status(raw.head(target=f"http://{raw.host}{wire.PAGES}")) == 400
    assert await raw.status(raw.head(target=wire.PAGES.replace("/", "%2F"))) == 400


# --- it has limits ---------------------------------------------------------------------------------------------------


async def test_a_body_that_does_not_come_is_answered_and_delays_nobody(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "MESSAGE", replace(edge.MESSAGE, within_s=0.3))
    lines = ("Content-Type: application/json", "Content-Length: 99")
    posting = raw.head(*lines, method="POST", target=wire.BROWSER) + LIST[:9]
    unread = raw.head(*lines, method="POST", proven=False) + b"{"
    waiting = [raw.status(half) for half in (posting, unread) * 20]
    statuses = asyncio.gather(*waiting)
    assert await raw.status(raw.head()) == 200
    assert await statuses == [504, 401] * 20


async def test_a_long_head_is_read_and_one_without_end_is_cut_off(raw: Raw) -> None:
    assert await raw.status(raw.head(f"X-Long: {'x' * 60_000}")) == 200
    reader, writer = await raw.open(raw.head()[:-2] + b"X-Endless: ")
    with pytest.raises(ConnectionError):
        await asyncio.wait_for(_write_on(writer), PATIENCE_S)
    assert (await closed(reader)).startswith((b"", b"HTTP/1.1 400"))
    writer.close()


async def _write_on(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x" * 100_000)
        await writer.drain()


async def test_more_connections_than_the_limit_are_refused_until_some_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MOST_OPEN", 20)
    async with listening(tmp_path) as service:
        raw = Raw(service)
        held = [await raw.open() for _ in range(18)]
        assert await raw.status(raw.head()) == 200
        held += [await raw.open()]
        await become_status(raw, 503)
        for _, writer in held:
            writer.close()
        await become_status(raw, 200)


async def become_status(raw: Raw, status: int) -> None:
    """Wait until requests are answered with this status. What opens or ends a connection does not tell when the
    service knows."""
    async with asyncio.timeout(PATIENCE_S):
        while await raw.status(raw.head()) != status:
            continue


async def test_a_sender_of_many_halves_keeps_few_of_them_in_memory(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MESSAGES_AT_A_TIME", 2)
    monkeypatch.setattr(edge, "MESSAGE", replace(edge.MESSAGE, most=1_000))
    head = raw.head("Content-Type: application/json", "Content-Length: 1000", method="POST", target=wire.BROWSER)
    halves = [await raw.open(head + b" " * 999) for _ in range(2)]
    await become(lambda: edge.HELD.of(f"Bearer {raw.token}") == 1_998)
    assert await raw.status(head + b" " * 999) == 503
    for _, writer in halves:
        writer.close()
    await become(lambda: edge.HELD.of(f"Bearer {raw.token}") == 0)
    assert await raw.status(head + LIST + b" " * (1_000 - len(LIST))) == 200


# --- it is one of few ------------------------------------------------------------------------------------------------


async def test_a_client_has_a_bounded_number_of_streams(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_STREAMS", 3)
    opened = [await raw.open(raw.head(target=f"{wire.EVENTS}?activity={number % 2}")) for number in range(3)]
    for reader, _ in opened:
        assert b" 200 " in await reader.readline()
    assert await raw.status(raw.head(target=wire.EVENTS)) == 429
    opened[0][1].close()
    await become(lambda: raw.service.app.state.open_streams["raw"] == 2)
    assert await raw.status(raw.head(target=wire.EVENTS)) == 200
    for _, writer in opened:
        writer.close()


# --- it is made once -------------------------------------------------------------------------------------------------


async def test_figures_are_computed_at_most_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FRESH_S", 1_000)
    async with listening(tmp_path) as service:
        raw, counted, figures = Raw(service), list[Figures](), service.parts.host.figures

        async def count() -> Figures:
            counted.append(await figures())
            return counted[-1]

        monkeypatch.setattr(service.parts.host, "figures", count)
        asked: list[Callable[[], Awaitable[int]]] = [
            lambda: raw.status(raw.head(target=wire.READY, proven=False)),
            lambda: raw.status(raw.head(target=wire.METRICS)),
        ]
        for ask in asked:
            assert await asyncio.gather(*(ask() for _ in range(20))) == [200] * 20
        assert len(counted) == 2


async def test_the_description_of_all_actions_is_for_clients_and_made_once(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await raw.status(raw.head(target=wire.OPENAPI, proven=False)) == 401
    made, describe = list[dict[str, object]](), raw.service.app.openapi

    def counted() -> dict[str, object]:
        made.append(describe())
        return made[-1]

    monkeypatch.setattr(raw.service.app, "openapi", counted)
    headers = {"Authorization": f"Bearer {raw.token}"}
    async with httpx.AsyncClient(base_url=raw.service.base_url, headers=headers, trust_env=False) as http:
        replies = await asyncio.gather(*(http.get(wire.OPENAPI) for _ in range(5)))
    assert len(made) == 1
    assert {reply.content for reply in replies} == {json.dumps(made[0]).encode()}
