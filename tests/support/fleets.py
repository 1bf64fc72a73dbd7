"""Provides a service with several hosts, all in this process: the product's own hosts, with browsers by hand."""

import asyncio
import dataclasses
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from browse_together.contract.calls import Call, Outcome
from browse_together.contract.errors import HostGone
from browse_together.contract.model import Json
from browser_service.fleet.fleet import Fleet
from browser_service.host.host import LocalHost
from browser_service.rules.placement import HostFacts
from browser_service.rules.window import Clock
from tests.support.carriers import JsonCarrier
from tests.support.fake_host import FakeHost
from tests.support.json import AnyJson
from tests.support.service import RunningService, running_service, settings_for

Given = tuple[Any, ...]
"""What a host is made of. Any: as `MakeHost` takes it."""
_numbers = itertools.count(1)


class Elsewhere(JsonCarrier):
    """A host that might as well be on another machine, and can be lost or cut off."""

    def __init__(self, host: LocalHost, name: str, incarnation: str = "") -> None:
        self.back = host
        """The host itself, as it is on its machine."""
        self.name, self.host_id = name, f"id-{name}"
        self.incarnation = incarnation or f"{name}-{next(_numbers)}"
        self.free_mb: int | None = 10_000
        self.engines = frozenset({"chromium"})
        self.other_catalogue = False
        self.linked = True
        self.round_trip_s: float | None = 0.002
        self.outlives = False
        """True if another front is to have it."""
        self.ended = False
        """True once it was let go."""
        self._lost = asyncio.Event()

    @property
    def _host(self) -> LocalHost:  # type: ignore[override] # each use of it may fail
        if self._lost.is_set():
            raise HostGone(sent=False)
        return self.back

    async def run(self, call: Call) -> Outcome:
        running = asyncio.ensure_future(super().run(call))
        lost = asyncio.ensure_future(self._lost.wait())
        await asyncio.wait({running, lost}, return_when=asyncio.FIRST_COMPLETED)
        lost.cancel()
        if running.done():
            return await running
        running.cancel()
        raise HostGone(sent=True)

    @property
    def held(self) -> list[str]:
        return [*self.back.sessions]

    def facts(self) -> HostFacts:
        return HostFacts(
            *(self.name, self.engines),
            display=False,
            free_mb=self.free_mb,
            other_catalogue=self.other_catalogue,
            gone=not self.linked,
        )

    def describe_link(self) -> Json:
        return {"version": "1", "from": "here", "seenMs": 0}

    async def let_go(self) -> None:
        self.ended = True

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    def lose(self) -> None:
        """Let it be gone, with all that is under way there."""
        self._lost.set()


@dataclass
class Front:
    """A service that takes in hosts, and those that have dialled in."""

    service: RunningService
    given: Given
    hosts: list[Elsewhere] = field(default_factory=list)

    @property
    def fleet(self) -> Fleet:
        assert self.service.parts.fleet is not None
        return self.service.parts.fleet

    def at(self, session_id: str) -> str:
        """Return the name of the host that has a session."""
        return self.fleet.router.host_of(session_id)

    def new_host(self) -> LocalHost:
        options, handlers, artifacts, policy, limits = self.given
        return FakeHost(options, handlers, artifacts, policy, dataclasses.replace(limits, elsewhere=True))

    def join(self, name: str, host: LocalHost | None = None, incarnation: str = "") -> Elsewhere:
        """Have a host dial in, empty unless it is given."""
        other = Elsewhere(host or self.new_host(), name, incarnation)
        self.hosts.append(other)
        self.fleet.lifecycle.joined(other)
        return other

    def lose(self, host: Elsewhere) -> None:
        """Have a host be gone, and the front know it."""
        host.lose()
        self.fleet.lifecycle.gone(host)


@asynccontextmanager
async def front(data_dir: Path, clock: Clock = time.monotonic, **settings: AnyJson) -> AsyncIterator[Front]:
    """Run a front whose own host has little memory, so that sessions go to the others."""
    given = list[Given]()

    def make_host(*parts: Any) -> LocalHost:  # Any: what a host is made of
        given.append(parts)
        return FakeHost(*parts)

    ours = settings_for(data_dir, **{"hosts": True, "memory_mb": 350, "host_lease_ms": 1_000, **settings})
    async with running_service(ours, clock=clock, make_host=make_host) as service:
        front = Front(service, given[0])
        yield front
    for host in front.hosts:
        if not host.outlives:
            await host.back.stop()
