"""Tests that a token goes only to a program that has proven, on that connection, that it has the account's secret."""

import asyncio
import contextlib
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from browse_together.client.autostart import Autostart
from browse_together.client.connecting import ConnectingSettings
from browse_together.client.credentials import Credentials, mint
from browse_together.client.http import ServiceClient
from browse_together.contract import wire
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.secret import ensure_secret, proof
from browse_together.contract.written import fingerprint
from browser_service.cli.client import Client
from browser_service.cli.running import running_settings
from tests.support.certificates import certificate
from tests.support.listening import listening
from tests.support.service import RunningService, settings_for
from tests.support.standin import SECRET, StandIn
from tests.support.standin import listening as standing_in
from tests.support.waiting import become

pytestmark = pytest.mark.anyio

LIST: dict[str, object] = {"action": "list_pages"}
HEALTHY = {"status": "ok", "pid": 1, "version": wire.VERSION, "catalogue": fingerprint()}


class Foreign:
    """Another program at a port: it records what it is sent, and answers as a test says."""

    def __init__(self, answer: Callable[[str], bytes]) -> None:
        self.answer = answer
        self.heard = b""
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heard += head
                nonce = re.search(rb"nonce=(\w+)", head)
                writer.write(self.answer(nonce[1].decode() if nonce else ""))
                await writer.drain()
        writer.close()


def response(body: object, status: str = "200 OK") -> bytes:
    text = json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text


ANSWERS: dict[str, Callable[[str], bytes]] = {
    "nothing of ours": lambda _: response("hello"),
    "not found": lambda _: response({}, "404 Not Found"),
    "the report of a service": lambda _: response(HEALTHY),
    "a proof of nothing": lambda _: response({**HEALTHY, "proof": ""}),
    "a proof of its own": lambda nonce: response({**HEALTHY, "proof": proof("its secret", nonce, ("127.0.0.1", 1))}),
    "a proof for another address": lambda nonce: response({**HEALTHY, "proof": proof(SECRET, nonce, ("::1", 1))}),
    "no HTTP": lambda _: b"220 mail.example ESMTP\r\n\r\n",
    "a body without end": lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n" + b" " * 200_000,
}


@asynccontextmanager
async def foreign(answer: Callable[[str], bytes], port: int = 0) -> AsyncIterator[Foreign]:
    program = Foreign(answer)
    async with await asyncio.start_server(program.serve, "127.0.0.1", port) as server:
        program.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield program


@asynccontextmanager
async def client_of(url: str, data_dir: Path, **known: object) -> AsyncIterator[ServiceClient]:
    credentials = Credentials("tester", data_dir, **known)  # type: ignore[arg-type] # what a test gives
    service = ServiceClient(url, credentials, Autostart(url, data_dir, enabled=False), fingerprint())
    service.retry_for_s = 0.2
    try:
        yield service
    finally:
        await service.close(within_s=1)


async def refusal(service: ServiceClient) -> ServiceUnavailable:
    with pytest.raises(ServiceUnavailable) as refused:
        await service.call("call-1", {"action": "list_pages"})
    return refused.value


@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_foreign_program_at_the_port_is_sent_no_token_and_is_named(data_dir: Path, kind: str) -> None:
    async with foreign(ANSWERS[kind]) as program, client_of(program.url, data_dir) as service:
        error = await refusal(service)
        with pytest.raises(ServiceUnavailable):
            async with service.events():
                pass
        with pytest.raises(ServiceUnavailable):
            await service.upload(b"bytes")
    assert program.heard.count(b"nonce=") == 3
    assert b"uthorization" not in program.heard
    assert error.code == "SERVICE_UNAVAILABLE"
    assert "is not this account's browser service" in error.message
    assert "browse-together up --detach --port" in str(error.advice)


async def test_a_program_that_asks_the_service_for_the_proof_is_sent_no_token(data_dir: Path, standin: StandIn) -> None:
    """It is at another address, which the proof names."""
    port = int(standin.url.rpartition(":")[2])
    heard = b""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            heard += head
            theirs, ours = await asyncio.open_connection("127.0.0.1", port)
            ours.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            writer.write(await theirs.read())
            ours.close()
            heard += await reader.read()
        writer.close()

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with client_of(url, data_dir) as service:
            error = await refusal(service)
    assert "is not this account's browser service" in error.message
    assert b"nonce=" in heard
    assert b"uthorization" not in heard
    assert standin.calls.empty()


async def test_who_takes_the_port_after_the_service_is_sent_no_token(data_dir: Path) -> None:
    async with standing_in(StandIn()) as standin, client_of(standin.url, data_dir) as service:
        assert not (await service.call("call-1", {"action": "list_pages"})).error
        assert "authorization" in (await standin.call()).headers
        port = int(standin.url.rpartition(":")[2])
        service.retry_for_s = 5.0
    async with foreign(ANSWERS["not found"], port) as program, client_of(program.url, data_dir) as service:
        await refusal(service)
    assert b"uthorization" not in program.heard


async def test_the_proof_is_asked_for_once_a_connection(data_dir: Path, standin: StandIn) -> None:
    async with client_of(standin.url, data_dir) as service:
        for number in range(3):
            assert not (await service.call(f"call-{number}", {"action": "list_pages"})).error
    assert standin.asked_for_proof == 1


