"""Has a service prove that it has the account's secret, on each connection, before a token goes there.

Whoever holds the service's port, because it ended or never ran, would otherwise be sent a token of every chat. The
proof is of the very connection: it names the address that we are connected to, so that no program can pass our question
on to the service and its answer back.
"""

import contextlib
import secrets
import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import h11
import httpcore
import httpx

from client import unavailable
from client.instance import is_local, json_object
from client.stream import PlainStream
from shared.secret import is_proof, read_secret
from shared.wire import HEALTH, NONCE

_READ_BYTES: Final = 65_536
_MAX_BODY_BYTES: Final = 65_536
_OK: Final = 200
_BUSY: Final = 503
_IDLE_S: Final = 50.0
"""An idle connection is kept so long, less than a service keeps it: one that the service closes under a request would
make an unknown outcome of a call that never happened."""
_MOST_IDLE: Final = 64

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
Address = tuple[str, int]


class Prover:
    """What a service has to prove: one of this machine, that it has the secret of the token which we make.

    A token that was given proves nothing of who reads it; a service elsewhere is proven by its https certificate.
    """

    def __init__(self, url: str, data_dir: Path, *, given_token: bool) -> None:
        self.url = url
        self.is_asked = is_local(url) and not given_token
        self._data_dir = data_dir
        self._last: str | None = None

    def secret(self) -> str | None:
        """Return the secret, or the one of before if it is gone since; None if there was none, and so no token either.
        Raises ServiceUnavailable for one that makes no token."""
        with contextlib.suppress(FileNotFoundError):
            self._last = read_secret(self._data_dir)
        return self._last

    def challenge(self) -> "Challenge | None":
        """Return what to ask on a new connection; None if nothing is to be proven."""
        secret = self.secret() if self.is_asked else None
        return Challenge(self.url, secret) if secret is not None else None


class Challenge:
    """One question to a service, and its answer."""

    def __init__(self, url: str, secret: str) -> None:
        self._url = url
        self._secret = secret
        self._nonce = secrets.token_hex(16)
        self._connection = h11.Connection(h11.CLIENT)
        self._status = 0
        self._body = bytearray()

    @property
    def path(self) -> str:
        return f"{urlsplit(self._url).path}{HEALTH}?{NONCE}={self._nonce}"

    def request(self) -> bytes:
        request = h11.Request(method="GET", target=self.path, headers=[("Host", urlsplit(self._url).netloc)])
        sent = (self._connection.send(request), self._connection.send(h11.EndOfMessage()))
        return b"".join(filter(None, sent))

    def take(self, data: bytes) -> bool:
        """Take a part of the answer, and return whether it is whole. Raises ServiceUnavailable if it cannot be a
        service's, ConnectError if the connection ends."""
        try:
            self._connection.receive_data(data)
            while (event := self._connection.next_event()) is not h11.NEED_DATA:
                if isinstance(event, h11.Response):
                    self._status = event.status_code
                elif isinstance(event, h11.Data):
                    self._body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    return True
                elif isinstance(event, h11.ConnectionClosed) or len(self._body) > _MAX_BODY_BYTES:
                    break
        except h11.RemoteProtocolError:
            if data:
                raise unavailable.unproven(self._url) from None
        if not data:
            raise httpcore.ConnectError("the connection ended before anything was sent")
        if len(self._body) > _MAX_BODY_BYTES:
            raise unavailable.unproven(self._url)
        return False

    def check(self, address: Address) -> None:
        """Raise ServiceUnavailable if the answer proves nothing, ConnectError if the service has no time to answer."""
        if self._status == _BUSY:
            raise httpcore.ConnectError("the service is too busy")
        report = json_object(bytes(self._body))
        if self._status != _OK or not is_proof(report.get("proof"), self._secret, self._nonce, address):
            older = "proof" not in report and {"pid", "catalogue"} <= report.keys()
            raise unavailable.older(self._url) if older else unavailable.unproven(self._url)


class _Backend(httpcore.AnyIOBackend):
    def __init__(self, prover: Prover) -> None:
        self._prover = prover

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        if self._prover.url.startswith("https:"):
            stream = await super().connect_tcp(host, port, timeout, local_address, socket_options)
            return _BeforeTls(stream, self._prover)
        return await _proven(await PlainStream.open(host, port, timeout), self._prover, timeout)


class _BeforeTls(httpcore.AsyncNetworkStream):
    """A connection that proves itself once it is encrypted."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, prover: Prover) -> None:
        self._stream = stream
        self._prover = prover

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> httpcore.AsyncNetworkStream:
        encrypted = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return await _proven(encrypted, self._prover, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _proven(
    stream: httpcore.AsyncNetworkStream,
    prover: Prover,
    timeout: float | None,  # noqa: ASYNC109 - httpcore's, of each read
) -> httpcore.AsyncNetworkStream:
    """Return the connection once the service there has proven itself; close it otherwise."""
    try:
        if (challenge := prover.challenge()) is not None:
            await stream.write(challenge.request(), timeout)
            while not challenge.take(await stream.read(_READ_BYTES, timeout)):
                continue
            challenge.check(stream.get_extra_info("server_addr"))
    except (httpcore.ReadTimeout, httpcore.WriteTimeout) as error:
        await stream.aclose()
        raise httpcore.ConnectTimeout(str(error)) from error
    except (httpcore.ReadError, httpcore.WriteError) as error:
        await stream.aclose()
        raise httpcore.ConnectError(str(error)) from error
    except BaseException:
        await stream.aclose()
        raise
    return stream


class ProvenTransport(httpx.AsyncHTTPTransport):
    """Connections to a service, to which nothing is sent before it has proven itself."""

    def __init__(self, prover: Prover) -> None:
        encryption = _tls_context(prover)
        super().__init__(verify=encryption or False, trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=encryption,
            max_connections=None,
            max_keepalive_connections=_MOST_IDLE,
            keepalive_expiry=_IDLE_S,
            network_backend=_Backend(prover),
        )


def _tls_context(prover: Prover) -> ssl.SSLContext | None:
    """Return how to check a certificate: where the secret proves the service, its name need not be this machine's. None
    without TLS, because a context takes 30 ms to make."""
    if not prover.url.startswith("https:"):
        return None
    context = ssl.create_default_context()
    if prover.is_asked:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
