"""Puts sessions on hosts: each is on one of them, or on none while nobody uses it."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Final

import structlog

from browse_together.contract.background import AtMost
from browse_together.contract.errors import (
    BrowseError,
    BrowserLaunchFailed,
    HostGone,
    JournalFailed,
    ResourceExhausted,
    ServiceUnavailable,
    SessionNotFound,
)
from browse_together.contract.events import HostEvent, PageChanged, PageClosed, SessionTold, StateSaved
from browse_together.contract.pages import SessionOptions, SessionSpec
from browser_service.fleet.members import Member, Placement
from browser_service.rules.placement import Needs, needs_of, place
from browser_service.rules.window import Clock
from browser_service.sessions.directory import Directory
from browser_service.store.tables import Placed, PlacementTable

_OPENS_WITHIN_S: Final = 20.0
_CLOSES_WITHIN_S: Final = 30.0
_LOOKS_EVERY_S: Final = 1.0
"""How often to look again while waiting: no event says that memory is free."""
_SEALED: Final = ("headers", "init_scripts", "permissions", "former")
_LOST: Final = "its host is gone"
_GIVEN_UP: Final = "its host gave it up"

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Placements:
    """The placements of all sessions, and the hosts where these may be."""

    directory: Directory
    table: PlacementTable
    learn: Callable[[str], Awaitable[None]]
    """Finds out whether the front's own machine has an engine."""
    engine: str
    windows: bool
    clock: Clock = time.monotonic

    tell: Callable[[list[HostEvent]], Awaitable[None]] = field(init=False)
    """Makes known what happened to a session while it was on no host."""
    again: Callable[[str], Awaitable[SessionSpec]] = field(init=False)
    """Returns the spec of a session whose host is gone, from what the front knows."""

    def __post_init__(self) -> None:
        self.members: list[Member] = []
        self._placements: dict[str, Placement] = {}
        self._earlier: dict[str, Placed] = {}
        self.changed = asyncio.Event()
        """Set whenever a host or a placement has changed."""

    def __iter__(self) -> Iterator[Placement]:
        return iter([*self._placements.values()])

    def at(self, member: Member) -> list[Placement]:
        return [placed for placed in self if placed.member is member]

    def get(self, session_id: str | None) -> Placement | None:
        return self._placements.get(session_id or "")

    def is_at(self, session_id: str, member: Member) -> bool:
        """Return whether a host has a session now, and is not about to give it up."""
        placed = self.get(session_id)
        return placed is not None and placed.member is member and not placed.leaving

    def of_page(self, page_id: str | None) -> Placement | None:
        page = self.directory.get(page_id)
        return self.get(page.session_id) if page is not None else None

    def find(self, session_id: str | None, page_id: str | None) -> Placement:
        """Return the placement of a page or else of a session. Raises SessionNotFound."""
        placed = self.of_page(page_id) or self.get(session_id)
        if placed is None or placed.closed:
            raise SessionNotFound(f"There is no session {session_id!r}.")
        return placed

    def needs(self, options: SessionOptions) -> Needs:
        return needs_of(options, self.engine, windows=self.windows)

    async def choose(self, needs: Needs) -> Member:
        """Return the host for a new session. Raises what `place` raises."""
        await self.learn(needs.engine)
        facts = {member.facts: member for member in self.members}
        return facts[place(needs, facts)]

    # --- sessions come and go ----------------------------------------------------------------------------------------

    async def load(self) -> int:
        """Read which hosts had which sessions before the front started, and return for how many milliseconds these may
        act without word from it."""
        self._earlier, lease_ms = await self.table.all()
        return lease_ms

    def was_placed(self, session_id: str) -> bool:
        """Return whether a host had a session before the front started."""
        return session_id in self._earlier

    async def open(self, spec: SessionSpec) -> None:
        """Note a session. Its first call opens it on a host; what stays on the front's own is opened there at once."""
        if (former := self.get(spec.session_id)) is not None and not former.closed:
            return
        needs, awaited = self.needs(spec.options), self._earlier.pop(spec.session_id, None)
        stays = spec.profile or spec.attached
        placed = Placement(spec.session_id, needs, spec.persistent, stays, self.clock, self.changed)
        placed.awaited = awaited
        self._placements[spec.session_id] = placed
        if placed.stays:
            placed.spec = spec
            await self._move(placed, self._settle_in(placed, self.members[0]))
        else:
            await self._lay_by(placed, spec)

    async def close(self, placed: Placement) -> SessionSpec:
        """Close a session wherever it is, and return its spec, until it is forgotten. Raises HostGone."""
        await self._until_settled(placed)
        placed.closed = True
        if placed.member is None:
            spec = await self._whole(placed)
            await self._close_pages(placed)
            return spec
        try:
            spec = await self._closed_by(placed, placed.member)
        except (HostGone, TimeoutError) as error:
            placed.closed = False
            raise HostGone(
                f"The host of session {placed.session_id!r} does not answer, so it is not closed yet."
            ) from error
        await self._close_pages(placed)  # its host says so too, if it is ours
        return spec

    async def _close_pages(self, placed: Placement) -> None:
        pages = self.directory.pages_of(placed.session_id)
        await self.tell([PageClosed(page_id=page.page_id, session_id=page.session_id) for page in pages])

    async def forget(self, placed: Placement) -> None:
        """Forget a closed session."""
        if self._placements.get(placed.session_id) is placed:
            del self._placements[placed.session_id]
        await self.unplace(placed.session_id)

    async def settled(self, placed: Placement, on_wait: Callable[[], None], refused: list[BrowseError]) -> Member:
        """Return the host of a session, once it is open there. Without end it waits for a host that is gone or full,
        and notes the reason in `refused`; the caller bounds the time. Raises why a session can be on no host, and
        SessionNotFound."""
        while True:
            await self._until_settled(placed)
            if placed.closed:
                raise SessionNotFound(f"Session {placed.session_id!r} has been closed.")
            if placed.member is not None and placed.member.reachable and not placed.barred:
                return placed.member
            if placed.member is None and placed.awaited is None:
                try:
                    await self._move(placed, self._settle_in(placed))
                    continue
                except (HostGone, ResourceExhausted, ServiceUnavailable, BrowserLaunchFailed) as error:
                    if isinstance(error, JournalFailed) or not (placed.lost or isinstance(error, HostGone)):
                        raise
                    refused[:] = [error]
            on_wait()
            await self.wait_for_change()

    async def wait_for_change(self, at_most_s: float = _LOOKS_EVERY_S) -> None:
        self.changed.clear()
        async with AtMost(at_most_s):
            await self.changed.wait()

    async def leave(self, placed: Placement) -> None:
        """Take a session away from its host, and keep what opens it elsewhere as it is."""
        if placed.member is not None and placed.moving is None and not placed.stays:
            with contextlib.suppress(HostGone, TimeoutError, JournalFailed):
                await self._move(placed, self._leave(placed, placed.member))

    async def _leave(self, placed: Placement, member: Member) -> None:
        placed.leaving = True
        try:
            spec = await self._closed_by(placed, member)
            if placed.member is not member:
                return  # it was lost meanwhile
            placed.member = None
            await self._lay_by(placed, spec.model_copy(update={"lost_by": _GIVEN_UP}))
            pages = [PageChanged(page=page) for page in spec.pages]
            await self.tell([StateSaved(session_id=placed.session_id, state=spec.state), *pages])
            await self.unplace(placed.session_id)
            await member.host.settle(placed.session_id)
        finally:
            placed.leaving = placed.barred = False

    async def _closed_by(self, placed: Placement, member: Member) -> SessionSpec:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            return await member.host.close(placed.session_id) or await self.again(placed.session_id)

    async def _lay_by(self, placed: Placement, spec: SessionSpec) -> None:
        """Keep what opens a session. Its settings and what brings its pages back are sealed, as its logins are."""
        sealed = {name: getattr(spec, name) for name in _SEALED}
        placed.spec = spec.model_copy(update={"state": {}, "earlier": [], **{name: {} for name in sealed}})
        await self.tell([SessionTold(session_id=placed.session_id, **sealed)] if any(sealed.values()) else [])

    async def _whole(self, placed: Placement) -> SessionSpec:
        """Return all that opens a session, as it was when it left its host, or as it is known."""
        spec, laid_by = await self.again(placed.session_id), placed.spec
        return spec if laid_by is None else spec.model_copy(update={"pages": laid_by.pages, "lost_by": laid_by.lost_by})

    async def _settle_in(self, placed: Placement, member: Member | None = None) -> None:
        """Open a session on a host that has room for it."""
        spec = placed.spec if placed.stays and placed.spec is not None else await self._whole(placed)
        member = member or await self.choose(placed.needs)
        if member.placed is not None:
            await self.table.keep(placed.session_id, member.placed)
        member.expect(placed.needs)
        placed.member, placed.asleep = member, {page.page_id for page in spec.pages}
        placed.used_at = self.clock()
        try:
            async with asyncio.timeout(_OPENS_WITHIN_S):
                await member.host.open(spec.model_copy(update={"lost_by": _LOST}) if placed.lost else spec)
                for client_id, (before_seq, for_good) in placed.released.items():
                    await member.host.release(client_id, before_seq, for_good=for_good)
        except (HostGone, TimeoutError) as error:
            placed.member = None
            problem = f"The host {member.name} does not open session {placed.session_id!r}."
            raise HostGone(problem, sent=False) from error
        if placed.member is not member:
            raise HostGone(f"The host {member.name} is gone.", sent=False)
        placed.released.clear()
        if placed.lost:  # its pages have other revisions now
            await self.tell([PageChanged(page=page) for page in spec.pages])
        placed.spec, placed.lost = None, False
        log.info("a session has a host", session=placed.session_id, host=member.name)

    async def unplace(self, session_id: str) -> None:
        """Forget which host had a session, unless one has it again."""
        placed = self.get(session_id)
        if placed is None or placed.member is None or placed.closed:
            with contextlib.suppress(JournalFailed):  # the next front then waits for a host that does not have it
                await self.table.forget(session_id)

    async def _move(self, placed: Placement, move: Coroutine[None, None, None]) -> None:
        """Move a session to the end, even if its caller is cancelled. Raises the move's error."""

        def end(task: asyncio.Task[None]) -> None:
            placed.moving = None
            self.changed.set()
            if not task.cancelled():
                task.exception()  # for those who wait; nobody may

        placed.moving = asyncio.create_task(move)
        placed.moving.add_done_callback(end)
        await asyncio.shield(placed.moving)

    async def _until_settled(self, placed: Placement) -> None:
        while placed.moving is not None:
            await asyncio.wait({placed.moving})

    # --- hosts come and go -------------------------------------------------------------------------------------------

    def adopt(self, member: Member, session_ids: list[str]) -> tuple[list[str], list[str]]:
        """Return which of the sessions that a host has stay with it, and which are no longer its own."""
        adopted = []
        for session_id in session_ids:
            placed = self.get(session_id)
            if placed is None or placed.closed:
                continue
            if placed.awaited is not None and placed.awaited == member.placed:
                placed.member, placed.used_at = member, self.clock()
                placed.awaited = placed.spec = None
            if placed.member is member:
                adopted.append(session_id)
        self.changed.set()
        return adopted, [session_id for session_id in session_ids if session_id not in {*adopted}]

    def lose(self, member: Member) -> list[Placement]:
        """Note that a host certainly acts no more, and return the placements of the sessions that it had."""
        member.gone = True
        if member in self.members:
            self.members.remove(member)
        lost = self.at(member)
        for placed in lost:
            placed.member, placed.spec, placed.lost = None, None, True
        self.changed.set()
        return lost

    def await_no_longer(self) -> list[str]:
        """Give up the hosts that have not come back since the front started. Returns the sessions that end with them,
        because they are not persistent."""
        over = []
        for placed in self:
            if placed.awaited is not None:
                placed.awaited, placed.lost = None, True
                over += [] if placed.persistent else [placed.session_id]
        self.changed.set()
        return over
