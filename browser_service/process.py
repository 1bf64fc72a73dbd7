"""Runs the service as a process: one for each data directory, on a socket that is bound before anything else starts.

A host elsewhere is readied in the same way."""

import asyncio
import contextlib
import errno
import gc
import getpass
import json
import os
import signal
import socket
import ssl
import tempfile
import time
from collections.abc import Coroutine, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog
import uvicorn
from filelock import FileLock, Timeout

from browse_together.client import config_place, environment, ports
from browse_together.client.spans import tracing_of
from browse_together.contract.data_files import DRIVER_CACHE, INSTANCE_LOCK, JOURNAL_FILE
from browse_together.contract.errors import ServiceUnavailable
from browse_together.contract.secret import ensure_secret
from browse_together.contract.wire import DOWN_FILE, INSTANCE_FILE, MAX_HEAD_BYTES, MAX_LINK_BYTES, MAX_SOCKET_BYTES
from browser_service.host.sessions import driver
from browser_service.host.sessions.executables import ask_early
from browser_service.host.sessions.options import LaunchOptions
from browser_service.observability.logging import configure
from browser_service.settings import Settings
from browser_service.store.journal_file import NewerJournal, check_version

if TYPE_CHECKING:  # their import takes most of a start: the driver starts meanwhile
    from fastapi import FastAPI

    from browse_together.client.tracing import Tracing
    from browser_service.services import Services

_DRAIN_S = 10
_CALLS_GO_ON_S = 3
"""How many seconds calls may continue when the service ends. Then each gets an error that says so, because a cut
connection would not say what became of it."""
_ENDS_WITHIN_S = 20.0
_KEEP_ALIVE_S = 65
"""A client keeps an idle connection for less than this, so it is still open when the client needs it again."""
MOST_OPEN = 8_000
"""Most connections and requests at a time: a gateway holds one for each of its chats, of which it has 1,000 at most.
It is half of the files that `allow_many` asks for."""
_GC_AFTER = 20_000
"""How many new objects trigger a garbage collection; two calls make Python's default of 700."""

log = structlog.get_logger(__name__)


class CannotStart(Exception):
    """The service cannot start; the message says why, and what to do."""


class AlreadyRunning(CannotStart):
    """Another service has this data directory or the port."""


