"""Serves the metrics on their own port, for a Prometheus without a token."""

import socket
from collections.abc import Callable
from typing import Final

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from browse_together.client import ports
from browse_together.contract import wire
from browse_together.contract.errors import BrowseError
from browse_together.contract.requests import Visitors
from browser_service.http.edge import loopback_hosts
from browser_service.http.watching import figures_of
from browser_service.settings import Settings

_HOST_HINT: Final = "Use http://127.0.0.1 and the port."

log = structlog.get_logger(__name__)


class MetricsPort:
    """Middleware that answers GET /metrics on the metrics port, and passes on the requests of other ports.

    A metrics port on loopback answers only to loopback's names, because another site's name could lead here too.
    """

    def __init__(self, app: ASGIApp, port: Callable[[], int | None], *, local: bool) -> None:
        self._app = app
        self._port = port
        self._local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        port = self._port()
        if port is None or scope["type"] == "lifespan" or (scope.get("server") or ("", 0))[1] != port:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await (await self._answer(Request(scope, receive), port))(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, request: Request, port: int) -> Response:
        visitors = Visitors(lambda host: not self._local or host in loopback_hosts(port), _HOST_HINT)
        try:
            visitors.check(request.scope)
        except BrowseError as error:
            return PlainTextResponse(f"{error.message} {error.advice}\n", error.status)
        if request.url.path != wire.METRICS:
            return PlainTextResponse(f"Here is {wire.METRICS} alone.\n", 404)
        if request.method not in {"GET", "HEAD"}:
            return PlainTextResponse("Figures are only read.\n", 405, headers={"Allow": "GET, HEAD"})
        return await figures_of(request)


def listen(settings: Settings, service_port: int) -> socket.socket | None:
    """Return a listening socket for the metrics, or None if it is off or its port is taken. A taken port is logged, and
    the service starts without it."""
    if settings.metrics_address is None:
        return None
    host, port = settings.metrics_address
    reason = "it is the service's own"
    listener = None
    if port != service_port:
        try:
            listener = ports.bind(host, port, listen=True)
        except OSError as error:
            reason = error.strerror or str(error)
    if listener is None:
        advice = "Choose another: --metrics-port or BROWSE_METRICS_PORT."
        log.warning("no port for metrics alone", address=f"{host}:{port}", reason=reason, advice=advice)
        return None
    log.info("metrics", url=f"http://{host}:{listener.getsockname()[1]}{wire.METRICS}")
    return listener
