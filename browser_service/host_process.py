"""Runs a host as a process: it dials the service, has browsers for it, and ends them when its lease does."""

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import threading
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import psutil
import structlog

from browse_together.contract import written
from browse_together.contract.actions.traits import Scope
from browse_together.contract.background import AtMost, until_one_ends
from browse_together.contract.data_files import INSTANCE_LOCK
from browse_together.contract.errors import BrowseError
from browse_together.contract.local_times import leave_to_front
from browse_together.contract.wire import VERSION
from browser_service import configuration
from browser_service.actions import handlers_of
from browser_service.carriers.dialling import Front
from browser_service.carriers.host_end import Fenced, HostEnd, Served
from browser_service.carriers.messages import Hello, Lock, Welcome
from browser_service.host.host import LocalHost
from browser_service.host.seam import ArtifactPort
from browser_service.host.sessions import driver
from browser_service.host.sessions.executables import engines_here
from browser_service.host.sessions.launcher import Launcher
from browser_service.host.sessions.memory import memory_limit
from browser_service.host.sessions.processes import WatchedProcess, children_of, end_all
from browser_service.host_settings import HostSettings
from browser_service.joining import CannotJoin, Join, host_id, note_moves, note_state, read_token
from browser_service.observability.logging import configure, log_always
from browser_service.opening import has_screen
from browser_service.process import AlreadyRunning, CannotStart, all_is_loaded, prepared, run_to_end
from browser_service.rules.host_lease import HeldLease
from browser_service.settings import Settings

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_LOOK_S: Final = 0.2
"""How often the lease is looked at, beside the event loop, which may be busy or have been frozen."""
_MOVES_S: Final = 1.0
_DRAINS_WITHIN_S: Final = 80.0

log = structlog.get_logger(__name__)


def run(join: Join, settings: Settings) -> None:
    """Run until the service lets the host go, or SIGTERM or SIGINT. Raises CannotJoin and CannotStart, which name the
    obstacle. When the lease has ended, the process begins anew, as another incarnation."""
    environment = {**os.environ}
    leave_to_front()
    try:
        configure(settings.log_level, for_people=settings.app_env != "production")
        with prepared(settings):
            run_to_end(_Incarnation(join, settings, environment).run())
    except AlreadyRunning as error:
        raise CannotJoin(f"{error} A host needs a data directory of its own: give --data-dir.") from None
    except CannotStart as error:
        raise CannotJoin(str(error)) from error


