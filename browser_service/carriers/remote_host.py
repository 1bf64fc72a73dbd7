"""A host elsewhere, as the front has it: a SessionHost over one link after another of the same incarnation."""

import asyncio
import time
from collections import deque
from typing import Any, Final

from browse_together.contract import written
from browse_together.contract.background import AtMost
from browse_together.contract.calls import AsOf, Call, ClientRef, Outcome
from browse_together.contract.errors import ErrorBody, HostGone
from browse_together.contract.events import EventBatch, HostEvent
from browse_together.contract.frames import Frame, Pointed, View
from browse_together.contract.model import Json
from browse_together.contract.pages import Answer, Figures, PageState, SessionOptions, SessionSpec
from browse_together.contract.strokes import Strokes
from browser_service.carriers.checks import Checks
from browser_service.carriers.hearsay import Hearsay
from browser_service.carriers.link import Link
from browser_service.carriers.messages import OF_HOST, Hello, Kept, Load
from browser_service.carriers.wire import LinkLost, NotOwner
from browser_service.rules.host_lease import GrantedLease
from browser_service.rules.placement import HostFacts
from browser_service.security.auth import HostToken
from browser_service.waits import wait_until

_MOST_KEYS: Final = 4
_ENDS_WITHIN_S: Final = 2.0


