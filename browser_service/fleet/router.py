"""Several hosts as one: each call goes to the host that has its session.

Only a front that takes in hosts has this between itself and its own host.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from browse_together.contract.actions.traits import Effect
from browse_together.contract.calls import ASKING, Call, CallState, ClientRef, Outcome
from browse_together.contract.errors import (
    BrowseError,
    Cancelled,
    ErrorBody,
    HostGone,
    ServiceUnavailable,
    UnknownOutcome,
)
from browse_together.contract.events import CallMoved, EventBatch, PageChanged
from browse_together.contract.frames import Frame, Pointed, View
from browse_together.contract.model import Json
from browse_together.contract.pages import Answer, Figures, PageState, SessionOptions, SessionSpec
from browse_together.contract.strokes import Strokes
from browser_service.fleet.members import Member, Placement
from browser_service.fleet.placements import Placements
from browser_service.host.seam import CallKey, SessionHost, action_of
from browser_service.rules.bounded import Bounded
from browser_service.sessions.directory import Directory
from browser_service.waits import Cancel

_ANSWERS_WITHIN_S: Final = 5.0
_HAND_WITHIN_S: Final = 45.0
"""A hand may have files to bring, or a page to open anew."""
_MOST_CALLS: Final = 4_000
_IDLE_S: Final = 60.0
_LOOKS_EVERY_S: Final = 15.0
_AT_REST: Final = 1
"""The number of the frame of a page that is on no host; no host gives it."""
_RESTS_S: Final = 0.25

T = TypeVar("T")


@dataclass(eq=False)
class HostRouter:
    """A SessionHost made of hosts."""

    placements: Placements
    directory: Directory
    send: Callable[[CallMoved], None]
    """Sends progress to a client."""
    on_over: Callable[[str], Awaitable[None]] = field(init=False)
    """Ends a session that no host has any more, and that is not persistent."""
    waits_s: float = 15.0
    """How long a call waits for a host if its caller gave it no time: until the lease of a lost one has ended."""
    adopts_within_s: float = 0.0
    """For so long after its start, the front waits for hosts that had sessions before."""

    def __post_init__(self) -> None:
        self._calls = Bounded[str, str](_MOST_CALLS)
        """The session of each call, by callId."""
        self._cancelled = Bounded[str, None](_MOST_CALLS)
        """Calls that were cancelled before they came."""
        self._waiting: dict[str, Cancel] = {}
        self._upkeep: asyncio.Task[None] | None = None

    # --- all hosts ---------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        await self._local.start()
        self._upkeep = asyncio.create_task(self._keep_up())

    async def stop(self) -> list[SessionSpec]:
        """Stop the host of this process. The others go on for their leases, and are adopted by the next front."""
        if self._upkeep is not None:
            self._upkeep.cancel()
            await asyncio.gather(self._upkeep, return_exceptions=True)
        return await self._local.stop()

    async def end_calls(self) -> None:
        for cancel in self._waiting.values():
            cancel.request(ending=True)
        await self._each(lambda host: host.end_calls())

    async def figures(self) -> Figures:
        """Return the figures of all hosts, added up."""
        found = await self._each(lambda host: host.figures())
        names = Figures.model_fields
        return Figures(**{name: sum(getattr(each, name) for each in found) for name in names})

    async def describe(self) -> list[PageState]:
        """Return the pages of all sessions as they were last reported, aged since. Asks no host."""
        return self.directory.pages_now()

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        """Refuse, because each host's events are followed by themselves."""
        raise NotImplementedError

    # --- sessions ----------------------------------------------------------------------------------------------------

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        try:
            member = await self.placements.choose(self.placements.needs(options))
            return await self._within(member.host.problem(options))
        except HostGone:
            return None  # another host may have it then
        except BrowseError as error:
            return error.body()

    async def open(self, spec: SessionSpec) -> None:
        await self.placements.open(spec)

    async def close(self, session_id: str) -> SessionSpec | None:
        placed = self.placements.get(session_id)
        return None if placed is None else await self.placements.close(placed)

    async def settle(self, session_id: str) -> None:
        if (placed := self.placements.get(session_id)) is not None and placed.closed:
            await self.placements.forget(placed)
            if placed.member is not None:
                await self._within(placed.member.host.settle(session_id))

    # --- calls -------------------------------------------------------------------------------------------------------

    async def run(self, call: Call) -> Outcome:
        """Perform a call on the host that has its session. If that is lost meanwhile, a call that only reads runs once
        more on the next. Raises UnknownOutcome for one that may have acted."""
        placed, action = self.placements.find(call.session_id, call.page_id), action_of(call)
        self._calls[call.call_id] = placed.session_id
        if self._cancelled.pop(call.call_id, 0) is None:
            raise Cancelled("The call was cancelled before it began; it did not happen.")
        allowed_s = action.allowed_ms() / 1000
        waits_s = allowed_s if "timeout" in action.model_fields_set else max(allowed_s, self.waits_s)
        until = self.placements.clock() + waits_s
        while True:
            member = await self._host_for(placed, call, until)
            with placed.in_use(call.page_id):
                try:
                    outcome = await member.host.run(call)
                    if placed.member is member and not placed.leaving:
                        await self._note(placed, call, outcome)
                        return outcome
                    gone = HostGone(f"The host {member.name} has lost session {placed.session_id!r}.")
                except HostGone as error:
                    gone = error
            if gone.sent and action.effect is not Effect.READS and not action.asks_person:
                raise UnknownOutcome(f"{gone.message} The call was running there.") from gone
            if placed.member is member:
                await self.placements.wait_for_change(_RESTS_S)

    async def _note(self, placed: Placement, call: Call, outcome: Outcome) -> None:
        """Note what an outcome tells, because its host may be lost before it tells the same in events."""
        if outcome.suspended:
            placed.suspended[call.call_id] = call.client_id
        if (page := outcome.page) is not None:
            known = self.directory.get(page.page_id)
            if call.opens if known is None else page.revision > known.revision:
                await self.placements.tell([PageChanged(page=page)])

    async def _host_for(self, placed: Placement, call: Call, until: float) -> Member:
        """Return the host where a call runs, once it has the session. The call waits for that as long as it may run
        itself. Raises why there is none."""
        refused = list[BrowseError]()
        cancel = self._waiting[call.call_id] = Cancel()
        try:
            async with cancel.within(max(0.0, until - self.placements.clock())):
                return await self.placements.settled(placed, lambda: self._tell_waiting(call), refused)
        except TimeoutError:
            if cancel.ending:
                raise _ending_error() from None
            if cancel.requested:
                raise Cancelled("The call was cancelled while it waited for a host; it did not happen.") from None
            raise (refused or [_nobody_came(placed)])[0] from None
        finally:
            self._waiting.pop(call.call_id, None)

    def _tell_waiting(self, call: Call) -> None:
        call_id = CallKey.parse(call.call_id).call_id.partition(ASKING)[0]
        self.send(CallMoved(call_id=call_id, client_id=call.client_id, state=CallState.QUEUED, waits_for="a host"))

    async def cancel(self, call_id: str) -> None:
        if call_id in self._waiting:
            self._waiting[call_id].request()
        elif call_id not in self._calls:
            self._cancelled[call_id] = None
        elif (member := self._member_of(self.placements.get(self._calls[call_id]))) is not None:
            with contextlib.suppress(HostGone):  # with which the call ends
                await self._within(member.host.cancel(call_id))

    async def refusal_to_read(self, call: Call) -> ErrorBody | None:
        member = self._member_of(self.placements.of_page(call.page_id))
        return None if member is None else await self._within(member.host.refusal_to_read(call))

    # --- pages -------------------------------------------------------------------------------------------------------

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        """Release a client's leases where it has pages; on no host, once a host has them."""
        members = set[Member]()
        for page in self.directory.belonging_to(client_id):
            placed = self.placements.get(page.session_id)
            if placed is not None and placed.member is not None:
                members.add(placed.member)
            elif placed is not None:
                placed.released[client_id] = before_seq, for_good
        await self._each(lambda host: host.release(client_id, before_seq, for_good=for_good), members)

    async def rename(self, client: ClientRef, former: str) -> None:
        await self._each(lambda host: host.rename(client, former))

    async def forget(self, client_ids: list[str], labels: list[str]) -> None:
        await self._each(lambda host: host.forget(client_ids, labels))

    async def answer(self, request_id: str, answer: Answer) -> bool:
        pages = (page for page in self.directory.pages() if page.person and page.person.request_id == request_id)
        member = self._member_of(self.placements.of_page(next((page.page_id for page in pages), None)))
        return member is not None and await self._within(member.host.answer(request_id, answer))

    async def discard(self, page_id: str, idle_ms: int) -> None:
        if (member := self._member_of(self.placements.of_page(page_id))) is not None:
            await self._within(member.host.discard(page_id, idle_ms))

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        placed = self.placements.of_page(page_id)
        if placed is not None and placed.member is None:
            if seq == _AT_REST:
                await self.placements.wait_for_change(wait_ms / 1000)
            return Frame(page_id=page_id, seq=_AT_REST, state="resting")
        if (member := self._member_of(placed)) is None:
            return None
        return await self._within(member.host.frame_after(page_id, seq, wait_ms, view), wait_ms / 1000)

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        placed = self.placements.of_page(page_id)
        if placed is None or (member := placed.member) is None:
            return _homeless(page_id).body()
        with placed.in_use(page_id):
            return await self._within(member.host.hand(page_id, strokes), _HAND_WITHIN_S)

    async def point(self, page_id: str, x: float, y: float, *, picks: bool) -> Pointed:
        if (member := self._member_of(self.placements.of_page(page_id))) is None:
            return Pointed(problem=_homeless(page_id).body())
        return await self._within(member.host.point(page_id, x, y, picks=picks))

    def host_of(self, session_id: str) -> str:
        """Return the name of the host that has a session; empty if none has it now."""
        member = self._member_of(self.placements.get(session_id))
        return member.name if member is not None else ""

    # --- upkeep ------------------------------------------------------------------------------------------------------

    async def _keep_up(self) -> None:
        if self.adopts_within_s:
            await asyncio.sleep(self.adopts_within_s)  # leases of the front before end by the clock alone
            for session_id in self.placements.await_no_longer():
                await self.on_over(session_id)
        while True:
            await asyncio.sleep(_LOOKS_EVERY_S)  # sessions become idle by the clock alone
            await self.part_idle()

    async def part_idle(self) -> None:
        """Take sessions that nobody uses, and of whose pages none has a window, from their hosts, so that these become
        empty by themselves."""
        unused_since = self.placements.clock() - _IDLE_S
        idle = {each.session_id: each for each in self.placements if each.unused(unused_since)}
        for page in self.directory.pages():
            if page.parked is None and (placed := idle.get(page.session_id)) and page.page_id not in placed.asleep:
                del idle[page.session_id]
        for each in idle.values():
            if each.unused(unused_since):  # also after the others have left
                await self.placements.leave(each)

    @property
    def _local(self) -> SessionHost:
        return self.placements.members[0].host

    @staticmethod
    def _member_of(placed: Placement | None) -> Member | None:
        return placed.member if placed is not None else None

    async def _each(self, ask: Callable[[SessionHost], Awaitable[T]], members: set[Member] | None = None) -> list[T]:
        """Ask hosts at once, and return the answers of those that give one in time."""
        hosts = [member.host for member in self.placements.members if members is None or member in members]
        answers = await asyncio.gather(*(self._within(ask(host)) for host in hosts), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, HostGone):
                raise answer
        return [answer for answer in answers if not isinstance(answer, BaseException)]

    @staticmethod
    async def _within(answer: Awaitable[T], besides_s: float = 0.0) -> T:
        """Return a host's answer. Raises HostGone if none comes in time."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S + besides_s):
                return await answer
        except TimeoutError as error:
            raise HostGone from error


def _ending_error() -> ServiceUnavailable:
    """Make the error for a call that waited when the service ended. A gateway sends it again once that is back."""
    hint = "Repeat it in a moment: pages and logins come back with the service."
    details: Json = {"context": {"ending": True}}
    return ServiceUnavailable("The service is ending; the call did not happen.", hint=hint, details=details)


def _nobody_came(placed: Placement) -> ServiceUnavailable:
    return ServiceUnavailable(
        f"Session {placed.session_id!r} got no host within the time of the call. Nothing happened.",
        hint="Repeat the call in a moment; `browse-together hosts` shows the hosts.",
    )


def _homeless(page_id: str) -> ServiceUnavailable:
    return ServiceUnavailable(f"Page {page_id!r} is on no host now.", hint="Reload it first.")
