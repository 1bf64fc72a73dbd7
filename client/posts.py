"""Posts calls over connections that are kept. httpx, which does the rest, would take longer for a call than its way."""

import asyncio
import time
from collections.abc import Mapping
from typing import Final, cast
from urllib.parse import urlsplit

import httpcore
import httpx
from httptools import HttpParserError, HttpResponseParser

from client.proven import IDLE_S, MOST_IDLE, Challenge, Prover

_CONNECTS_WITHIN_S: Final = 5.0
_ANSWERS_WITHIN_S: Final = 60.0
_ENDED: Final = "The connection ended."


class _Line(asyncio.Protocol):
    """Is one connection. One request at a time is on its way."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._challenge: Challenge | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._parser = HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._is_whole = self._is_lasting = False

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def prove(self, challenge: Challenge) -> None:
        """Have the service prove itself, before anything else is sent there. Raises ServiceUnavailable."""
        self._challenge = challenge
        await self._exchange(challenge.request())
        self._challenge = None
        peer = self._transport.get_extra_info("peername") if self._transport else None
        if peer is None:
            raise httpx.ReadError(_ENDED)
        challenge.check(peer[:2])

    async def ask(self, request: bytes) -> httpx.Response:
        self._parser, self._is_whole = HttpResponseParser(self), False
        self._headers, self._body = [], []
        await self._exchange(request)
        return httpx.Response(self._parser.get_status_code(), headers=self._headers, content=b"".join(self._body))

    @property
    def may_be_kept(self) -> bool:
        return self._is_whole and self._is_lasting and self.is_open

    async def _exchange(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise httpx.ReadError(_ENDED)
        self._waiting = self._loop.create_future()
        self._transport.write(data)
        await self._waiting

    def _end(self, error: Exception | None = None) -> None:
        if self._waiting is None or self._waiting.done():
            return
        if error is not None:
            self._waiting.set_exception(error)
        else:
            self._waiting.set_result(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None or self._waiting.done():
            self.close()  # nothing was asked
            return
        try:
            if self._challenge is None:
                self._parser.feed_data(data)
            elif self._challenge.take(data):
                self._end()
        except HttpParserError as error:
            self._fail(httpx.RemoteProtocolError(str(error)))
        except Exception as error:  # noqa: BLE001 - the proof's, raised where it is waited for
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._end(error)
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        lengths = {b"content-length", b"transfer-encoding"}
        if self._headers and exc is None and lengths.isdisjoint(name.lower() for name, _ in self._headers):
            self._end()  # which is how such an answer ends
        else:
            self._end(httpx.ReadError(str(exc or _ENDED)))

    # --- what the parser tells ---------------------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._is_lasting = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._is_whole = True
        self._end()


class Posts:
    """Keeps the connections to one service, which serve all clients."""

    def __init__(self, prover: Prover) -> None:
        self._prover = prover
        url = urlsplit(prover.url)
        self._host, self._port, self._path = url.hostname or "", url.port or 80, url.path.rstrip("/")
        self._host_header = url.netloc.rpartition("@")[2]
        self._idle: list[_Line] = []

    async def send(self, path: str, headers: Mapping[str, str], content: bytes) -> httpx.Response:
        """Post, and return the answer. Raises httpx's errors, and ServiceUnavailable for what is not our service."""
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = [f"POST {self._path}{path} HTTP/1.1", f"Host: {self._host_header}", *lines]
        if any(character in line for line in head for character in "\r\n"):
            raise httpx.LocalProtocolError("a line break in a header")
        head += [f"Content-Length: {len(content)}", "", ""]
        request = "\r\n".join(head).encode("latin-1") + content
        line = self._kept() or await self._connect()
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                response = await line.ask(request)
        except TimeoutError:
            line.close()
            raise httpx.ReadTimeout("no answer in time") from None
        except BaseException:
            line.close()
            raise
        if line.may_be_kept and "Connection" not in headers and len(self._idle) < MOST_IDLE:
            line.idle_since = time.monotonic()
            self._idle.append(line)
        else:
            line.close()
        return response

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _kept(self) -> _Line | None:
        """Return the connection that was used last, unless it is too old."""
        while self._idle:
            line = self._idle.pop()
            if line.is_open and time.monotonic() - line.idle_since < IDLE_S:
                return line
            line.close()
        return None

    async def _connect(self) -> _Line:
        line = _Line()
        challenge = self._prover.challenge()
        try:
            async with asyncio.timeout(_CONNECTS_WITHIN_S):
                await asyncio.get_running_loop().create_connection(lambda: line, self._host, self._port)
                if challenge is not None:
                    await line.prove(challenge)
        except TimeoutError:
            line.close()
            raise httpx.ConnectTimeout("no connection in time") from None
        except (OSError, httpx.ReadError, httpcore.ConnectError) as error:
            line.close()
            raise httpx.ConnectError(str(error)) from None
        except BaseException:
            line.close()
            raise
        return line
