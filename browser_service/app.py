"""Puts the parts together, and starts and stops them in order."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog
from fastapi import FastAPI

from browser_service.actions import HANDLERS
from browser_service.clients.abandoned import Abandoned
from browser_service.clients.downloads import Downloads
from browser_service.clients.inbox import HumanInbox
from browser_service.clients.presence import Clients
from browser_service.clients.work import Work
from browser_service.host.host import LocalHost
from browser_service.host.launching.launcher import Launcher
from browser_service.host.launching.options import LaunchOptions
from browser_service.host.seam import HostLimits, Idle, SessionHost
from browser_service.http import faults, person, routes
from browser_service.http.edge import Edge, loopback_hosts
from browser_service.http.openapi import describe
from browser_service.observability.activity import Activity
from browser_service.observability.metrics import Metrics
from browser_service.observability.notifications import Notifier
from browser_service.rules.clock import Clock
from browser_service.rules.origin_turns import OriginLimits
from browser_service.security.revocation import Revoked
from browser_service.security.sealing import Seal
from browser_service.security.urls import UrlPolicy
from browser_service.sessions.lifecycle import Keeper
from browser_service.sessions.records import Browser
from browser_service.settings import Settings
from browser_service.spine.directory import Directory
from browser_service.spine.dispatch import Dispatcher
from browser_service.spine.feed import Feed
from browser_service.spine.politeness import Origins
from browser_service.spine.quotas import ClientLimits, Quotas
from browser_service.spine.undo import Undos
from browser_service.store.activity import ActivityTable
from browser_service.store.artifacts import Artifacts, Room
from browser_service.store.downloads import DownloadTable
from browser_service.store.health import Storage
from browser_service.store.journal import JOURNAL_FILE, Journal
from browser_service.store.opening import Damage
from browser_service.store.revoked import RevokedTable
from browser_service.store.uploads import UploadRoots
from shared import wire
from shared.actions.traits import Scope
from shared.calls import Notice
from shared.catalogue import ACTIONS
from shared.errors import JournalFailed
from shared.model import Json
from shared.pages import SessionOptions, Size
from shared.secret import ensure_secret

_DAY_S = 86_400

log = structlog.get_logger(__name__)

Carrier = Callable[[LocalHost], SessionHost]
Handlers = Mapping[str, Callable[..., Awaitable[Json]]]
MakeHost = Callable[[LaunchOptions, Handlers, Artifacts, UrlPolicy, HostLimits], LocalHost]


@dataclass
class Parts:
    """What routes need, made by the lifespan."""

    secret: str
    host: SessionHost
    directory: Directory
    clients: Clients
    dispatcher: Dispatcher
    artifacts: Artifacts
    activity: Activity
    metrics: Metrics
    requests: HumanInbox
    quotas: Quotas
    storage: Storage
    revoked: Revoked
    end_calls: Callable[[], None]
    """Have calls that still run give their last answer."""


def browser_host(
    options: LaunchOptions, handlers: Handlers, artifacts: Artifacts, policy: UrlPolicy, limits: HostLimits
) -> LocalHost:
    """Make the host that starts or attaches to a browser."""
    return LocalHost(Launcher(options), handlers, artifacts, policy, limits)


def create_app(
    settings: Settings,
    *,
    carrier: Carrier = lambda host: host,
    clock: Clock = time.monotonic,
    make_host: MakeHost = browser_host,
) -> FastAPI:
    """Make the service. `make_host` makes the back half of the spine; `carrier` stands between the two halves, where a
    host is elsewhere; limits and claims go by `clock`."""
    app = FastAPI(
        title=wire.APP_NAME,
        version=wire.VERSION,
        lifespan=partial(_lifespan, settings=settings, carrier=carrier, clock=clock, make_host=make_host),
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.port = settings.port
    app.state.start_failed = None
    app.include_router(routes.router)
    app.include_router(person.router)
    faults.install(app)
    describe(app)
    allowed = lambda: [*loopback_hosts(app.state.port), *settings.allowed_hosts]  # noqa: E731 - one expression
    app.add_middleware(Edge, allowed_hosts=allowed, reply=faults.error_response)
    app.add_middleware(faults.RequestId)
    return app


@asynccontextmanager
async def _lifespan(
    app: FastAPI, *, settings: Settings, carrier: Carrier, clock: Clock, make_host: MakeHost
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        try:
            app.state.parts = await _start(app, settings, stack, carrier=carrier, clock=clock, make_host=make_host)
        except Exception as error:
            app.state.start_failed = error  # for who runs the server, which only says that it did not start
            raise
        yield


async def _start(
    app: FastAPI, settings: Settings, stack: AsyncExitStack, *, carrier: Carrier, clock: Clock, make_host: MakeHost
) -> Parts:
    """Start everything that runs; the stack ends it in the opposite order."""
    secret = ensure_secret(settings.data_dir)
    directory, clients = Directory(), Clients(settings.presence_grace_ms)
    storage = Storage(settings.data_dir, clients.announce)
    directory.sessions.shared_browser = _shared_browser(settings)
    journal, artifacts, activity, downloads = await _stores(settings, directory, storage, stack)
    revoked = Revoked(RevokedTable(journal))
    await revoked.open()
    seal = Seal(settings.data_dir, settings.key_store, storage.say)
    local = _local_host(app, settings, artifacts, make_host)
    host = carrier(local)
    quotas, origins, work = _manners(settings, clients, clock)
    requests = HumanInbox(host, secret)
    notifier = _notifier(app, settings, requests)
    feed = Feed(
        *(host, directory, clients, journal, seal),
        storage=storage,
        downloads=downloads,
        origins=origins,
        on_person=notifier.tell,
        link=requests.link,
    )
    metrics = Metrics(lambda: len(clients.present_ids))
    keeper = Keeper(
        *(host, directory, journal, seal, clients),
        say=storage.say,
        shared=_shared_login(settings),
        idle_ms=settings.session_idle_ms,
        blank_ms=settings.blank_pages_ms,
        closed=feed.session_closed,
    )
    dispatcher = Dispatcher(
        *(host, directory, clients, feed, _handlers(Scope.SERVICE)),
        activity=activity,
        metrics=metrics,
        quotas=quotas,
        origins=origins,
        work=work,
        keeper=keeper,
        downloads=downloads,
        undos=Undos(directory.sessions, clock),
        revoked=revoked,
    )
    storage.on_replaced += [feed.rewrite, keeper.write_down, revoked.write_down]
    await keeper.reopen()
    await local.start()
    abandoned = Abandoned(dispatcher, clients)
    feed.on_retired = abandoned.retired
    upkeep = asyncio.gather(keeper.run(), abandoned.run(), _clean_daily(artifacts, activity, downloads, settings))
    following = asyncio.create_task(feed.run())
    stack.push_async_callback(_end_tasks, upkeep, following)
    for end in (activity.close, keeper.finish, feed.catch_up, dispatcher.finish, local.stop, notifier.close):
        stack.push_async_callback(end)
    stack.push_async_callback(_end_streams, clients, activity, upkeep)
    front = (secret, host, directory, clients, dispatcher, artifacts, activity, metrics, requests, quotas)
    return Parts(*front, storage, revoked, local.end_calls)


async def _end_streams(clients: Clients, activity: Activity, upkeep: "asyncio.Future[tuple[None, None, None]]") -> None:
    upkeep.cancel()
    await clients.close()
    activity.end_streams()


async def _end_tasks(upkeep: "asyncio.Future[tuple[None, None, None]]", following: "asyncio.Task[None]") -> None:
    following.cancel()
    await asyncio.gather(upkeep, following, return_exceptions=True)


async def _stores(
    settings: Settings, directory: Directory, storage: Storage, stack: AsyncExitStack
) -> tuple[Journal, Artifacts, Activity, Downloads]:
    """What is on disk."""
    journal = Journal(settings.data_dir / JOURNAL_FILE)
    loop = asyncio.get_running_loop()

    def damaged(damage: Damage) -> None:
        """In the journal's thread."""
        loop.call_soon_threadsafe(storage.replaced, str(damage))

    journal.on_damage = damaged
    await journal.open()
    stack.push_async_callback(journal.close)
    activity = Activity(ActivityTable(journal), directory)
    await activity.open()
    return journal, _artifacts(settings, journal), activity, await Downloads.opened(DownloadTable(journal))


