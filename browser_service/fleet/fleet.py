"""Wires the parts of a front that takes in hosts. No other front imports them."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from browse_together.contract.pages import Figures, SessionOptions, SessionSpec
from browser_service.clients.presence import Clients
from browser_service.fleet.lifecycle import HostLifecycle
from browser_service.fleet.members import Member
from browser_service.fleet.placements import Placements
from browser_service.fleet.router import HostRouter
from browser_service.host.seam import SessionHost
from browser_service.observability.metrics import HostFigures
from browser_service.rules.host_lease import MARGIN_S
from browser_service.rules.placement import LOCAL, HostFacts
from browser_service.rules.window import Clock
from browser_service.sessions.directory import Directory
from browser_service.sessions.lifecycle import SessionLifecycle
from browser_service.settings import Settings
from browser_service.spine.feed import Feeds
from browser_service.spine.host_events import HostEvents
from browser_service.store.journal import Journal
from browser_service.store.tables import PlacementTable

_OPENS_WITHIN_S: Final = 3.0


class Own(NamedTuple):
    """The host in the front's own process, as the front reaches it."""

    host: SessionHost
    free_mb: Callable[[], int | None]
    """Returns the memory that its browsers may still take."""


class Fleet:
    """The hosts of a front: where each session is, and which hosts there are."""

    def __init__(
        self, settings: Settings, directory: Directory, journal: Journal, clients: Clients, own: Own, *, clock: Clock
    ) -> None:
        self._own, self._windows = own, not settings.headless
        self._engines: set[str] = {settings.browser_type}
        self.placements = Placements(
            *(directory, PlacementTable(journal, settings.host_lease_ms)),
            learn=self._learn,
            engine=settings.browser_type,
            windows=self._windows,
            clock=clock,
        )
        self.router = HostRouter(self.placements, directory, clients.send)
        self.router.waits_s = settings.host_lease_ms / 1000 + MARGIN_S + _OPENS_WITHIN_S
        self.lifecycle = HostLifecycle(self.placements, directory)
        directory.sessions.host_of = self._host_of

    def connect(self, events: HostEvents, feeds: Feeds, lifecycle: SessionLifecycle) -> None:
        """Connect the parts with those of the front that are made of them."""

        async def again(session_id: str) -> SessionSpec:
            spec, owed = await lifecycle.spec_again(session_id), events.owed_logins(session_id)
            return spec if owed is None else spec.model_copy(update={"state": owed})

        self.placements.tell, self.placements.again = events.tell, again
        self.router.on_over = lifecycle.end_unheld
        self.lifecycle.on_lost = events.session_lost
        self.lifecycle.follow = lambda host, has, lived_before: partial(
            feeds.leave, feeds.follow(host, has, lived_before=lived_before)
        )
        lifecycle.outlives = lambda record: record.persistent or self.placements.was_placed(record.session_id)

    async def begin(self) -> None:
        """Take in the host of this process, and know what the service before had given to others."""
        if lease_ms := await self.placements.load():
            self.router.adopts_within_s = lease_ms / 1000 + MARGIN_S
        self.lifecycle.take_in(Member(self._own.host, self._facts, clock=self.placements.clock))

    async def figures(self) -> list[HostFigures]:
        """Return what each host last told of itself, if there are several."""
        members = self.placements.members
        if len(members) == 1:
            return []
        figures = await asyncio.gather(*(member.host.figures() for member in members), return_exceptions=True)
        return [
            HostFigures(each.name, each.state, told, each.elsewhere.round_trip_s if each.elsewhere else None)
            for each, told in zip(members, figures, strict=True)
            if isinstance(told, Figures)
        ]

    def _host_of(self, session_id: str) -> str | None:
        """Name the host of a session if there are several, and it is on one."""
        return self.router.host_of(session_id) or None if len(self.placements.members) > 1 else None

    def _facts(self) -> HostFacts:
        free_mb = self._own.free_mb()
        return HostFacts(LOCAL, frozenset(self._engines), display=self._windows, free_mb=free_mb)

    async def _learn(self, engine: str) -> None:
        """Find out whether this machine has an engine, which takes a driver."""
        if engine not in self._engines:
            options = SessionOptions.model_validate({"browser_type": engine})
            if await self._own.host.problem(options) is None:
                self._engines.add(engine)