async def test_a_connection_from_before_there_was_a_secret_is_not_used_with_a_token(tmp_path: Path) -> None:
    unauthorized = response({"success": False, "error": {"code": "UNAUTHORIZED", "message": "no"}}, "401 Unauthorized")
    async with foreign(lambda _: unauthorized) as program, client_of(program.url, tmp_path) as service:
        assert (await service.call("call-1", {"action": "list_pages"})).error is not None
        assert b"nonce=" not in program.heard
        (tmp_path / wire.SECRET_FILE).write_text(SECRET, encoding="ascii")
        service.credentials.forget()
        await refusal(service)
    assert b"nonce=" in program.heard
    assert b"uthorization" not in program.heard


async def test_a_token_that_was_given_proves_nothing_and_is_sent(tmp_path: Path, standin: StandIn) -> None:
    standin.secret = None
    async with client_of(standin.url, tmp_path, token="given") as service:
        assert not (await service.call("call-1", {"action": "list_pages"})).error
    assert (await standin.call()).headers["authorization"] == "Bearer given"


# --- the command line ------------------------------------------------------------------------------------------------


async def test_the_command_line_sends_a_foreign_program_no_token(tmp_path: Path) -> None:
    """It has the port that the file of the data directory names, and says what the service would have said."""
    ensure_secret(tmp_path)
    async with foreign(ANSWERS["the report of a service"]) as program:
        (tmp_path / wire.INSTANCE_FILE).write_text(json.dumps({"pid": 1, "url": program.url}), encoding="utf-8")

        def ask() -> None:
            with Client(tmp_path, operator=True) as cli, pytest.raises(ServiceUnavailable):
                cli.get(wire.REQUESTS)

        await asyncio.to_thread(ask)
        assert await asyncio.to_thread(running_settings, settings_for(tmp_path)) is None
    assert program.heard.count(b"nonce=") == 2
    assert b"uthorization" not in program.heard


@pytest.fixture
async def encrypted(tmp_path: Path) -> AsyncIterator[RunningService]:
    cert, key = certificate(tmp_path)
    async with listening(tmp_path / "data", tls_cert=cert, tls_key=key) as service:
        yield service


async def test_a_service_of_this_machine_by_https_is_proven_by_the_secret(
    encrypted: RunningService, tmp_path: Path
) -> None:
    """Its certificate is made for the name by which others call it."""
    url, data_dir = encrypted.base_url, encrypted.settings.data_dir
    assert url.startswith("https:")
    async with client_of(url, data_dir) as service:
        reply = await service.call("call-1", {"action": "list_pages"})
    assert reply.error is None
    written = {"pid": os.getpid(), "url": url}  # as `up` does
    (data_dir / wire.INSTANCE_FILE).write_text(json.dumps(written), encoding="utf-8")
    told = await asyncio.to_thread(running_settings, encrypted.settings)
    assert told is not None
    assert "tls_cert" in told.changed
    other = tmp_path / "other"
    ensure_secret(other)
    async with client_of(url, other) as service:
        assert "is not this account's browser service" in (await refusal(service)).message


async def test_without_an_address_a_service_of_this_machine_is_found_by_https(
    encrypted: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, data_dir = encrypted.base_url, encrypted.settings.data_dir
    port = int(url.rpartition(":")[2])

    def found() -> str:
        return ConnectingSettings(data_dir=data_dir, port=port).url

    assert await asyncio.to_thread(found) == f"http://127.0.0.1:{port}"
    note = data_dir / wire.INSTANCE_FILE
    note.write_text(json.dumps({"pid": os.getpid(), "url": url}), encoding="utf-8")
    assert await asyncio.to_thread(found) == url
    note.write_text(json.dumps({"pid": 1, "url": "https://127.0.0.1:9"}), encoding="utf-8")
    assert ConnectingSettings(data_dir=data_dir, port=9).url == "http://127.0.0.1:9"  # it was killed
    assert ConnectingSettings(data_dir=data_dir, port=9, autostart=False).url == "https://127.0.0.1:9"
    async with listening(tmp_path / "plain") as plain:
        data_dir, port = tmp_path / "plain", int(plain.base_url.rpartition(":")[2])
        monkeypatch.setenv("BROWSE_TLS_CERT", str(tmp_path / "cert.pem"))
        assert await asyncio.to_thread(found) == plain.base_url
    assert await asyncio.to_thread(found) == f"https://127.0.0.1:{port}"  # as it would be started
    monkeypatch.setenv("BROWSE_AUTOSTART", "false")
    assert await asyncio.to_thread(found) == plain.base_url  # the certificate may be the gateway's own


async def test_a_real_service_proves_itself_and_another_secret_does_not_pass(tmp_path: Path) -> None:
    async with listening(tmp_path / "data") as service:
        async with client_of(service.base_url, service.settings.data_dir) as client, client.events():
            await become(lambda: service.is_present("tester"))
        other = tmp_path / "other"
        ensure_secret(other)
        async with client_of(service.base_url, other) as client:
            assert "was sent no token" in (await refusal(client)).message
        assert service.parts.ledger.register.records == {}


async def test_a_certificate_that_nobody_has_signed_is_named_and_the_token_stays_here(
    encrypted: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is a given one, so that nothing else proves the service, which does run."""
    token = mint(ensure_secret(encrypted.settings.data_dir), "given")
    async with client_of(encrypted.base_url, tmp_path / "elsewhere", token=token) as service:
        error = await refusal(service)
    assert "CERTIFICATE_VERIFY_FAILED" in error.message
    assert "no token was sent" in error.message
    assert "SSL_CERT_FILE" in str(error.advice)
    assert "not running" not in error.message
    monkeypatch.setenv("SSL_CERT_FILE", str(encrypted.settings.tls_cert))
    async with client_of(encrypted.base_url, tmp_path / "elsewhere", token=token) as service:
        assert (await service.call("call-1", {"action": "list_pages"})).error is None