def _notifier(app: FastAPI, settings: Settings, requests: HumanInbox) -> Notifier:
    def link(request_id: str) -> str:
        return f"http://127.0.0.1:{app.state.port}{requests.link(request_id)}"  # the port may be chosen later

    return Notifier(desktop=settings.notify == "desktop", webhook=settings.notify_webhook, link=link)


def _artifacts(settings: Settings, journal: Journal) -> Artifacts:
    uploads = UploadRoots(settings.upload_roots)
    room = Room(settings.artifact_days, settings.client_artifacts_mb, settings.artifacts_mb)
    return Artifacts(settings.data_dir / "artifacts", settings.output_dir, journal, uploads, room)


def _shared_browser(settings: Settings) -> Browser:
    viewport = (settings.viewport_width, settings.viewport_height)
    return Browser(settings.browser_type, settings.headless and settings.cdp_url is None, viewport)


def _manners(settings: Settings, clients: Clients, clock: Clock) -> tuple[Quotas, Origins, Work]:
    """What a client may ask for, what all may ask of a site, and who does which work."""
    each = ClientLimits(settings.client_pages, settings.client_calls_in_flight, settings.client_calls_per_minute)
    site = OriginLimits(
        settings.origin_at_once, settings.origin_per_minute, settings.origin_pause_s, settings.origin_local
    )
    tell = lambda client_id, text: clients.notify(client_id, Notice(text=text))  # noqa: E731 - one expression
    work = Work(settings.idle_work_ms, tell, clients.send, clock)
    return Quotas(each, clock), Origins(site, clients.send, clock), work


