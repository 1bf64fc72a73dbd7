"""Follows the events of hosts: one feed for each host, so that none waits for another."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from browse_together.contract.calls import AsOf
from browse_together.contract.errors import HostGone
from browse_together.contract.events import (
    HostEvent,
    LoginOver,
    PageChanged,
    PageClosed,
    PageOpened,
    PageRetired,
    SessionTold,
    StateSaved,
)
from browser_service.host.seam import SessionHost
from browser_service.spine.host_events import HostEvents
from browser_service.waits import wait_until

_POLL_MS: Final = 20_000
_BATCH: Final = 500
_ANSWERS_WITHIN_S: Final = 10.0
_ARRIVES_WITHIN_S: Final = 10.0
"""For this long, a reply waits for the events that came before it."""
_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 2.0

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class Feed:
    """The reader of one host's events, which applies each once and in order, however often it is delivered."""

    host: SessionHost
    events: HostEvents
    has: Callable[[str], bool] | None
    """Returns whether a session is on this host now. Events of others are dropped. None if all sessions are there."""
    on_applied: Callable[[AsOf], None]
    lived_before: bool = False
    """True if the host had sessions of an earlier run of the service, whose pages are as it says."""

    def __post_init__(self) -> None:
        self.incarnation = ""
        self._seq = 0
        self._missed = self.lived_before
        """True if events were missed, and the host has not described its pages since."""
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Follow the host until cancelled. After an error, ask again, ever less often."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                if self._missed:
                    await self._catch_up()
                await self._read(_POLL_MS)
                pause_s = _FIRST_PAUSE_S
            except Exception as error:  # noqa: BLE001 - whatever a host does, its events are read again
                log.warning("a host's events cannot be read", reason=repr(error), again_in_s=pause_s)
                await asyncio.sleep(pause_s)  # it may be back then
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def drain(self) -> None:
        """Apply all events that have come from the host, and write what must be on disk."""
        while await self._read(0):
            pass

    async def _read(self, wait_ms: int) -> bool:
        """Apply the next events, and return whether there may be more."""
        after = self._seq
        async with asyncio.timeout(wait_ms / 1000 + _ANSWERS_WITHIN_S):
            batch = await self.host.events_after(after, wait_ms, _BATCH)
        async with self._lock:
            if batch.incarnation != self.incarnation:  # a restarted host counts from one again
                self._missed |= bool(self.incarnation)
                self.incarnation, self._seq = batch.incarnation, 0
                if after:
                    return True
            self._missed |= self._seq + 1 < batch.oldest_seq
            for event in batch.events:
                if event.seq > self._seq:
                    self._seq = event.seq
                    if self.has is None or _is_of(event, self.has):
                        self.events.apply(self.events.secrets.concealment.message(event))
            self._seq = max(self._seq, batch.last_seq)
            if self._missed:
                await self._resync()
            await self.events.write_down()
            self.on_applied(AsOf(incarnation=self.incarnation, seq=self._seq))
        return len(batch.events) == _BATCH

    async def _catch_up(self) -> None:
        async with self._lock:
            await self._resync()
            await self.events.write_down()

    async def _resync(self) -> None:
        """Take the host's pages as they are now."""
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            pages = await self.host.describe()
        self.events.note_all(pages, self.has or (lambda _: True))
        self._missed = False


def _is_of(event: HostEvent, has: Callable[[str], bool]) -> bool:
    """Return whether an event is of no session, or of one that a host has."""
    match event:
        case PageOpened() | PageChanged() | PageRetired():
            return has(event.page.session_id)
        case PageClosed() | StateSaved() | SessionTold() | LoginOver():
            return has(event.session_id)
    return True


class Feeds:
    """The feeds of all hosts that are followed now."""

    def __init__(self, events: HostEvents) -> None:
        self.events = events
        self._feeds: dict[Feed, asyncio.Task[None]] = {}
        self._applied: dict[str, int] = {}
        """The number of the last applied event, by incarnation."""
        self._moved = asyncio.Event()

    def follow(
        self, host: SessionHost, has: Callable[[str], bool] | None = None, *, lived_before: bool = False
    ) -> Feed:
        """Follow a host. `has` returns whether a session is there now; without it, all are."""
        feed = Feed(host, self.events, has, self._note, lived_before)
        self._feeds[feed] = asyncio.create_task(feed.run())
        return feed

    async def leave(self, feed: Feed) -> None:
        """Follow a host no more."""
        task = self._feeds.pop(feed)
        self._applied.pop(feed.incarnation, None)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def stop(self) -> None:
        for feed in [*self._feeds]:
            await self.leave(feed)

    async def catch_up(self, as_of: AsOf) -> None:
        """Wait until all events up to that moment of a host are applied, and what must be on disk is written. They are
        on their way, so the host is asked nothing."""
        is_there = lambda: self._applied.get(as_of.incarnation, 0) >= as_of.seq  # noqa: E731 - one expression
        await wait_until(is_there, self._moved, _ARRIVES_WITHIN_S)

    async def drain(self) -> None:
        """Apply all events that have come from the hosts, and write what must be on disk. Raises nothing."""
        await asyncio.gather(*(self._drain(feed) for feed in [*self._feeds]))

    async def session_closed(self, session_id: str) -> None:
        """Apply all events of a closed session, and drop its unwritten logins."""
        await self.drain()
        self.events.session_closed(session_id)

    async def _drain(self, feed: Feed) -> None:
        try:
            await feed.drain()
        except (HostGone, TimeoutError) as error:
            log.warning("a host's last events did not come", reason=str(error))

    def _note(self, as_of: AsOf) -> None:
        self._applied[as_of.incarnation] = as_of.seq
        self._moved.set()
