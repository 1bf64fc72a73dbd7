"""Builds the service's application, and starts and stops its parts in order."""

import asyncio
import functools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog
from fastapi import FastAPI

from browse_together.contract import wire
from browse_together.contract.errors import JournalFailed
from browse_together.contract.loopback import is_loopback
from browser_service.host.host import LocalHost
from browser_service.host.seam import HostLimits
from browser_service.host.sessions.driver import Started
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.options import LaunchOptions
from browser_service.http import attached, faults, metrics_port, owner, routes, watching
from browser_service.http.edge import Edge, loopback_hosts
from browser_service.http.openapi import describe
from browser_service.rules.window import Clock
from browser_service.security.urls import UrlPolicy
from browser_service.services import Carrier, Handlers, MakeHost, Services
from browser_service.settings import Settings
from browser_service.store.artifacts import Artifacts
from browser_service.wall import card, entry, extension, socket, windows

if TYPE_CHECKING:
    from browse_together.client.tracing import Tracing

_DAY_S = 86_400

log = structlog.get_logger(__name__)


def browser_host(
    options: LaunchOptions,
    handlers: Handlers,
    artifacts: Artifacts,
    policy: UrlPolicy,
    limits: HostLimits,
    *,
    early: asyncio.Task[Started] | None = None,
) -> LocalHost:
    """Make the host that starts a browser or attaches to one. `early` is a driver that may be starting already."""
    return LocalHost(Launcher(options, early), handlers, artifacts, policy, limits)


def create_app(
    settings: Settings,
    *,
    carrier: Carrier = lambda host: host,
    clock: Clock = time.monotonic,
    make_host: MakeHost = browser_host,
    tracing: "Tracing | None" = None,
) -> FastAPI:
    """Build the service. `make_host` makes the back half, and `carrier` wraps it if it runs elsewhere; `clock` times
    limits and claims."""

    @functools.cache
    def hosts_at(port: int) -> frozenset[str]:
        named = {urlsplit(url).netloc for url in (settings.local_url(port), settings.people_url(port))}
        return frozenset((*loopback_hosts(port), *settings.allowed_hosts, *(named - {""})))

    def own_hosts() -> frozenset[str]:
        return hosts_at(app.state.port)

    def refused_hosts() -> frozenset[str]:
        """Return the hosts that no page may open. The metrics port needs no token, and whoever reaches the debugging
        port of a browser owns it."""
        figures = app.state.metrics_port
        return own_hosts() | {*(loopback_hosts(figures) if figures else ())} | settings.debugging_hosts

    def build_services() -> Services:
        port = lambda: app.state.port  # noqa: E731 - one expression
        return Services(
            *(settings, carrier, clock), make_host=make_host, port=port, own_hosts=refused_hosts, tracing=tracing
        )

    app = FastAPI(
        title=wire.APP_NAME,
        version=wire.VERSION,
        lifespan=partial(_lifespan, build_services=build_services, own_hosts=refused_hosts),
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.port = settings.port
    app.state.metrics_port = None
    app.state.start_failed = None
    app.state.open_streams = Counter[str]()
    app.state.looked_at = {}
    for path in (wire.BROWSER, wire.BROWSER + "/{page_id}"):
        app.add_route(path, routes.act, methods=["POST"], include_in_schema=False)
    for part in (routes, owner, attached, watching, card, entry, socket, extension, windows):
        app.include_router(part.router)
    app.state.takes_hosts = settings.hosts
    if settings.hosts:
        from browser_service.http import hosts  # noqa: PLC0415 - with all of carriers, which most services do without

        app.include_router(hosts.router)
    faults.install(app)
    describe(app)
    _wrap(app, own_hosts, settings)
    return app


def _wrap(app: FastAPI, own_hosts: Callable[[], frozenset[str]], settings: Settings) -> None:
    """Add the middleware that sees each request first. The last one added is the outermost."""
    app.add_middleware(Edge, allowed_hosts=own_hosts, reply=faults.error_response)
    if settings.metrics_address is not None:
        local = is_loopback(settings.metrics_address[0])
        app.add_middleware(metrics_port.MetricsPort, port=lambda: app.state.metrics_port, local=local)


@asynccontextmanager
async def _lifespan(
    app: FastAPI, *, build_services: Callable[[], Services], own_hosts: Callable[[], frozenset[str]]
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        try:
            services = build_services()
            await _start(services, stack)
            if services.fleet is not None:
                from browser_service.http.hosts import open_links  # noqa: PLC0415 - as in `create_app`

                app.state.links = links = open_links(services, services.fleet.lifecycle, own_hosts)
                stack.push_async_callback(links.close)
                stack.push_async_callback(services.fleet.lifecycle.close)
        except Exception as error:
            app.state.start_failed = error  # for `_run`, because uvicorn only says that it did not start
            raise
        app.state.services = services
        yield


async def _start(services: Services, stack: AsyncExitStack) -> None:
    """Start everything that runs; the stack ends it in the opposite order."""
    stack.enter_context(services.secrets.hidden())
    await services.journal.open()
    stack.push_async_callback(services.journal.close)
    services.host_calls.number_from(await services.journal.count_start())
    for part in (
        services.activity,
        services.colours,
        services.names,
        services.downloads,
        services.revoked,
        services.tokens,
        services.halted,
        services.threads,
        services.login_news,
    ):
        await part.open()
    await services.begin()
    watches = services.lifecycle.run(), services.abandoned.run(), services.login_news.run()
    upkeep = asyncio.gather(*watches, _clean_daily(services))
    stack.push_async_callback(services.feeds.stop)
    stack.push_async_callback(_end_tasks, upkeep)
    ends = (services.lifecycle.finish, services.feeds.drain, services.dispatcher.finish, services.host.stop)
    written = (services.activity.close, services.tokens.close, services.ended_requests.close)
    dealt = (services.colours.close, services.names.close, services.login_news.close)
    for end in (*written, *dealt, *ends, services.notifier.close):
        stack.push_async_callback(end)
    stack.push_async_callback(_end_streams, services, upkeep)


async def _end_streams(services: Services, upkeep: "asyncio.Future[tuple[None, None, None, None]]") -> None:
    upkeep.cancel()
    await services.clients.close()
    services.activity.end_streams()


async def _end_tasks(upkeep: "asyncio.Future[tuple[None, None, None, None]]") -> None:
    await asyncio.gather(upkeep, return_exceptions=True)


async def _clean_daily(services: Services) -> None:
    settings = services.settings
    while True:
        try:
            await services.artifacts.clean()
            await services.activity.clean(settings.tuning.activity_days)
            await services.threads.clean(settings.tuning.activity_days)
            await services.downloads.clean(settings.tuning.artifact_days)
        except (JournalFailed, OSError) as error:
            log.warning("what is old cannot be removed", reason=str(error))
        await asyncio.sleep(_DAY_S)  # ages are counted in days
