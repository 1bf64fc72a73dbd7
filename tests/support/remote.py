"""Gives the service of the tests a host that is a process of its own and dials in, with `BROWSE_TESTS_HOST=remote`.

It has all sessions, the shared login among them, so that every test of a page runs once more over the link. Tests that
reach into the host's process are skipped then, each where it does so.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

from browse_together.contract.events import EventBatch
from browse_together.contract.pages import SessionSpec
from browser_service.carriers.front_end import Links
from browser_service.carriers.remote_host import RemoteHost
from browser_service.host.seam import SessionHost
from browser_service.host_settings import HostSettings
from browser_service.http import hosts
from browser_service.http.edge import loopback_hosts
from browser_service.process import server_config
from browser_service.services import Services
from browser_service.settings import Settings
from tests.support import browsers
from tests.support.service import RunningService, running_service
from tests.support.standin import InThisProcess
from tests.support.waiting import PATIENCE_S

_LEASE_MS: Final = 30_000
ROOT: Final = Path(__file__).parents[2]


class Awaited:
    """The service's host, once that has dialled in. What is opened before is opened then."""

    def __init__(self) -> None:
        self._specs: list[SessionSpec] = []
        self._host: asyncio.Future[RemoteHost] = asyncio.get_running_loop().create_future()
        self.services: Services | None = None

    def __getattr__(self, name: str) -> Any:  # Any: a method of the seam
        return getattr(self._host.result(), name)

    async def start(self) -> None:
        """Do nothing: the process starts when the service listens."""

    async def stop(self) -> list[SessionSpec]:
        return []

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        """Wait for the host: the service follows events from its start on, before it listens."""
        host = await asyncio.shield(self._host)
        return await host.events_after(seq, wait_ms, limit)

    async def open(self, spec: SessionSpec) -> None:
        if self._host.done():
            await self._host.result().open(spec)
        else:
            self._specs.append(spec)

    async def is_there(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            host = await asyncio.shield(self._host)
            for spec in self._specs:
                await host.open(spec)

    # --- what the link asks of who gives sessions to hosts ---

    def joined(self, host: RemoteHost) -> tuple[list[str], list[str]]:
        if not self._host.done():
            self._host.set_result(host)
        return host.hello.sessions, []

    def drains(self, host: RemoteHost) -> None:
        asyncio.get_running_loop().create_task(host.let_go())

    def gone(self, host: RemoteHost) -> None: ...

    def assigned(self, incarnation: str, session_id: str) -> bool:
        del incarnation, session_id
        return True

    def session_of(self, page_id: str) -> str | None:
        assert self.services is not None
        page = self.services.directory.get(page_id)
        return page.session_id if page is not None else None

    def has_page(self, incarnation: str, client_id: str) -> bool:
        del incarnation
        assert self.services is not None
        return any(page.holder_id == client_id for page in self.services.directory.pages())


@asynccontextmanager
async def service_with_remote_host(settings: Settings) -> AsyncIterator[RunningService]:
    """Run a service in this process whose host is another one."""
    awaited = Awaited()
    carrier = lambda _: cast("SessionHost", awaited)  # noqa: E731 - one expression
    async with running_service(settings, carrier) as service, _linked(service, awaited):
        yield service


@asynccontextmanager
async def _linked(service: RunningService, awaited: Awaited) -> AsyncIterator[None]:
    """Listen for a host, and have one that is a process, whose data directory is in the service's."""
    app, settings = service.app, service.settings
    services = awaited.services = service.parts
    app.include_router(hosts.router)
    app.state.takes_hosts = True
    app.state.links = links = Links(
        awaited,
        services.artifacts,
        services.revoked.check_host,
        front_start=1,
        lease_ms=_LEASE_MS,
        most_pages=settings.max_pages,
        settings=lambda: HostSettings.of(settings).model_dump(mode="json"),
        own_places=lambda: loopback_hosts(settings.port),
    )
    config = server_config(app)
    config.lifespan, config.port, config.timeout_graceful_shutdown = "off", 0, 1
    server = InThisProcess(config)
    serving = asyncio.create_task(server.serve())
    await asyncio.wait_for(server.listens.wait(), PATIENCE_S)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with host_process(services, f"http://127.0.0.1:{port}", settings.data_dir / "host"):
            await awaited.is_there()
            yield
    finally:
        await links.close()
        server.should_exit = True
        await asyncio.wait_for(serving, PATIENCE_S)


def _written(file: Path, text: str) -> Path:
    file.parent.mkdir(mode=0o700)
    file.write_text(text, encoding="utf-8")
    return file


@asynccontextmanager
async def host_process(services: Services, url: str, data_dir: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    token, _ = await services.tokens.create({"name": "tests", "pool": "tests", "expiresAt": time.time() + 86_400})
    file = _written(data_dir / "host.token", token)
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "browser_service",
            "host",
            "--allow-loopback",
            "--join",
            url,
            "--token-file",
            str(file),
        ),
        env={**os.environ, "BROWSE_DATA_DIR": str(data_dir), "APP_ENV": "test"} | browsers.setting(),
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), PATIENCE_S)
        except TimeoutError:
            process.kill()
            await process.wait()
