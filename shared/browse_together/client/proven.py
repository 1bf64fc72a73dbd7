"""Makes a service prove that it has the account's secret, on each connection, before a token is sent.

Without this, any program that took the service's port, because the service ended or never ran, would receive a token of
every chat. The proof is bound to the connection: it contains the address that we are connected to, so no program can
forward our question to the service and return its answer.
"""

import asyncio
import contextlib
import secrets
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final, Self, SupportsIndex, cast
from urllib.parse import urlsplit

import httpcore
import httpx

from browse_together.client import unavailable
from browse_together.client.instance import is_local, json_object
from browse_together.contract.secret import is_proof, read_secret
from browse_together.contract.wire import HEALTH, NONCE

_MOST_HELD_BYTES: Final = 65_536


class _Reader(asyncio.StreamReader):
    """A reader that counts its bytes, to detect data that no request asked for."""

    came = 0

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        self.came += len(bytes(data))
        super().feed_data(data)


class PlainStream(httpcore.AsyncNetworkStream):
    """A connection without TLS. Head and body of a request are sent together, because each piece wakes the service."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._read = 0
        self._held: list[bytes] = []
        self._held_bytes = 0

    @classmethod
    async def open(cls, host: str, port: int, within_s: float | None) -> Self:
        """Connect. Raises ConnectTimeout, ConnectError."""
        loop = asyncio.get_running_loop()
        reader = _Reader(loop=loop)
        with _errors(httpcore.ConnectTimeout, httpcore.ConnectError):
            async with asyncio.timeout(within_s):
                transport, protocol = await loop.create_connection(
                    lambda: asyncio.StreamReaderProtocol(reader, loop=loop), host, port
                )
        return cls(reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's signature
        if self._held:
            with contextlib.suppress(httpcore.WriteError):  # an answer sent before the close can be read
                await self._send(timeout)
        with _errors(httpcore.ReadTimeout, httpcore.ReadError):
            async with asyncio.timeout(timeout):
                read = await self._reader.read(max_bytes)
        self._read += len(read)
        return read

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as above
        """Hold the data until the answer is read, as happens after every request."""
        self._held.append(buffer)
        self._held_bytes += len(buffer)
        if self._held_bytes > _MOST_HELD_BYTES:
            await self._send(timeout)

    async def aclose(self) -> None:
        self._writer.transport.abort()
        await asyncio.sleep(0)  # lets asyncio close the socket

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":  # true: the idle connection is closed or has stray data
            return self._reader.came > self._read or self._reader.at_eof() or self._writer.is_closing()
        return self._writer.get_extra_info("peername") if info == "server_addr" else None

    async def _send(self, within_s: float | None) -> None:
        held, self._held, self._held_bytes = b"".join(self._held), [], 0
        with _errors(httpcore.WriteTimeout, httpcore.WriteError):
            async with asyncio.timeout(within_s):
                self._writer.write(held)
                await self._writer.drain()


@contextlib.contextmanager
def _errors(late: type[httpcore.TimeoutException], broken: type[httpcore.NetworkError]) -> Iterator[None]:
    """Turn connection errors into httpcore's."""
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error


_MAX_BODY_BYTES: Final = 65_536
_IDLE_S: Final = 50.0
"""How long an idle connection is kept: shorter than the service keeps it. If the service closed a connection during a
request, the call's outcome would seem unknown although it never happened."""
_MOST_IDLE: Final = 64

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class Prover:
    """The proof that a service must give. A local one must prove that it has the secret from which we make our token.

    A given token proves nothing about its receiver, and a service elsewhere is proven by its https certificate.
    """

    def __init__(self, url: str, data_dir: Path, *, given_token: bool) -> None:
        self.url = url
        self.is_asked = is_local(url) and not given_token
        self._data_dir = data_dir
        self._last: str | None = None

    def secret(self) -> str | None:
        """Return the secret, or the last known one if it is gone. None if nothing has to be proven, or if there never
        was a secret, and so no token. Raises ServiceUnavailable for a secret that cannot be used."""
        if not self.is_asked:
            return None
        with contextlib.suppress(FileNotFoundError):
            self._last = read_secret(self._data_dir)
        return self._last

    def check(self, answer: httpcore.Response, body: bytes, secret: str, nonce: str) -> None:
        """Raise ServiceUnavailable if an answer is no proof, and ConnectError if the service is too busy to answer."""
        if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
            raise httpcore.ConnectError("the service is too busy")
        proof, address = (
            json_object(body).get("proof"),
            answer.extensions["network_stream"].get_extra_info("server_addr"),
        )
        if answer.status != HTTPStatus.OK or not is_proof(proof, secret, nonce, address):
            raise unavailable.unproven(self.url)