def serve(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT. Raises CannotStart, which names the obstacle."""
    configure(settings.log_level, for_people=settings.app_env != "production")
    tracing = tracing_of(os.environ)  # now, because its key is among the variables that are removed for children
    file = config_place.path()
    config = file if file.is_file() else None
    with prepared(settings):
        try:
            check_version(settings.data_dir / JOURNAL_FILE)
        except NewerJournal as error:
            raise CannotStart(str(error)) from error
        check_secret(settings.data_dir)
        with bind(settings) as listener:
            port = listener.getsockname()[1]
            url = settings.local_url(port)
            (settings.data_dir / INSTANCE_FILE).write_text(
                json.dumps({"pid": os.getpid(), "url": url}), encoding="utf-8"
            )
            run_to_end(_run(settings, listener, url, config, tracing))


@contextlib.contextmanager
def prepared(settings: Settings) -> Iterator[None]:
    """Ready this process for browsers, and have the data directory alone until the end of the block. Raises
    CannotStart."""
    environment.keep_needed()  # the driver, the browser and its pages inherit it, and need no keys
    driver.economize(settings.data_dir / DRIVER_CACHE)
    check_writable(settings.data_dir)
    os.chdir(settings.data_dir)  # the folder in which it was started may go
    instance = settings.data_dir / INSTANCE_FILE
    lock = FileLock(settings.data_dir / INSTANCE_LOCK)
    _take(lock, settings.data_dir)
    try:
        instance.unlink(missing_ok=True)  # left by a killed service: nobody should be sent there
        (settings.data_dir / DOWN_FILE).unlink(missing_ok=True)  # whoever starts it may
        yield
    finally:
        with contextlib.suppress(OSError):  # a full disk must not change how the service ends
            instance.unlink(missing_ok=True)
        lock.release()


def all_is_loaded() -> None:
    """Ready this process for its work, once it has imported and made what stays."""
    ports.allow_many()  # each chat that is present holds a connection
    gc.freeze()  # these objects stay: the collector need not visit them every hundredth call
    gc.set_threshold(_GC_AFTER)
    gc.enable()


def check_writable(data_dir: Path) -> None:
    """Make the data directory if it is missing. Raises CannotStart if nothing can be written there."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=data_dir) as file:
            file.write(b"x")
    except OSError as error:
        raise CannotStart(
            f"The data directory {data_dir} cannot be written by {_user()}: {error.strerror or error}. "
            "Free space there or make it writable for this account, or choose another: --data-dir or BROWSE_DATA_DIR."
        ) from error


def check_secret(data_dir: Path) -> None:
    """Make the account's secret if it is missing. Raises CannotStart if no tokens can be made with it."""
    try:
        ensure_secret(data_dir)
    except ServiceUnavailable as error:
        raise CannotStart(f"{error.message} {error.advice}") from error


def check_rules(settings: Settings) -> None:
    """Raise CannotStart if the rules for acts cannot be read, naming the wrong one."""
    from browser_service.security.act_rules import WrongRules, read_rules  # noqa: PLC0415 - as in `_application`

    try:
        read_rules(settings.rules_file)
    except WrongRules as error:
        raise CannotStart(str(error)) from error


class Server(uvicorn.Server):
    """A server that ends event streams before uvicorn waits for open responses."""

    def __init__(self, config: uvicorn.Config, app: "FastAPI") -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        """Begin an ordinary shutdown. uvicorn would raise the signal again, which would end the process before it has
        cleaned up."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        services: Services = self._app.state.services
        await services.clients.close()
        services.ledger.activity.end_streams()
        ending = asyncio.create_task(_end_calls(services))
        try:
            await super().shutdown(sockets)
        except Exception:  # for instance for a websocket that asked to open in a way that its parser gave up
            log.exception("connections could not be ended in order")
            await ending
            await self.lifespan.shutdown()
        finally:
            ending.cancel()


async def _end_calls(services: "Services") -> None:
    """Make the calls reply that go on for too long."""
    await asyncio.sleep(_CALLS_GO_ON_S)  # a moment for those that end by themselves
    await services.host.end_calls()


def server_config(app: "FastAPI", encryption: ssl.SSLContext | None = None) -> uvicorn.Config:
    """Return uvicorn's configuration, with limits on everything that happens before a token is checked."""
    return uvicorn.Config(
        app,
        http="h11",  # limits heads, and tells the whole target
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ws="websockets-sansio",
        ws_max_size=MAX_LINK_BYTES if app.state.takes_hosts else MAX_SOCKET_BYTES,
        ws_per_message_deflate=False,
        log_config=None,
        access_log=False,
        limit_concurrency=MOST_OPEN,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_DRAIN_S,
        server_header=False,
        proxy_headers=False,
        ssl_context_factory=None if encryption is None else lambda _, __: encryption,
    )


def run_to_end(work: Coroutine[None, None, None]) -> None:
    with asyncio.Runner() as runner:
        runner.run(work)


async def _run(
    settings: Settings, listener: socket.socket, url: str, config: Path | None, tracing: "Tracing | None"
) -> None:
    """Start the driver, and at the same time, in a thread, build the application; then serve until the end. Raises
    CannotStart."""
    is_warm = settings.min_instances > 0 or settings.cdp_url is not None
    early = asyncio.create_task(_start_driver(settings)) if is_warm else None
    app = await asyncio.to_thread(_application, settings, early, tracing)
    port = listener.getsockname()[1]
    from browser_service.http import metrics_port  # noqa: PLC0415 - as in `_application`, which has imported it

    app.state.port = port
    figures = metrics_port.listen(settings, port)
    app.state.metrics_port = figures and figures.getsockname()[1]
    all_is_loaded()
    from_file = {} if config is None else {"config": str(config)}
    log.info("listening", url=url, pid=os.getpid(), data_dir=str(settings.data_dir), **from_file)
    server = Server(server_config(app, tls(settings)), app)
    with contextlib.suppress(SystemExit):  # uvicorn exits like this if the start failed
        await server.serve(sockets=[listener, *([figures] if figures else [])])
    if tracing is not None:
        tracing.close()
    if not server.started:
        failure = app.state.start_failed
        raise CannotStart(f"The service could not start: {failure or 'see the log above.'}") from failure


async def _start_driver(settings: Settings) -> driver.Started:
    started = await driver.start_driver()
    if settings.browser_type == "chromium" and settings.headless and settings.cdp_url is None:
        options = LaunchOptions(settings.profile_dir, settings.browser_type, settings.executable_path)
        ask_early(started[0], options)
    return started


def _application(
    settings: Settings, early: "asyncio.Task[driver.Started] | None", tracing: "Tracing | None"
) -> "FastAPI":
    check_rules(settings)
    from browser_service.app import browser_host, create_app  # noqa: PLC0415 - most of a start is this import

    return create_app(settings, make_host=partial(browser_host, early=early), tracing=tracing)


def tls(settings: Settings) -> ssl.SSLContext | None:
    """Return the TLS context for https; None if it is not set up. Raises CannotStart for unusable files."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    try:
        return ports.server_context(settings.tls_cert, settings.tls_key)
    except ValueError as error:
        raise CannotStart(str(error)) from None


def bind(settings: Settings) -> socket.socket:
    try:
        return ports.bind(settings.host, settings.port)
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise CannotStart(f"--host {settings.host} is no address of this machine: {error.strerror}.") from error
        by = f", by {program}" if (program := ports.holder(settings.port)) else ""
        raise AlreadyRunning(
            f"Port {settings.port} on {settings.host} cannot be used: {error.strerror}{by}. Choose another with --port."
        ) from error


def _take(lock: FileLock, data_dir: Path) -> None:
    """Lock the directory. Wait for a service that is just ending; raise AlreadyRunning if another runs."""
    deadline = time.monotonic() + _ENDS_WITHIN_S
    while True:
        with contextlib.suppress(Timeout):
            lock.acquire(blocking=False)
            return
        instance = _who_has(data_dir)
        if instance is not None and instance["url"] and _listens(instance["url"]):
            raise AlreadyRunning(f"The service runs already, as process {instance['pid']} at {instance['url']}.")
        if time.monotonic() > deadline:
            at = instance and (f"{instance['url']}, which does not answer" if instance["url"] else "a host")
            description = f" (process {instance['pid']}, {at})" if instance else ""
            raise AlreadyRunning(f"Another service uses the data directory {data_dir}{description}.")
        time.sleep(0.05)  # the other service may be about to end; its lock has no event


def _who_has(data_dir: Path) -> dict[str, str] | None:
    """Return the process id of the service or host that has the lock, or just had it, and the service's URL; None if
    unknown."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        instance = json.loads((data_dir / INSTANCE_FILE).read_text(encoding="utf-8"))
        return {"pid": str(instance["pid"]), "url": str(instance.get("url", ""))}
    return None


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    with contextlib.suppress(OSError), socket.create_connection((parts.hostname, parts.port), timeout=1):
        return True
    return False


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
