"""The hosts that dial in: taken in with the sessions that they have, emptied, and given up."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

from browse_together.contract.background import AtMost, Background
from browse_together.contract.calls import Outcome
from browse_together.contract.errors import HostGone, InvalidRequest, UnknownOutcome, field_details
from browse_together.contract.events import CallEnded
from browse_together.contract.model import Json
from browse_together.contract.pages import SessionSpec
from browser_service.fleet.members import HostElsewhere, Member, Placement
from browser_service.fleet.placements import Placements
from browser_service.host.seam import SessionHost
from browser_service.rules.placement import hinders_draining
from browser_service.sessions.directory import Directory

_CALLS_END_WITHIN_S: Final = 60.0
_CALLS_COME_FOR_S: Final = 10.0
"""For so long, a host that is emptied waits for a moment without a call of a session; then it lets no more of them
in."""
_LETS_GO_WITHIN_S: Final = 5.0
_TELLS_WITHIN_S: Final = 20.0

EndFollowing = Callable[[], Awaitable[None]]

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class HostLifecycle:
    """Which hosts there are, and what each may say."""

    placements: Placements
    directory: Directory
    follow: Callable[[SessionHost, Callable[[str], bool], bool], EndFollowing] = field(init=False)
    """Follows a host's events, with a function that returns whether a session is there now, and whether the host lived
    before the service. Returns what ends that."""
    on_lost: Callable[[str], None] = field(init=False)
    """Called with each session whose host is lost."""

    def __post_init__(self) -> None:
        self._following: dict[Member, EndFollowing] = {}
        self._background = Background()

    def take_in(self, member: Member, *, lived_before: bool = False) -> None:
        """Take in a host, and follow what happens there. The first is the one in this process."""
        self.placements.members.append(member)
        has = lambda session_id: self.placements.is_at(session_id, member)  # noqa: E731 - one expression
        self._following[member] = self.follow(member.host, has, lived_before)

    def joined(self, host: HostElsewhere) -> tuple[list[str], list[str]]:
        """Take in a host, at its first hello and at each one after. Return which of its sessions stay with it, and
        which it drops."""
        member = known = self._member(host.incarnation)
        if member is None:
            member = Member(host, host.facts, host, clock=self.placements.clock)
            self.take_in(member, lived_before=bool(host.held))
        adopted = self.placements.adopt(member, host.held)
        if known is None:
            self._background.spawn(self._learn(member, adopted[0]))
        if member.facts.other_catalogue:
            self.drains(host)
        return adopted

    async def _learn(self, member: Member, session_ids: list[str]) -> None:
        """Have a host report the pages of sessions that an earlier front gave it."""
        for session_id in session_ids:
            async with AtMost(_TELLS_WITHIN_S, HostGone):
                await member.host.open(SessionSpec(session_id=session_id))

    def drains(self, host: HostElsewhere) -> None:
        """Empty a host that wants to end."""
        if (member := self._member(host.incarnation)) is not None and not member.draining:
            member.draining = True
            self._background.spawn(self._empty(member, host, self.placements.clock()))

    def gone(self, host: HostElsewhere) -> None:
        """Drop a host that has certainly ended."""
        if (member := self._member(host.incarnation)) is not None:
            lost = self.placements.lose(member)
            log.warning("a host is lost", host=member.name, sessions=len(lost))
            self._background.spawn(self._part(member, lost))

    def drain(self, name: str) -> None:
        """Give a host no more sessions, and move those that it has to others. Raises InvalidRequest if there is no such
        host, or some session could be nowhere else."""
        members = self.placements.members
        member = next((each for each in members if each.name == name), None)
        if member is None or member.elsewhere is None:
            why = "is the service itself: `browse-together down` ends it" if member else "is not connected"
            names = ", ".join(each.name for each in members if each.elsewhere)
            raise InvalidRequest(
                f"The host {name!r} {why}.", hint=f"Hosts: {names or 'none'}.", details=field_details("name")
            )
        facts = {each: each.facts for each in members}
        needs = [placed.needs for placed in self.placements.at(member)]
        if reason := hinders_draining(facts[member], needs, facts.values()):
            raise InvalidRequest(
                f"The host {name!r} cannot be emptied: {reason}.",
                hint="Start another host first, or close the sessions.",
                details=field_details("name"),
            )
        self.drains(member.elsewhere)

    def listed(self) -> list[Json]:
        """Describe each host for people."""
        pages = self.directory.page_counts()
        return [
            {
                "name": member.name,
                "state": member.state,
                "sessions": len(placements := self.placements.at(member)),
                "pages": sum(pages[placed.session_id] for placed in placements),
                "freeMb": member.facts.free_mb,
                **(member.elsewhere.describe_link() if member.elsewhere else {}),
            }
            for member in self.placements.members
        ]

    async def close(self) -> None:
        """End what runs here. The hosts go on for their leases."""
        await self._background.stop()

    # --- what a host may say -----------------------------------------------------------------------------------------

    def assigned(self, incarnation: str, session_id: str) -> bool:
        """Return whether a host has a session now. One that gives it up still answers with what opens it again."""
        placed = self.placements.get(session_id)
        return placed is not None and placed.member is not None and placed.member is self._member(incarnation)

    def session_of(self, page_id: str) -> str | None:
        page = self.directory.get(page_id)
        return page.session_id if page is not None else None

    def has_page(self, incarnation: str, client_id: str) -> bool:
        return any(self.assigned(incarnation, page.session_id) for page in self.directory.belonging_to(client_id))

    # --- the end of a host -------------------------------------------------------------------------------------------

    async def _empty(self, member: Member, host: HostElsewhere, began: float) -> None:
        """Move a host's sessions away one by one, each at a moment when no call runs in it; then let the host go."""
        clock = self.placements.clock
        while (placements := self.placements.at(member)) and clock() - began < _CALLS_END_WITHIN_S:
            for placed in placements:
                placed.barred = clock() - began > _CALLS_COME_FOR_S
                if not placed.running:
                    await self.placements.leave(placed)
            await self.placements.wait_for_change()
        for placed in placements:
            await self.placements.leave(placed)
        if not self.placements.at(member):
            async with AtMost(_LETS_GO_WITHIN_S, HostGone):
                await host.let_go()

    async def _part(self, member: Member, lost: list[Placement]) -> None:
        """Follow a lost host no more, and end what is waited for there."""
        await self._following.pop(member)()
        error = UnknownOutcome("Its host is gone, with the dialog that it waited for.").body()
        for placed in lost:
            self.on_lost(placed.session_id)
        calls = [call for placed in lost for call in placed.suspended.items()]
        outcomes = [(client_id, Outcome(call_id=call_id, error=error)) for call_id, client_id in calls]
        await self.placements.tell([CallEnded(client_id=client_id, outcome=outcome) for client_id, outcome in outcomes])
        for placed in lost:
            placed.suspended.clear()
            await self.placements.unplace(placed.session_id)

    def _member(self, incarnation: str) -> Member | None:
        of = (each for each in self.placements.members if each.elsewhere and each.elsewhere.incarnation == incarnation)
        return next(of, None)