class ProvenTransport(httpx.AsyncBaseTransport):
    """Connections to a service that send nothing else before the service has proven itself."""

    def __init__(self, prover: Prover) -> None:
        self._pool = _Pool(prover, _tls_context(prover))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        stream = cast("httpx.AsyncByteStream", request.stream)  # of an asynchronous client
        asked = httpcore.Request(
            request.method, url, headers=request.headers.raw, content=stream, extensions=request.extensions
        )
        with _httpx_errors():
            answer = await self._pool.handle_async_request(asked)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Answer(answer), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Answer(httpx.AsyncByteStream):
    """The body of an answer."""

    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for part in self._answer.aiter_stream():
                yield part

    async def aclose(self) -> None:
        with _httpx_errors():
            await self._answer.aclose()


@contextlib.contextmanager
def _httpx_errors() -> Iterator[None]:
    """Turn httpcore's errors into httpx's, which have the same names."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        kind: type[httpx.TransportError] = getattr(httpx, type(error).__name__)
        raise kind(str(error)) from error


class _Pool(httpcore.AsyncConnectionPool):
    def __init__(self, prover: Prover, encryption: ssl.SSLContext | None) -> None:
        super().__init__(max_connections=None, max_keepalive_connections=_MOST_IDLE)
        self._prover, self._encryption = prover, encryption

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        return _Connection(self._prover, origin, self._encryption)


class _Connection(httpcore.AsyncHTTPConnection):
    """A connection whose first request asks for the proof."""

    def __init__(self, prover: Prover, origin: httpcore.Origin, encryption: ssl.SSLContext | None) -> None:
        backend = None if encryption else _Backend()
        super().__init__(origin, encryption, keepalive_expiry=_IDLE_S, network_backend=backend)
        self._prover = prover
        self._is_proven = False

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        if not self._is_proven:
            try:
                if (secret := self._prover.secret()) is not None:
                    await self._prove(secret, request)
            except (httpcore.ReadTimeout, httpcore.WriteTimeout) as error:
                raise httpcore.ConnectTimeout(str(error)) from error
            except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
                raise httpcore.ConnectError(str(error)) from error
            self._is_proven = True
        return await super().handle_async_request(request)

    def is_available(self) -> bool:
        return self._is_proven and super().is_available()

    def is_idle(self) -> bool:
        return self._is_proven and super().is_idle()

    async def _prove(self, secret: str, request: httpcore.Request) -> None:
        """Ask the service for its proof. Closes the connection if there is none."""
        nonce, service = secrets.token_hex(16), urlsplit(self._prover.url)
        within_s = request.extensions.get("timeout", {}).get("connect")
        url = httpcore.URL(
            scheme=request.url.scheme,
            host=request.url.host,
            port=request.url.port,
            target=f"{service.path}{HEALTH}?{NONCE}={nonce}",
        )
        timeouts = {"timeout": dict.fromkeys(("connect", "read", "write"), within_s)}
        try:
            question = httpcore.Request("GET", url, headers=[("Host", service.netloc)], extensions=timeouts)
            try:
                answer = await super().handle_async_request(question)
            except httpcore.RemoteProtocolError as error:
                if error.__cause__ is None:  # the connection ended without an answer
                    raise
                raise unavailable.unproven(self._prover.url) from None
            body = bytearray()
            async for part in answer.aiter_stream():
                body += part
                if len(body) > _MAX_BODY_BYTES:
                    break
            await answer.aclose()
            self._prover.check(answer, bytes(body), secret, nonce)
        except BaseException:
            await self.aclose()
            raise


class _Backend(httpcore.AnyIOBackend):
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,  # noqa: ARG002 - as above
        socket_options: Iterable[SocketOption] | None = None,  # noqa: ARG002 - as above
    ) -> httpcore.AsyncNetworkStream:
        return await PlainStream.open(host, port, timeout)


def _tls_context(prover: Prover) -> ssl.SSLContext | None:
    """Return the TLS context. If the secret proves the service, the certificate is not checked. None without TLS,
    because a context takes 30 ms to make."""
    if not prover.url.startswith("https:"):
        return None
    context = ssl.create_default_context()
    if prover.is_asked:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
