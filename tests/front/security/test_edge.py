"""Tests the outermost check: requests of foreign origin, of the wrong kind, or too large do not come in."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from browse_together.contract import wire
from browse_together.contract.wire import MAX_MESSAGE_BYTES
from browser_service.http.edge import Edge
from browser_service.http.faults import error_response
from tests.support.json import AnyJson
from tests.support.listening import connected, listening
from tests.support.service import Agent, RunningService
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

LIST = json.dumps({"action": "list_pages"}).encode()
JSON = {"Content-Type": "application/json"}


def assert_envelope(reply: httpx.Response, status: int, code: str) -> dict[str, AnyJson]:
    """Check that a refusal has the envelope of all refusals, and return its error. Any: whatever JSON it has."""
    assert reply.status_code == status, reply.text
    body = reply.json()
    assert body["success"] is False
    error: dict[str, AnyJson] = body["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["timestamp"].endswith("Z")
    assert error["requestId"] == reply.headers[wire.REQUEST_ID]
    assert error["requestId"].startswith("req_")
    return error


# --- where from ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8888", "127.0.0.1", "127.0.0.1:80", "localhost:8889", "127.0.0.1:8888.evil.example",
     "127.1:8888", "x.localhost:8888", "[::1]", "", " ", "127.0.0.1:8888,evil.example"],
)  # fmt: skip
async def test_another_host_header_is_refused_before_anything_is_read(agent: Agent, host: str) -> None:
    """A name that was made to resolve to this machine comes with its own Host header."""
    for path in (wire.PAGES, wire.HEALTH, "/nowhere"):
        error = assert_envelope(await agent.http.get(path, headers={"Host": host}), 403, "FORBIDDEN")
        assert "Host header" in error["message"]


@pytest.mark.parametrize("host", ["127.0.0.1:8888", "localhost:8888", "[::1]:8888"])
async def test_loopback_by_each_of_its_names_is_accepted(agent: Agent, host: str) -> None:
    assert (await agent.http.get(wire.PAGES, headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1:3000", "http://localhost:8888", "http://127.0.0.1:8888/",
     "http://127.0.0.1:8888.evil.example", "chrome-extension://abc", "file://", ""],
)  # fmt: skip
async def test_a_foreign_origin_is_refused(agent: Agent, origin: str) -> None:
    for method, path in (("GET", wire.PAGES), ("GET", wire.EVENTS), ("POST", wire.BROWSER), ("OPTIONS", wire.BROWSER)):
        reply = await agent.http.request(method, path, headers={"Origin": origin, **JSON}, content=LIST)
        error = assert_envelope(reply, 403, "FORBIDDEN")
        assert "origin" in error["message"]
        assert "access-control-allow-origin" not in reply.headers


async def test_the_services_own_origin_is_accepted(agent: Agent) -> None:
    reply = await agent.http.get(wire.PAGES, headers={"Origin": "http://127.0.0.1:8888"})
    assert reply.status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
async def test_a_request_that_another_sites_page_sends_is_refused(agent: Agent, site: str) -> None:
    for path in (wire.PAGES, wire.HEALTH):
        assert_envelope(await agent.http.get(path, headers={"Sec-Fetch-Site": site}), 403, "FORBIDDEN")


@pytest.mark.parametrize("site", ["none", "same-origin"])
async def test_a_request_of_a_person_or_of_our_own_page_is_accepted(agent: Agent, site: str) -> None:
    assert (await agent.http.get(wire.PAGES, headers={"Sec-Fetch-Site": site})).status_code == 200


async def test_a_websocket_from_elsewhere_is_closed_before_the_application_sees_it() -> None:
    async def application(*_: object) -> None:
        raise AssertionError("the application was asked")

    edge = Edge(application, lambda: ["127.0.0.1:8888"], error_response)
    sent: list[dict[str, object]] = []

    async def send(message: Any) -> None:  # Any: ASGI's own
        sent.append(message)

    async def receive() -> dict[str, object]:
        return {"type": "websocket.connect"}

    headers = [(b"host", b"127.0.0.1:8888"), (b"origin", b"https://evil.example")]
    await edge({"type": "websocket", "raw_path": b"/", "path": "/", "headers": headers, "state": {}}, receive, send)
    assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1008)]


# --- what kind -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", "", None,
     "application/jsonp", "text/plain; application/json"],
)  # fmt: skip
async def test_a_body_of_another_type_is_refused(agent: Agent, kind: str | None) -> None:
    """These are what a page can send to another origin without asking."""
    headers = {} if kind is None else {"Content-Type": kind}
    for path in (wire.BROWSER, f"{wire.BROWSER}/p", f"{wire.CALLS}/c/cancel"):
        error = assert_envelope(await agent.http.post(path, content=LIST, headers=headers), 415, "INVALID_REQUEST")
        assert "application/json" in error["hint"]


@pytest.mark.parametrize("coding", ["gzip", "deflate, gzip", "x-of-another"])
async def test_a_body_that_says_to_be_packed_is_refused(agent: Agent, coding: str) -> None:
    """What stands between could read another body in it than we do."""
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    error = assert_envelope(await agent.http.post(wire.BROWSER, content=LIST, headers=headers), 415, "INVALID_REQUEST")
    assert coding in error["message"]


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
async def test_json_is_accepted_however_its_type_is_written(agent: Agent, kind: str) -> None:
    assert (await agent.http.post(wire.BROWSER, content=LIST, headers={"Content-Type": kind})).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"{bad", b'{"action": "list_pages"', b"\xff\xfe", b'"text"', b"[]", b"[1]", b"null", b"1", b"true"],
)
async def test_a_body_that_is_no_json_object_is_refused(agent: Agent, body: bytes) -> None:
    error = assert_envelope(await agent.http.post(wire.BROWSER, content=body, headers=JSON), 400, "INVALID_REQUEST")
    assert '{"action": ' in error["hint"]


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api", "/api/browser/p/q", "/api/browser/", "/docs", "/redoc", "/%2e%2e"]
)
async def test_an_unknown_route_is_404_in_the_envelope(agent: Agent, path: str) -> None:
    error = assert_envelope(await agent.http.get(path), 404, "INVALID_REQUEST")
    assert "POST /api/browser/{pageId}" in error["hint"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", wire.BROWSER), ("PUT", wire.BROWSER), ("DELETE", f"{wire.BROWSER}/p"), ("POST", wire.EVENTS),
     ("PATCH", wire.HEALTH), ("POST", wire.TOOLS), ("GET", f"{wire.CALLS}/c/cancel"), ("OPTIONS", wire.BROWSER)],
)  # fmt: skip
async def test_a_wrong_method_is_405_in_the_envelope(agent: Agent, method: str, path: str) -> None:
    error = assert_envelope(await agent.http.request(method, path, headers=JSON), 405, "INVALID_REQUEST")
    assert method in error["message"]
    assert "POST" in error["hint"]


# --- how much --------------------------------------------------------------------------------------------------------


async def pieces(size: int) -> AsyncIterator[bytes]:
    """Yield a valid body of that many bytes, sent without its length."""
    left = size - len(LIST)
    yield LIST
    while left > 0:
        yield b" " * min(left, 1_000_000)
        left -= 1_000_000


@pytest.mark.parametrize("says_its_length", [True, False], ids=["with a length", "without a length"])
async def test_a_body_of_ten_mebibytes_is_read_and_one_byte_more_is_not(agent: Agent, *, says_its_length: bool) -> None:
    def body(size: int) -> bytes | AsyncIterator[bytes]:
        return LIST + b" " * (size - len(LIST)) if says_its_length else pieces(size)

    assert MAX_MESSAGE_BYTES == 10_485_760
    accepted = await agent.http.post(wire.BROWSER, content=body(MAX_MESSAGE_BYTES), headers=JSON)
    assert accepted.status_code == 200, accepted.text
    refused = await agent.http.post(wire.BROWSER, content=body(MAX_MESSAGE_BYTES + 1), headers=JSON)
    error = assert_envelope(refused, 413, "INVALID_REQUEST")
    assert "10,485,760" in error["message"]


async def test_a_body_that_is_too_large_is_refused_over_a_real_socket(listener: RunningService) -> None:
    async with connected(listener, "agent-1") as agent:
        for content in (LIST + b" " * MAX_MESSAGE_BYTES, pieces(MAX_MESSAGE_BYTES + 1)):
            async with asyncio.timeout(PATIENCE_S):
                reply = await agent.http.post(wire.BROWSER, content=content, headers=JSON)
            assert_envelope(reply, 413, "INVALID_REQUEST")
        assert (await agent.http.get(wire.PAGES)).status_code == 200


async def test_a_file_is_sent_ahead_as_bytes_and_only_its_client_can_use_it(agent: Agent, other: Agent) -> None:
    data, octets = bytes(MAX_MESSAGE_BYTES + 1), {"Content-Type": "application/octet-stream"}
    sent = await agent.http.put(wire.FILES, content=data, headers=octets)
    kept = sent.json()["result"]
    assert (sent.status_code, kept["size"], "path" in kept) == (200, len(data), False)
    assert (await agent.http.get(kept["url"])).content == data
    assert (await other.http.get(kept["url"])).status_code == 404
    assert_envelope(await agent.http.put(wire.FILES, content=b"{}", headers=JSON), 415, "INVALID_REQUEST")
    assert_envelope(await agent.http.put(wire.BROWSER, content=b"{}", headers=octets), 415, "INVALID_REQUEST")
    nobody = {**octets, "Authorization": "Bearer no"}
    assert_envelope(await agent.http.put(wire.FILES, content=data, headers=nobody), 401, "UNAUTHORIZED")
    too_long = {**octets, "Content-Length": str(wire.FILE_BYTES + 1)}
    assert_envelope(await agent.http.put(wire.FILES, content=b"", headers=too_long), 413, "INVALID_REQUEST")


async def test_files_that_are_sent_ahead_count_as_calls_and_leave_nothing_where_they_broke_off(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield bytes(70_000)
        raise OSError("the sender is gone")

    async with listening(tmp_path, client_calls_per_minute=4) as service, connected(service, "agent-1") as agent:
        octets = {"Content-Type": "application/octet-stream"}
        with contextlib.suppress(OSError, httpx.HTTPError):
            await agent.http.put(wire.FILES, content=broken(), headers=octets)
        too_long = await agent.http.put(wire.FILES, content=pieces(wire.FILE_BYTES + 1), headers=octets)
        assert_envelope(too_long, 413, "INVALID_REQUEST")
        kept = [await agent.http.put(wire.FILES, content=b"x", headers=octets) for _ in range(3)]
        assert [reply.status_code for reply in kept] == [200, 200, 429]
        assert "BROWSE_CLIENT_CALLS_PER_MINUTE" in kept[-1].json()["error"]["message"]
        assert len([*(tmp_path / "artifacts").iterdir()]) == 2


async def test_the_body_of_an_unproven_caller_is_not_read(service: RunningService) -> None:
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b" " * 100_000

    async with service.agent() as agent:
        del agent.http.headers["Authorization"]
        reply = await agent.http.post(wire.BROWSER, content=endless(), headers=JSON)
    assert_envelope(reply, 401, "UNAUTHORIZED")
    assert taken < 3


# --- from a page in the browser --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
async def listener(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningService]:
    async with listening(tmp_path_factory.mktemp("listener")) as service:
        yield service