class RemoteHost:
    """One incarnation of a host elsewhere. While its link is cut, calls wait; whatever may be sent twice is sent again
    over the next link. Once it is gone, all of it raises HostGone."""

    def __init__(self, hello: Hello, token: HostToken, lease: GrantedLease, checks: Checks, hearsay: Hearsay) -> None:
        self.hello, self.name, self.token, self.lease = hello, hearsay.name, token, lease
        self.checks, self._hearsay = checks, hearsay
        self.address = ""
        """Where it dials from."""
        self.load: Load | None = None
        """What it last told; None if it has told nothing yet."""
        self.draining = False
        self.keys = deque[str](maxlen=_MOST_KEYS)
        """Those of its latest links, by which it proves that a file is its own."""
        self._heard_at = time.monotonic()
        self.round_trip_s: float | None = None
        """Of its link, as last measured."""
        self._link: Link | None = None
        self._gone = ""
        self._changed = asyncio.Event()
        self._events = deque[HostEvent]()
        self._noted = self._applied = 0
        self._oldest = 1
        """Before this, events were lost."""
        self._news, self._room = asyncio.Event(), asyncio.Event()

    @property
    def incarnation(self) -> str:
        return self.hello.incarnation

    @property
    def host_id(self) -> str:
        return self.hello.host_id

    @property
    def held(self) -> list[str]:
        """Return the sessions that it had when it last said hello."""
        return self.hello.sessions

    @property
    def linked(self) -> bool:
        return self._link is not None

    @property
    def gone(self) -> bool:
        return bool(self._gone)

    def facts(self) -> HostFacts:
        """Return what the front knows of it now."""
        hello = self.hello
        return HostFacts(
            self.name,
            frozenset[str](hello.engines),
            display=hello.display,
            free_mb=hello.memory_mb if self.load is None else self.load.free_mb,
            draining=self.draining,
            other_catalogue=hello.catalogue != written.fingerprint(),
            gone=not self.linked,
        )

    def describe_link(self) -> Json:
        """Describe for people where it dials from, and when it was last heard of."""
        seen_ms = round((time.monotonic() - self._heard_at) * 1000)
        return {"version": self.hello.version, "from": self.address, "seenMs": seen_ms}

    # --- its links -------------------------------------------------------------------------------------------------

    def use(self, link: Link) -> None:
        """Send over this link from now on."""
        self._link = link
        self._changed.set()

    def leave(self, link: Link) -> None:
        """Send over this link no more, because it has ended."""
        if self._link is link:
            self._link = None

    def cut(self, error: Exception) -> None:
        """End the present link, if there is one."""
        if self._link is not None:
            self._link.end(error)

    def end(self, reason: str) -> None:
        """Let everybody know that this incarnation comes back no more."""
        self._gone = self._gone or reason
        self.cut(LinkLost(reason))
        self._changed.set()
        self._news.set()

    async def keep(self, link: Link) -> None:
        """Lengthen the lease once, over a link that need not be the one in use. Raises LinkLost; the caller bounds the
        time."""
        basis_ms, ttl_ms = self.lease.grant()
        body = OF_HOST["grant"].dumped(basis_ms=basis_ms, ttl_ms=ttl_ms)
        asked_at = time.monotonic()
        kept: Kept = await link.call(OF_HOST["grant"], "grant", body)
        self._heard_at = time.monotonic()
        self.round_trip_s = self._heard_at - asked_at
        self.lease.kept(kept.now_ms)
        self.load = kept.load or self.load

    async def let_go(self) -> None:
        """Tell the host to end, because nothing is left there to do."""
        await self._ask("leave")

    async def note(self, batch: EventBatch) -> None:
        """Take events, and return once the front has applied them. Those that came before are left out."""
        first = batch.events[0].seq if batch.events else batch.last_seq + 1
        if first > self._noted + 1:
            self._oldest = first
        told = [(event, await self._hearsay.event(event)) for event in batch.events if event.seq > self._noted]
        for event, as_told in told:
            if event.seq > self._noted:
                if self.checks.allows_event(event):
                    self._events.append(as_told)
                else:
                    self.checks.drop(event.kind)
        self._noted = max(self._noted, batch.last_seq)
        self._news.set()
        await wait_until(lambda: self._applied >= batch.last_seq, self._room)

    async def _ask(self, name: str, *, once: bool = False, **arguments: object) -> Any:  # Any: the method's result
        """Ask the host, over the next link too if this one is lost meanwhile, unless it may happen only `once`."""
        method, sent = OF_HOST[name], False
        body = method.dumped(**arguments)
        while True:
            await wait_until(lambda: self._link is not None or self._gone, self._changed)
            if (link := self._link) is None or self._gone:
                raise HostGone(f"The host {self.name} is gone: {self._gone}.", sent=sent)
            try:
                return await link.call(method, name, body)
            except NotOwner:
                raise HostGone(f"The host {self.name} has lost its lease.", sent=sent) from None
            except LinkLost as lost:
                self.leave(link)
                sent = sent or lost.sent
            if once and sent:
                raise HostGone(f"The link to the host {self.name} was cut.", sent=True)

    def _own(self, pages: list[PageState]) -> list[PageState]:
        return [self._hearsay.page(page) for page in pages if self.checks.allows_page(page)]

    # --- the seam --------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Do nothing: it starts by itself."""

    async def stop(self) -> list[SessionSpec]:
        """Leave the host as it is, with its sessions: the front may come back within the lease."""
        return []

    async def end_calls(self) -> None:
        async with AtMost(_ENDS_WITHIN_S):
            await asyncio.gather(*map(self.cancel, self.checks.running), return_exceptions=True)

    async def run(self, call: Call) -> Outcome:
        with self.checks.during(call):
            outcome: Outcome = await self._ask("run", call=call)
            if not self.checks.allows_outcome(call, outcome):
                self.checks.drop("outcome")
                raise HostGone(f"The host {self.name} answered for a page that is not its own.", sent=True)
            outcome = await self._hearsay.outcome(outcome, call.client_id)
        if outcome.as_of is not None:
            outcome.as_of = AsOf(incarnation=self.incarnation, seq=outcome.as_of.seq)
        return outcome

    async def problem(self, options: SessionOptions) -> ErrorBody | None:
        found: ErrorBody | None = await self._ask("problem", options=options)
        return found

    async def open(self, spec: SessionSpec) -> None:
        await self._ask("open", spec=spec)

    async def close(self, session_id: str) -> SessionSpec | None:
        spec: SessionSpec | None = await self._ask("close", session_id=session_id)
        if spec is not None and not self.checks.allows_spec(session_id, spec):
            self.checks.drop("spec")
            raise HostGone(f"The host {self.name} closed a session that is not its own.", sent=True)
        if spec is not None:
            spec.pages = self._own(spec.pages)
        return spec

    async def settle(self, session_id: str) -> None:
        await self._ask("settle", session_id=session_id)

    async def cancel(self, call_id: str) -> None:
        await self._ask("cancel", call_id=call_id)

    async def release(self, client_id: str, before_seq: int, *, for_good: bool = False) -> None:
        await self._ask("release", client_id=client_id, before_seq=before_seq, for_good=for_good)

    async def rename(self, client: ClientRef, former: str) -> None:
        await self._ask("rename", client=client, former=former)

    async def forget(self, client_ids: list[str], labels: list[str]) -> None:
        await self._ask("forget", client_ids=client_ids, labels=labels)

    async def answer(self, request_id: str, answer: Answer) -> bool:
        is_open: bool = await self._ask("answer", once=True, request_id=request_id, answer=answer)
        return is_open

    async def discard(self, page_id: str, idle_ms: int) -> None:
        await self._ask("discard", page_id=page_id, idle_ms=idle_ms)

    async def describe(self) -> list[PageState]:
        return self._own(await self._ask("describe"))

    async def frame_after(self, page_id: str, seq: int, wait_ms: int, view: View) -> Frame | None:
        frame: Frame | None = await self._ask("frame_after", page_id=page_id, seq=seq, wait_ms=wait_ms, view=view)
        return frame if frame is None or frame.page_id == page_id else None

    async def refusal_to_read(self, call: Call) -> ErrorBody | None:
        found: ErrorBody | None = await self._ask("refusal_to_read", call=call)
        return found

    async def hand(self, page_id: str, strokes: Strokes) -> ErrorBody | None:
        with self.checks.during_hand(strokes):
            found: ErrorBody | None = await self._ask("hand", page_id=page_id, strokes=strokes)
        return found

    async def point(self, page_id: str, x: float, y: float, *, picks: bool) -> Pointed:
        found: Pointed = await self._ask("point", page_id=page_id, x=x, y=y, picks=picks)
        return found

    async def figures(self) -> Figures:
        """Return what the host last told, so that a frozen one delays nobody."""
        return Figures() if self.load is None else self.load.figures

    async def events_after(self, seq: int, wait_ms: int, limit: int) -> EventBatch:
        """Return the events that the host has pushed; whoever asks has applied those up to `seq`."""
        self._applied = max(self._applied, seq)
        self._room.set()
        while self._events and self._events[0].seq <= seq:
            self._events.popleft()
        if wait_ms:
            await wait_until(lambda: self._noted > seq or self._gone, self._news, wait_ms / 1000)
        if self._gone and not self._events:
            raise HostGone(f"The host {self.name} is gone: {self._gone}.", sent=False)
        found = [event for _, event in zip(range(limit), self._events, strict=False)]
        is_all = len(found) == len(self._events)
        return EventBatch(
            incarnation=self.incarnation,
            events=found,
            last_seq=max(self._noted, seq) if is_all else found[-1].seq,
            oldest_seq=self._oldest,
        )
