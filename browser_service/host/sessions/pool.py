"""The browsers beside the shared one: of another engine, or of one session alone."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog

from browse_together.contract.errors import ResourceExhausted
from browse_together.contract.next_calls import next_call
from browse_together.contract.pages import Engine
from browser_service.host.background import bounded
from browser_service.host.sessions.running import RunningBrowser

_log = structlog.get_logger(__name__)


class BrowserKind(NamedTuple):
    """The kind of a browser: what sessions must have in common to share it."""

    engine: Engine
    session_id: str = ""
    """The session that has the browser alone; "" for a browser that several share."""
    headless: bool = True


@dataclass(eq=False)
class Instance:
    running: RunningBrowser
    sessions: set[str] = field(default_factory=set)


class Pool:
    """At most `limit` browsers, the shared one included. Only one caller may use the pool at a time."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._instances: dict[BrowserKind, Instance] = {}
        self.restarts = 0
        """The number of browsers that ended without our doing, and were started again."""

    @property
    def running(self) -> list[BrowserKind]:
        return [kind for kind, instance in self._instances.items() if instance.running.runs]

    async def browser(
        self, kind: BrowserKind, session_id: str, launch: Callable[[], Awaitable[RunningBrowser]]
    ) -> RunningBrowser:
        """Return the browser of that kind; start it if it does not run. Raises ResourceExhausted if too many run."""
        if kind not in self.running:
            if kind in self._instances:
                self.restarts += 1
                _log.warning("a browser is started anew", engine=kind.engine, reason="it ended")
            await self.close(kind)
            self._check_room()
            self._instances[kind] = Instance(await launch())
        instance = self._instances[kind]
        instance.sessions.add(session_id)
        return instance.running

    async def close(self, kind: BrowserKind) -> None:
        instance = self._instances.pop(kind, None)
        if instance is not None:
            instance.running.end()
            if instance.running.browser is not None:
                await bounded(instance.running.browser.close())

    async def close_all(self, *, forget: bool = False) -> None:
        """Close all browsers; with `forget`, only drop them, because something else kills them."""
        if forget:
            for instance in self._instances.values():
                instance.running.end()
            self._instances.clear()
        for kind in [*self._instances]:
            await self.close(kind)

    def _check_room(self) -> None:
        running = self.running
        if len(running) + 1 < self._limit:
            return
        sessions = sorted({session_id for kind in running for session_id in self._instances[kind].sessions})
        close = (
            next_call("close_session", session_id=sessions[0])
            if sessions
            else f"{next_call('create_session')} without browserType"
        )
        raise ResourceExhausted(
            f"{len(running) + 1} browsers run, the shared one included, which is the limit (BROWSE_MAX_INSTANCES).",
            hint=f"Work in a session of the shared browser, or close one that has another: {close}.",
            details={"context": {"limit": "instances", "value": self._limit, "sessions": [*sessions]}},
        )