class _Incarnation:
    """One life of a host, from its first hello to the end of its lease or of its process."""

    def __init__(self, join: Join, settings: Settings, environment: Mapping[str, str]) -> None:
        """`environment` is what the process was started with, for the next life."""
        self._join, self._settings, self._environment = join, settings, environment
        self._lease = HeldLease()
        self._name = secrets.token_hex(6)
        self._driver: asyncio.Task[driver.Started] | None = None
        self._ended = threading.Event()
        self._is_to_end = False

    async def run(self) -> None:
        """Live until the end. Raises CannotJoin with the service's refusal."""
        self._driver = asyncio.create_task(driver.start_driver())
        end = HostEnd(
            Front(self._join.url, partial(read_token, self._join.token_file)),
            await self._hello(),
            lambda welcome, files, _: self._make(end, welcome, files),
            self._lease,
        )
        with end.secrets.hidden():
            await self._live(end)

    async def _live(self, end: HostEnd) -> None:
        threading.Thread(target=self._watch, daemon=True).start()
        all_is_loaded()
        log.info("host", joins=self._join.url, pid=os.getpid(), data_dir=str(self._settings.data_dir))
        try:
            await until_one_ends(end.run(), self._stop(end), self._show(end))
        except BrowseError as error:
            raise CannotJoin(f"{self._join.url} refuses this host: {error.message} {error.advice}".rstrip()) from None
        except Fenced:
            if not self._is_to_end:
                _begin_anew(self._environment)
        finally:
            self._ended.set()
        log.info("the host has ended", host=end.name)

    async def _hello(self) -> Hello:
        assert self._driver is not None  # noqa: S101 - `run` has started it
        try:
            playwright, _ = await self._driver
        except BrowseError as error:
            raise CannotJoin(f"{error.message} {error.advice}".rstrip()) from None
        engines = engines_here(playwright, self._settings.executable_path)
        if not engines:
            raise CannotJoin(
                "There is no browser on this machine, so that no host runs. Get one: browse-together setup"
            )
        return Hello(
            host_id=host_id(self._settings.data_dir),
            lock=_lock(self._settings.data_dir),
            incarnation=self._name,
            name=self._join.name,
            version=VERSION,
            catalogue=written.fingerprint(),
            engines=engines,
            display=has_screen(),
            memory_mb=memory_limit(self._settings.memory_mb) or None,
        )

    async def _make(self, end: HostEnd, welcome: Welcome, files: ArtifactPort) -> Served:
        """Make what is served, by the settings of the service and those of this machine."""
        log_always(host=welcome.name)
        told = HostSettings.model_validate(welcome.settings)
        policy = configuration.url_policy(
            told,
            lambda: end.own_places,
            elsewhere=True,
            opens_loopback=self._join.allow_loopback,
            refuses=self._join.refuses,
        )
        options = configuration.launch_options(told, self._settings, policy)
        options = replace(options, cdp_url=None, may_act=self._may_act)  # what somebody else started goes on after us
        limits = configuration.host_limits(told, self._settings.memory_mb, elsewhere=True)
        handlers = handlers_of(Scope.PAGE, Scope.SESSION)
        host = LocalHost(Launcher(options, self._driver), handlers, files, policy, limits)
        return Served(host, partial(_end_browsers, host.launcher), lambda: host.memory.free_mb)

    def _may_act(self) -> bool:
        """Return whether browsers may act."""
        return not self._lease.lapsed

    def _watch(self) -> None:
        """Kill the browsers at the end of the lease, even if the event loop is busy."""
        while not self._ended.wait(_LOOK_S):
            if not self._may_act():
                _end_children()
                return

    async def _stop(self, end: HostEnd) -> None:
        """Wait for a signal, then give the sessions away and end; after a second one, end at once."""
        signals = asyncio.Queue[int]()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, signals.put_nowait, number)
        await signals.get()
        self._is_to_end = True
        log.info("the host gives its sessions to others", host=end.name)
        if end.linked:
            end.drain()
            async with AtMost(_DRAINS_WITHIN_S):
                await signals.get()
        await end.stop()

    async def _show(self, end: HostEnd) -> None:
        """Note each second that the process moves, and whether it is linked."""
        shown = None
        while True:
            if shown != (shown := (end.name, end.linked)):
                note_state(self._settings.data_dir, self._join, end.name, linked=end.linked)
            note_moves(self._settings.data_dir)
            await asyncio.sleep(_MOVES_S)  # nobody reports that nothing hangs


def _lock(data_dir: Path) -> Lock:
    """Describe the lock of the data directory, which this process holds."""
    try:
        boot_id = _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:  # elsewhere than on Linux
        boot_id = str(int(psutil.boot_time()))
    found = (data_dir / INSTANCE_LOCK).stat()
    return Lock(boot_id=boot_id, device=found.st_dev, inode=found.st_ino)


def _end_browsers(launcher: Launcher) -> Awaitable[None]:
    """Stop the driver before this returns, so that it does nothing that it was told; then kill it and all browsers."""
    if launcher.driver is not None:
        with contextlib.suppress(psutil.Error):
            launcher.driver.suspend()
    return asyncio.to_thread(_end_children)


def _end_children() -> None:
    """Kill the driver and all browsers."""
    end_all([WatchedProcess(child) for child in children_of(psutil.Process())])


def _begin_anew(environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by a new one, so that nothing of it can act any more."""
    _end_children()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**environment})  # noqa: S606 - our own command