async def _clean_daily(artifacts: Artifacts, activity: Activity, downloads: Downloads, settings: Settings) -> None:
    while True:
        try:
            await artifacts.clean()
            await activity.clean(settings.activity_days)
            await downloads.clean(settings.artifact_days)
        except (JournalFailed, OSError) as error:
            log.warning("what is old cannot be removed", reason=str(error))
        await asyncio.sleep(_DAY_S)


def _shared_login(settings: Settings) -> SessionOptions:
    viewport = Size(width=settings.viewport_width, height=settings.viewport_height)
    return SessionOptions(browser_type=settings.browser_type, viewport=viewport, locale=None)


def _local_host(app: FastAPI, settings: Settings, artifacts: Artifacts, make_host: MakeHost) -> LocalHost:
    options = LaunchOptions(
        profile_dir=settings.profile_dir,
        engine=settings.browser_type,
        executable=settings.executable_path,
        headless=settings.headless,
        sandbox=settings.sandbox,
        proxy=settings.proxy,
        viewport=(settings.viewport_width, settings.viewport_height),
        login_within_s=settings.login_within_s,
        cdp_url=settings.cdp_url,
        max_instances=settings.max_instances,
    )
    policy = UrlPolicy(
        own_hosts=lambda: {*loopback_hosts(app.state.port), *settings.allowed_hosts},
        allow_hosts=frozenset(settings.allow_hosts),
        deny_hosts=frozenset(settings.deny_hosts),
    )
    limits = HostLimits(
        *(settings.idle_lease_ms, settings.queue_wait_ms, settings.max_pages, settings.dialog_wait_ms),
        download_max_mb=settings.download_max_mb,
        session_pages=settings.session_pages,
        memory_mb=settings.memory_mb,
        idle=Idle(
            page_s=settings.park_after_ms / 1000,
            page_in_need_s=settings.park_in_need_ms / 1000,
            browser_s=settings.instance_idle_ms / 1000,
            browsers_kept=settings.min_instances,
        ),
        save_every_ms=settings.save_every_ms,
    )
    handlers = _handlers(Scope.PAGE) | _handlers(Scope.SESSION)
    return make_host(options, handlers, artifacts, policy, limits)


def _handlers(scope: Scope) -> dict[str, Callable[..., Awaitable[Json]]]:
    """The handlers whose first argument is of this scope."""
    return {name: handler for name, handler in HANDLERS.items() if ACTIONS[name].scope is scope}
