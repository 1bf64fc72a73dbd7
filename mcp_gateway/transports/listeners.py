"""Listens on a gateway's ports, with a socket and a server for each."""

import asyncio
import contextlib
import functools
import gc
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from browse_together.client import ports
from browse_together.contract.wire import MAX_HEAD_BYTES
from mcp_gateway.gateway import Gateway
from mcp_gateway.transports.access import Access, read_keys
from mcp_gateway.transports.app import http_app, websocket_app
from mcp_gateway.transports.settings import SSE_PATH, NotUsable, TransportSettings
from mcp_gateway.transports.streamable_http import StreamableHttp

_DRAIN_S: Final = 5
_MAX_OPEN: Final = 4_000
"""The most connections and requests that may be open at once on one port: each of 1,000 sessions has an event stream,
and some calls."""
_GC_AFTER: Final = (20_000, 20, 20)
"""Makes garbage collection rare, because it blocks everybody: a thousand sessions are 400,000 objects."""

log = structlog.get_logger()


def bind(host: str, port: int, flag: str) -> socket.socket:
    """Return a listening socket. Raises NotUsable."""
    try:
        return ports.bind(host, port, listen=True)
    except OSError as error:
        who = ports.holder(port)
        reason = f"{who} listens there" if who else error.strerror or str(error)
        raise NotUsable(f"{_url_host(host)}:{port} cannot be used: {reason}. Choose another with {flag}.") from None


def tls(settings: TransportSettings) -> ssl.SSLContext | None:
    """Return the TLS context of https and wss; None without a certificate. Raises NotUsable for wrong files."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    try:
        return ports.server_context(settings.tls_cert, settings.tls_key)
    except ValueError as error:
        raise NotUsable(str(error)) from None


class Listener(uvicorn.Server):
    """A server of one application on one socket. It leaves signals to the process."""

    def __init__(self, app: ASGIApp, settings: TransportSettings, context: ssl.SSLContext | None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",  # limits heads, and tells the whole target
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MAX_OPEN,
                h11_max_incomplete_event_size=MAX_HEAD_BYTES,
                timeout_graceful_shutdown=_DRAIN_S,
                ws="websockets-sansio",
                ws_max_size=settings.max_message_bytes,
                ws_per_message_deflate=False,  # takes 0.3 MB per connection, and lets few bytes become many
                ws_ping_interval=settings.heartbeat_interval_ms / 1_000,
                ws_ping_timeout=settings.heartbeat_timeout_ms / 1_000,
                ssl_context_factory=None if context is None else lambda _, __: context,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Listeners:
    def __init__(self, settings: TransportSettings, gateway: Gateway) -> None:
        """Raises NotUsable."""
        self._settings = settings
        # clients that use another name or do not come by loopback may be anywhere
        self._connect = functools.partial(
            gateway.connection, is_here=settings.is_loopback and not settings.allowed_hosts
        )
        known, self._where = read_keys(settings, gateway.settings.data_dir)
        self._access = Access(settings, known, self._where)
        self._streamable = StreamableHttp(self._connect, gateway.instructions, settings.max_message_bytes)
        self._tls = tls(settings)
        self._serving: dict[Listener, asyncio.Task[None]] = {}
        self.urls: dict[str, str] = {}

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within the block. Raises NotUsable."""
        ports.allow_many()
        async with self._streamable.running():
            for name, listener in self._bound().items():
                common = self._settings, self._connect, self._access
                if name == "http":
                    paths = {"http": self._settings.mcp_path, "sse": SSE_PATH}
                    self._start(http_app(*common, self._streamable), listener, paths)
                else:
                    self._start(websocket_app(*common), listener, {"websocket": self._settings.ws_path})
            try:
                yield
            finally:
                self._streamable.end_streams()
                for server in self._serving:
                    server.should_exit = True
                await asyncio.wait(self._serving.values())

    async def until(self, told: asyncio.Event) -> None:
        """Wait for the signal to end. Raises the error that ended a listener, which only a defect does."""
        telling = asyncio.create_task(told.wait())
        ended, _ = await asyncio.wait((telling, *self._serving.values()), return_when=asyncio.FIRST_COMPLETED)
        telling.cancel()
        for one in ended:
            one.result()

    def _bound(self) -> dict[str, socket.socket]:
        """Return all sockets, or none if one cannot be bound. Raises NotUsable."""
        host, sockets = self._settings.mcp_host, dict[str, socket.socket]()
        try:
            if self._settings.networks & {"http", "sse"}:
                sockets["http"] = bind(host, self._settings.mcp_port, "--port")
            if "websocket" in self._settings.networks:
                sockets["websocket"] = bind(host, self._settings.ws_port, self._settings.websocket_flag)
        except NotUsable:
            for listener in sockets.values():
                listener.close()
            raise
        return sockets

    def _start(self, app: ASGIApp, listener: socket.socket, paths: dict[str, str]) -> None:
        server = Listener(app, self._settings, self._tls)
        self._serving[server] = asyncio.create_task(server.serve(sockets=[listener]))
        for transport, path in paths.items():
            if transport in self._settings.networks:
                scheme = ("ws" if transport == "websocket" else "http") + ("s" if self._tls else "")
                self.urls[transport] = f"{scheme}://{_url_host(self._settings.mcp_host)}:{_port(listener)}{path}"
                log.info("listening", transport=transport, url=self.urls[transport], access=self._where or "no key")


async def listen(settings: TransportSettings, gateway: Gateway) -> None:
    """Serve the network transports until the process should end. Raises NotUsable."""
    listeners = Listeners(settings, gateway)
    gc.set_threshold(*_GC_AFTER)
    told = _told_to_end()
    async with listeners.running():
        await listeners.until(told)


def _told_to_end() -> asyncio.Event:
    """Return an event that is set by the signals that ask a process to end."""
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, told.set)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(told.set))
    return told


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _port(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])
