"""Where each session is: on one of the hosts, or on none while nobody uses it."""

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
from browser_service.rules.placement import Needs, needs_of, place
from browser_service.rules.window import Clock
from browser_service.sessions.directory import Directory
from browser_service.spine.members import Home, Member
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
class Homes:
    """The homes of all sessions, and the hosts where these may be."""

    directory: Directory
    placements: PlacementTable
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
        self._homes: dict[str, Home] = {}
        self._placed: dict[str, Placed] = {}
        self.changed = asyncio.Event()
        """Set whenever a host or a home has changed."""

    def __iter__(self) -> Iterator[Home]:
        return iter([*self._homes.values()])

    def at(self, member: Member) -> list[Home]:
        return [home for home in self if home.member is member]

    def get(self, session_id: str | None) -> Home | None:
        return self._homes.get(session_id or "")

    def is_at(self, session_id: str, member: Member) -> bool:
        """Return whether a host has a session now, and is not about to give it up."""
        home = self.get(session_id)
        return home is not None and home.member is member and not home.leaving

    def of_page(self, page_id: str | None) -> Home | None:
        page = self.directory.get(page_id)
        return self.get(page.session_id) if page is not None else None

    def find(self, session_id: str | None, page_id: str | None) -> Home:
        """Return the home of a page or else of a session. Raises SessionNotFound."""
        home = self.of_page(page_id) or self.get(session_id)
        if home is None or home.closed:
            raise SessionNotFound(f"There is no session {session_id!r}.")
        return home

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
        self._placed, lease_ms = await self.placements.all()
        return lease_ms

    def was_placed(self, session_id: str) -> bool:
        """Return whether a host had a session before the front started."""
        return session_id in self._placed

    async def open(self, spec: SessionSpec) -> None:
        """Note a session. Its first call opens it on a host; what stays on the front's own is opened there at once."""
        if (former := self.get(spec.session_id)) is not None and not former.closed:
            return
        needs, awaited = self.needs(spec.options), self._placed.pop(spec.session_id, None)
        home = Home(spec.session_id, needs, spec.persistent, spec.profile or spec.attached, self.clock, self.changed)
        home.awaited = awaited
        self._homes[spec.session_id] = home
        if home.stays:
            home.spec = spec
            await self._move(home, self._settle_in(home, self.members[0]))
        else:
            await self._lay_by(home, spec)

    async def close(self, home: Home) -> SessionSpec:
        """Close a session wherever it is, and return its spec, until it is forgotten. Raises HostGone."""
        await self._until_settled(home)
        home.closed = True
        if home.member is None:
            spec = await self._whole(home)
            await self._close_pages(home)
            return spec
        try:
            spec = await self._closed_by(home, home.member)
        except (HostGone, TimeoutError) as error:
            home.closed = False
            raise HostGone(
                f"The host of session {home.session_id!r} does not answer, so it is not closed yet."
            ) from error
        await self._close_pages(home)  # its host says so too, if it is ours
        return spec

    async def _close_pages(self, home: Home) -> None:
        pages = self.directory.pages_of(home.session_id)
        await self.tell([PageClosed(page_id=page.page_id, session_id=page.session_id) for page in pages])

    async def forget(self, home: Home) -> None:
        """Forget a closed session."""
        if self._homes.get(home.session_id) is home:
            del self._homes[home.session_id]
        await self.unplace(home.session_id)

    async def at_home(self, home: Home, on_wait: Callable[[], None], refused: list[BrowseError]) -> Member:
        """Return the host of a session, once it is open there. Without end it waits for a host that is gone or full,
        and notes the reason in `refused`; the caller bounds the time. Raises why a session can be on no host, and
        SessionNotFound."""
        while True:
            await self._until_settled(home)
            if home.closed:
                raise SessionNotFound(f"Session {home.session_id!r} has been closed.")
            if home.member is not None and home.member.reachable and not home.barred:
                return home.member
            if home.member is None and home.awaited is None:
                try:
                    await self._move(home, self._settle_in(home))
                    continue
                except (HostGone, ResourceExhausted, ServiceUnavailable, BrowserLaunchFailed) as error:
                    if isinstance(error, JournalFailed) or not (home.lost or isinstance(error, HostGone)):
                        raise
                    refused[:] = [error]
            on_wait()
            await self.wait_for_change()

    async def wait_for_change(self, at_most_s: float = _LOOKS_EVERY_S) -> None:
        self.changed.clear()
        async with AtMost(at_most_s):
            await self.changed.wait()

    async def leave(self, home: Home) -> None:
        """Take a session away from its host, and keep what opens it elsewhere as it is."""
        if home.member is not None and home.moving is None and not home.stays:
            with contextlib.suppress(HostGone, TimeoutError, JournalFailed):
                await self._move(home, self._leave(home, home.member))

    async def _leave(self, home: Home, member: Member) -> None:
        home.leaving = True
        try:
            spec = await self._closed_by(home, member)
            if home.member is not member:
                return  # it was lost meanwhile
            home.member = None
            await self._lay_by(home, spec.model_copy(update={"lost_by": _GIVEN_UP}))
            pages = [PageChanged(page=page) for page in spec.pages]
            await self.tell([StateSaved(session_id=home.session_id, state=spec.state), *pages])
            await self.unplace(home.session_id)
            await member.host.settle(home.session_id)
        finally:
            home.leaving = home.barred = False

    async def _closed_by(self, home: Home, member: Member) -> SessionSpec:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            return await member.host.close(home.session_id) or await self.again(home.session_id)

    async def _lay_by(self, home: Home, spec: SessionSpec) -> None:
        """Keep what opens a session. Its settings and what brings its pages back are sealed, as its logins are."""
        sealed = {name: getattr(spec, name) for name in _SEALED}
        home.spec = spec.model_copy(update={"state": {}, "earlier": [], **{name: {} for name in sealed}})
        await self.tell([SessionTold(session_id=home.session_id, **sealed)] if any(sealed.values()) else [])

    async def _whole(self, home: Home) -> SessionSpec:
        """Return all that opens a session, as it was when it left its host, or as it is known."""
        spec, laid_by = await self.again(home.session_id), home.spec
        return spec if laid_by is None else spec.model_copy(update={"pages": laid_by.pages, "lost_by": laid_by.lost_by})

    async def _settle_in(self, home: Home, member: Member | None = None) -> None:
        """Open a session on a host that has room for it."""
        spec = home.spec if home.stays and home.spec is not None else await self._whole(home)
        member = member or await self.choose(home.needs)
        if member.placed is not None:
            await self.placements.keep(home.session_id, member.placed)
        member.expect(home.needs)
        home.member, home.asleep = member, {page.page_id for page in spec.pages}
        home.used_at = self.clock()
        try:
            async with asyncio.timeout(_OPENS_WITHIN_S):
                await member.host.open(spec.model_copy(update={"lost_by": _LOST}) if home.lost else spec)
                for client_id, (before_seq, for_good) in home.released.items():
                    await member.host.release(client_id, before_seq, for_good=for_good)
        except (HostGone, TimeoutError) as error:
            home.member = None
            raise HostGone(f"The host {member.name} does not open session {home.session_id!r}.", sent=False) from error
        if home.member is not member:
            raise HostGone(f"The host {member.name} is gone.", sent=False)
        home.released.clear()
        if home.lost:  # its pages have other revisions now
            await self.tell([PageChanged(page=page) for page in spec.pages])
        home.spec, home.lost = None, False
        log.info("a session has a host", session=home.session_id, host=member.name)

    async def unplace(self, session_id: str) -> None:
        """Forget which host had a session, unless one has it again."""
        home = self.get(session_id)
        if home is None or home.member is None or home.closed:
            with contextlib.suppress(JournalFailed):  # the next front then waits for a host that does not have it
                await self.placements.forget(session_id)

    async def _move(self, home: Home, move: Coroutine[None, None, None]) -> None:
        """Move a session to the end, even if its caller is cancelled. Raises the move's error."""

        def end(task: asyncio.Task[None]) -> None:
            home.moving = None
            self.changed.set()
            if not task.cancelled():
                task.exception()  # for those who wait; nobody may

        home.moving = asyncio.create_task(move)
        home.moving.add_done_callback(end)
        await asyncio.shield(home.moving)

    async def _until_settled(self, home: Home) -> None:
        while home.moving is not None:
            await asyncio.wait({home.moving})

    # --- hosts come and go -------------------------------------------------------------------------------------------

    def adopt(self, member: Member, session_ids: list[str]) -> tuple[list[str], list[str]]:
        """Return which of the sessions that a host has stay with it, and which are no longer its own."""
        adopted = []
        for session_id in session_ids:
            home = self.get(session_id)
            if home is None or home.closed:
                continue
            if home.awaited is not None and home.awaited == member.placed:
                home.member, home.awaited, home.spec, home.used_at = member, None, None, self.clock()
            if home.member is member:
                adopted.append(session_id)
        self.changed.set()
        return adopted, [session_id for session_id in session_ids if session_id not in {*adopted}]

    def lose(self, member: Member) -> list[Home]:
        """Note that a host certainly acts no more, and return the homes of the sessions that it had."""
        member.gone = True
        if member in self.members:
            self.members.remove(member)
        lost = self.at(member)
        for home in lost:
            home.member, home.spec, home.lost = None, None, True
        self.changed.set()
        return lost

    def await_no_longer(self) -> list[str]:
        """Give up the hosts that have not come back since the front started. Returns the sessions that end with them,
        because they are not persistent."""
        over = []
        for home in self:
            if home.awaited is not None:
                home.awaited, home.lost = None, True
                over += [] if home.persistent else [home.session_id]
        self.changed.set()
        return over
