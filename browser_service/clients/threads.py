"""What people and agents wrote to each other: a short thread for each client, in memory and on disk."""

import contextlib
import time
from collections.abc import Callable, Iterable
from typing import Final

import structlog
from pydantic import Field, ValidationError

from browse_together.contract.calls import Notice
from browse_together.contract.errors import JournalFailed
from browse_together.contract.model import Model
from browser_service.rules.bounded import Bounded
from browser_service.rules.quotas import rate_limited
from browser_service.rules.window import Clock, MovingWindow
from browser_service.security.seal import Seal
from browser_service.store.tables import MOST_THREADS, ThreadTable

_LINES: Final = 20
_MOST_WORDS: Final = 5
_A_MINUTE: Final = 10
_DAY_S: Final = 86_400

log = structlog.get_logger(__name__)


class Line(Model):
    """A line of a thread: who wrote it, at which Unix time, and the element that it is about."""

    by: str
    text: str
    of_person: bool
    about: str = ""
    at: float = Field(default_factory=time.time)


class _Words(Model):
    """What a person told a client, and the id of the call whose reply has it; empty if none has yet."""

    notice: Notice
    given_to: str = ""


class _Thread(Model):
    lines: tuple[Line, ...] = ()
    words: tuple[_Words, ...] = ()


class Threads:
    """The latest lines by client, and the latest words of people that stand ahead of its notices."""

    def __init__(self, table: ThreadTable, seal: Seal, clock: Clock = time.monotonic) -> None:
        self._table, self._seal, self._clock = table, seal, clock
        self._threads = Bounded[str, _Thread](MOST_THREADS)
        self._written = Bounded[str, MovingWindow](MOST_THREADS)
        self.on_change: Callable[[], None] = lambda: None

    async def open(self) -> None:
        for client_id, sealed in await self._table.all():
            with contextlib.suppress(ValidationError):  # another key sealed it
                self._threads[client_id] = _Thread.model_validate(self._seal.open(sealed))

    def of(self, client_id: str) -> list[Line]:
        """Return a client's lines, the oldest first."""
        return [*self._threads.get(client_id, _Thread()).lines]

    def unread(self, client_id: str) -> int:
        """Return how many of a person's words a client has not got yet."""
        return sum(not each.given_to for each in self._threads.get(client_id, _Thread()).words)

    async def answer(self, client_id: str, line: Line) -> None:
        """Add a client's own line. Raises RateLimited if it writes too many."""
        written = self._written.setdefault(client_id, MovingWindow(_A_MINUTE, self._clock))
        if free_in := written.free_in():
            raise rate_limited(
                f"You wrote your person {_A_MINUTE} lines within a minute, which is the limit.",
                free_in,
                "Say it in one line then, or at the end of your turn.",
                {"limit": "linesPerMinute", "value": _A_MINUTE},
            )
        written.add()
        self._add(client_id, [line], [])
        await self.write_down([client_id])

    def tell(self, client_id: str, notice: Notice, *lines: Line) -> None:
        """Give a client a person's words. They are on disk once they are written down."""
        self._add(client_id, lines, [_Words(notice=notice)])

    async def take(self, client_id: str, call_id: str) -> list[Notice]:
        """Return what a person told a client, for a call's reply. No other reply has it, but the same call's may have
        it again, because the first may have been lost."""
        if (thread := self._threads.get(client_id)) is None:
            return []
        words = thread.words
        if unread := [each for each in words if not each.given_to]:
            for each in unread:
                each.given_to = call_id
            self.on_change()
            await self.write_down([client_id])
        return [each.notice for each in words if each.given_to == call_id]

    def forget(self, client_id: str) -> int:
        """Forget a client's thread, and return how many of a person's words it has not got."""
        unread = self.unread(client_id)
        self._threads.pop(client_id, None)
        return unread

    async def clean(self, days: int) -> None:
        """Forget lines that are older than this, as the rows are."""
        since = time.time() - days * _DAY_S
        for client_id, thread in [*self._threads.items()]:
            lines = tuple(each for each in thread.lines if each.at >= since)
            if lines != thread.lines:
                self._threads[client_id] = thread.model_copy(update={"lines": lines})
                await self.write_down([client_id])

    async def write_down(self, client_ids: Iterable[str] | None = None) -> None:
        """Write threads, or all. What the disk does not take holds in memory."""
        threads = {key: self._threads.get(key) for key in (self._threads if client_ids is None else client_ids)}
        rows = [(key, time.time(), self._seal.close(each.model_dump())) for key, each in threads.items() if each]
        try:
            await self._table.keep(rows)
        except JournalFailed as error:
            log.warning("what people and agents wrote cannot be written", reason=str(error))

    def _add(self, client_id: str, lines: Iterable[Line], words: Iterable[_Words]) -> None:
        thread = self._threads.get(client_id, _Thread())
        self._threads[client_id] = _Thread(
            lines=(*thread.lines, *lines)[-_LINES:], words=(*thread.words, *words)[-_MOST_WORDS:]
        )
        self.on_change()
