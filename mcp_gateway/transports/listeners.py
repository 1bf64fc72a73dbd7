"""A gateway that listens has a socket and a server for each port."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from mcp_gateway.gateway import Gateway
from mcp_gateway.transports.access import Access, keys
from mcp_gateway.transports.app import SSE_PATH, HttpApp, websocket_app
from mcp_gateway.transports.settings import NotUsable, TransportSettings

_DRAIN_S: Final = 5
_MAX_OPEN: Final = 2_000
"""Bounds the connections and requests that are open at a time on one port."""
_MAX_HEAD_BYTES: Final = 65_536

log = structlog.get_logger()


def bind(host: str, port: int, flag: str) -> socket.socket:
    """Return a socket that listens. Raises NotUsable."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        reason = error.strerror or error
        raise NotUsable(f"{host}:{port} cannot be listened on: {reason}. Choose another with {flag}.") from None
    return listener


class Listener(uvicorn.Server):
    """Serves one application on one socket, and leaves signals to the process."""

    def __init__(self, app: ASGIApp, settings: TransportSettings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",  # which checks headers as strictly as the protocol asks
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MAX_OPEN,
                h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
                timeout_graceful_shutdown=_DRAIN_S,
                ws="websockets-sansio",
                ws_max_size=2 * settings.max_message_bytes,  # what is beyond the limit is refused, not the connection
                ws_ping_interval=settings.heartbeat_interval_ms / 1_000,
                ws_ping_timeout=settings.heartbeat_timeout_ms / 1_000,
                ssl_certfile=settings.tls_cert,
                ssl_keyfile=settings.tls_key,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Listeners:
    """Has a listener for each port of a gateway."""

    def __init__(self, settings: TransportSettings, gateway: Gateway) -> None:
        self._settings = settings
        self._connect = gateway.connection
        known, self._where = keys(settings, gateway.settings.data_dir)
        self._access = Access(settings, known, self._where)
        self._serving: dict[Listener, asyncio.Task[None]] = {}
        self.urls: dict[str, str] = {}
        """Where clients find each transport."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within the block. Raises NotUsable."""
        async with contextlib.AsyncExitStack() as stack:
            if self._settings.networks & {"http", "sse"}:
                socket_ = bind(self._settings.mcp_host, self._settings.mcp_port, "--port")
                http = HttpApp(self._settings, self._connect, self._access, _port(socket_))
                await stack.enter_async_context(http.running())
                self._start(http.asgi, socket_, {"http": self._settings.mcp_path, "sse": SSE_PATH})
            if "websocket" in self._settings.networks:
                socket_ = bind(self._settings.mcp_host, self._settings.ws_port, "--ws-port")
                app = websocket_app(self._settings, self._connect, self._access, _port(socket_))
                self._start(app, socket_, {"websocket": self._settings.ws_path})
            try:
                yield
            finally:
                await self._stop()

    async def ended(self) -> None:
        """Wait until one of them has ended, which only a defect makes it do."""
        ended, _ = await asyncio.wait(self._serving.values(), return_when=asyncio.FIRST_COMPLETED)
        for one in ended:
            one.result()

    def _start(self, app: ASGIApp, listener: socket.socket, paths: dict[str, str]) -> None:
        server = Listener(app, self._settings)
        self._serving[server] = asyncio.create_task(server.serve(sockets=[listener]))
        host = f"[{self._settings.mcp_host}]" if ":" in self._settings.mcp_host else self._settings.mcp_host
        for transport, path in paths.items():
            if transport in self._settings.networks:
                scheme = ("ws" if transport == "websocket" else "http") + ("s" if self._settings.tls_cert else "")
                self.urls[transport] = f"{scheme}://{host}:{_port(listener)}{path}"
                log.info("listening", transport=transport, url=self.urls[transport], access=self._where or "no key")

    async def _stop(self) -> None:
        for server in self._serving:
            server.should_exit = True
        if self._serving:
            await asyncio.wait(self._serving.values())


async def listen(settings: TransportSettings, gateway: Gateway) -> None:
    """Serve the transports of a network until the process is to end. Raises NotUsable."""
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))  # the runner's: it cancels this
    listeners = Listeners(settings, gateway)
    async with listeners.running():
        await listeners.ended()


def _port(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])
