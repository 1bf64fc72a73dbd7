"""Records who did what when a call ends, writes the records in batches, and shows them to those who may see them.

It is longer than 300 lines because a record has one way from the end of its call to who may see it.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import structlog

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Scope
from browse_together.contract.calls import ActivityRecord, Outcome
from browse_together.contract.errors import JournalFailed
from browse_together.contract.frames import ActPictures
from browse_together.contract.model import Json, list_at, object_at, weight
from browse_together.contract.timestamps import iso
from browse_together.contract.wire import DEFAULT_SESSION
from browser_service.observability.visibility import MayKnow, PageDirectory, is_recorded, may_see
from browser_service.rules.bounded import Bounded
from browser_service.security import redaction
from browser_service.security.auth import Identity
from browser_service.store.activity import ActivityTable, Chat, Row, RowFilter, UsedPage
from browser_service.store.thumbnails import ThumbnailTable

_WRITE_AFTER_S = 0.25
_RETRY_AFTER_S = 5.0
_MOST_UNWRITTEN = 10_000
_MOST_READS = 1_000
_MOST_READ = 4_000_000
"""Bytes of the arguments of the reads that are remembered."""
_INBOX_ROWS = 1_000
_BATCH_ROWS = 500
_MOST_REQUESTS = 20
_DAY_S = 86_400
_AFTER_ALL_IDS = 2**62
_FOR_FLOWS = frozenset({"targets", "secretFields", "pageTools", "came", "popups", "files", "answered", "done"})

log = structlog.get_logger(__name__)


@dataclass
class _EndedCall:
    """A call that has ended. Its details are redacted later, when no reply waits for it."""

    summary: Row
    """The row without its details."""
    action: Action
    url_before: str | None
    url_after: str | None
    requests: list[Json]
    exact: bool
    """True for a read, which is never written and so keeps its arguments as they were."""
    again: Json
    """How it is done again: its elements, what appeared by it, and the flow that it was a step of."""

    @cached_property
    def row(self) -> Row:
        moved = self.url_after != self.url_before
        details: Json = {
            "arguments": redaction.own_arguments(self.action) if self.exact else redaction.arguments(self.action),
            "urlBefore": redaction.safe_url(self.url_before) if self.url_before is not None else None,
            "urlAfter": redaction.safe_url(self.url_after) if self.url_after is not None and moved else None,
            "requests": [*redaction.requests(self.requests, _MOST_REQUESTS)],
            **redaction.lasting(self.again),
        }
        return self.summary._replace(detail=json.dumps({name: value for name, value in details.items() if value}))


def _weight_of(ended: _EndedCall) -> int:
    return weight(ended.action.wire_body())


ColourOf = Callable[[str], str | None]


class Watcher:
    """One client's live view of the record. Rows that its inbox has no room for are dropped and counted."""

    def __init__(
        self, row_filter: RowFilter, client_id: str, may_know: MayKnow, colour_of: ColourOf, *, all_rows: bool = False
    ) -> None:
        self._row_filter = row_filter
        self._colour_of = colour_of
        self._may_know = may_know
        self._all_rows = all_rows
        self._client_id = client_id
        self._inbox: asyncio.Queue[Row | None] = asyncio.Queue(_INBOX_ROWS)
        self._dropped = 0

    @property
    def dropped(self) -> int:
        """Return how many records were dropped since the last one was read."""
        return self._dropped

    @property
    def full(self) -> bool:
        """Return whether the next record would be dropped."""
        return self._inbox.full()

    def offer(self, row: Row) -> None:
        visible = self._all_rows or may_see(row, self._client_id, self._may_know)
        if not (visible and self._row_filter.matches(row)):
            return
        if self._dropped or self._inbox.full():  # so that the gap stays in one piece
            self._dropped += 1
        else:
            self._inbox.put_nowait(row)

    async def next(self) -> ActivityRecord | int | None:
        """Wait for the next record, or return how many were dropped before it; None at the end."""
        if self._dropped and self._inbox.empty():
            dropped, self._dropped = self._dropped, 0
            return dropped
        row = await self._inbox.get()
        return activity_record(row, self._client_id, self._colour_of) if row else None

    def end(self) -> None:
        if self._inbox.full():
            self._inbox.get_nowait()
            self._dropped += 1
        self._inbox.put_nowait(None)


class Activity:
    """The record of activity. Calls that are not written yet are in memory, all others in the journal."""

    def __init__(self, table: ActivityTable, thumbnails: ThumbnailTable, directory: PageDirectory) -> None:
        self._table, self._thumbnails = table, thumbnails
        self._directory = directory
        self._may_know = directory.may_know
        self._last_id = 0
        self._unwritten = Bounded[int, _EndedCall](_MOST_UNWRITTEN)
        self._reads = Bounded[int, _EndedCall](_MOST_READS, weigh=_weight_of, most_weight=_MOST_READ)
        self.reads_since = time.time()
        """Since when no read has been forgotten."""
        self._writing: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._watchers: set[Watcher] = set()
        self._ended = False
        self.colour_of: ColourOf = lambda _: None
        self.on_act: Callable[[Identity, Row, Callable[[], Row]], None] = lambda _, __, ___: None

    @property
    def watchers(self) -> frozenset[Watcher]:
        return frozenset(self._watchers)

    async def open(self) -> None:
        self._last_id = await self._table.last_id()

    def note(
        self, identity: Identity, action: Action, outcome: Outcome, call_id: str, seconds: float, *, via: str = ""
    ) -> None:
        """Remember a call's end. It awaits nothing and does little, because a reply is waiting. `via` names the step of
        a flow that the call was."""
        recorded = is_recorded(action, outcome)
        if not recorded and action.scope is not Scope.PAGE:
            return
        self._last_id += 1
        page = outcome.page or self._directory.get(action.addressed.page or "")
        session_id = page.session_id if page else _session(action)
        summary = Row(
            id=self._last_id,
            at=round(time.time(), 3),  # the precision that records show, so that a search by a shown time finds the row
            client_id=identity.client_id,
            label=redaction.one_line(identity.label),
            private_to=self._directory.private_to(page, session_id, identity.client_id),
            page_id=page.page_id if page else action.addressed.page,
            session_id=session_id,
            action=action.name(),
            outcome=outcome.error.code if outcome.error else "ok",
            ms=round(seconds * 1000),
            call_id=call_id,
        )
        url_after = page.url if page and outcome.url_before is not None else None
        ended = _EndedCall(
            summary, action, outcome.url_before, url_after, outcome.requests, not recorded, _again(outcome, via)
        )
        if not recorded:
            self._remember(ended)
            return
        self.on_act(identity, summary, lambda: ended.row)
        self._unwritten[summary.id] = ended
        for watcher in self._watchers:
            watcher.offer(ended.row)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    def _remember(self, read: _EndedCall) -> None:
        first = next(iter(self._reads), read.summary.id)
        self._reads[read.summary.id] = read
        if first not in self._reads:
            self.reads_since = next(iter(self._reads.values())).summary.at

    async def find(
        self, row_filter: RowFilter, client_id: str, limit: int, before: int | None = None, *, all_rows: bool = False
    ) -> tuple[list[ActivityRecord], bool]:
        """Return the newest selected records that the client may see, and whether there are older ones. `all_rows` is
        for the account's own person, who may see everything."""
        visible, more = await self._rows(row_filter, client_id, limit, before, all_rows=all_rows)
        return [activity_record(row, client_id, self.colour_of) for row in visible], more

    async def _rows(
        self, row_filter: RowFilter, client_id: str, limit: int, before: int | None, *, all_rows: bool
    ) -> tuple[list[Row], bool]:
        await self.flush()
        before = before or _AFTER_ALL_IDS

        def select(rows: Iterable[Row]) -> list[Row]:
            seen = [row for row in rows if row_filter.matches(row)]
            return seen if all_rows else [row for row in seen if may_see(row, client_id, self._may_know)]

        unwritten = [ended.row for ended in reversed([*self._unwritten.values()]) if ended.summary.id < before]
        visible = select(unwritten)
        before = unwritten[-1].id if unwritten else before
        while len(visible) <= limit:
            rows = await self._table.before(before, row_filter, _BATCH_ROWS)
            visible += select(rows)
            if len(rows) < _BATCH_ROWS:
                break
            before = rows[-1].id
        return visible[:limit], len(visible) > limit

    async def stretch(
        self, row_filter: RowFilter, client_id: str, limit: int, *, all_rows: bool = False
    ) -> list[ActivityRecord]:
        """Return the newest selected records, oldest first, with what it takes to do them again, and with the reads
        of pages that this process remembers."""
        acts, _ = await self._rows(row_filter, client_id, limit, None, all_rows=all_rows)
        reads = [each.row for each in self._reads.values() if row_filter.matches(each.summary)]
        visible = reads if all_rows else [row for row in reads if row.client_id == client_id]
        return [
            activity_record(row, client_id, self.colour_of, whole=True) for row in sorted([*acts, *visible])[-limit:]
        ]

    async def pictures(
        self, row_ids: Iterable[int], client_id: str, *, all_rows: bool = False
    ) -> dict[int, ActPictures]:
        """Return the pictures of these acts, by record id, as far as the client may see them. `all_rows` is for the
        account's own person, who may see everything."""
        await self.flush()
        rows = await self._table.rows(row_ids)
        return await self._thumbnails.of(row for row in rows if all_rows or may_see(row, client_id, self._may_know))

    @contextlib.contextmanager
    def watch(self, row_filter: RowFilter, client_id: str, *, all_rows: bool = False) -> Iterator[Watcher]:
        watcher = Watcher(row_filter, client_id, self._may_know, self.colour_of, all_rows=all_rows)
        self._watchers.add(watcher)
        if self._ended:
            watcher.end()
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)

    async def since(self, at: float) -> tuple[list[Chat], list[UsedPage]]:
        """Return who acted since a time, and on which pages."""
        await self.flush()
        return await self._table.chats_since(at), await self._table.pages_since(at)

    async def clients(self) -> dict[str, set[str]]:
        """Return the labels of all clients on record, by their ids."""
        await self.flush()
        return await self._table.clients()

    async def rename(self, client_id: str, label: str) -> None:
        """Call a client by another label in all that it did."""
        if await self.flush():
            await self._table.rename(client_id, label)

    async def forget(self, client_ids: Collection[str]) -> int:
        """Remove these clients' records, and return how many there were."""
        async with self._lock:
            unwritten = [row_id for row_id, ended in self._unwritten.items() if ended.summary.client_id in client_ids]
            for row_id in unwritten:
                del self._unwritten[row_id]
            for row_id in [row_id for row_id, ended in self._reads.items() if ended.summary.client_id in client_ids]:
                del self._reads[row_id]
            return len(unwritten) + await self._table.forget(client_ids)

    async def clean(self, days: int) -> None:
        await self._table.forget_before(time.time() - days * _DAY_S)

    def end_streams(self) -> None:
        """End all streams for good, so that the server can shut down."""
        self._ended = True
        self.cut_streams()

    def cut_streams(self) -> None:
        for watcher in self._watchers:
            watcher.end()

    async def close(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)
        await self.flush()

    async def flush(self) -> bool:
        """Write all unwritten calls, and return whether that succeeded."""
        async with self._lock:
            batch = [*self._unwritten.values()]
            if not batch:
                return True
            try:
                await asyncio.shield(self._table.add(ended.row for ended in batch))
            except JournalFailed as error:
                log.warning("the account of what was done cannot be written", reason=str(error))
                return False
            for ended in batch:
                self._unwritten.pop(ended.summary.id, None)
        return True

    async def _write_soon(self) -> None:
        while self._unwritten:
            await asyncio.sleep(_WRITE_AFTER_S)  # records are written in batches
            if not await self.flush():
                await asyncio.sleep(_RETRY_AFTER_S)  # no event tells that a full disk has room again


def activity_record(row: Row, client_id: str, colour_of: ColourOf, *, whole: bool = False) -> ActivityRecord:
    """Turn a row into the record that a client sees: with the label of whoever acted, never the id. With `whole`, also
    with what it takes to do the call again."""
    detail = json.loads(row.detail)
    if not whole:
        detail = {name: value for name, value in detail.items() if name not in _FOR_FLOWS}
    return ActivityRecord.model_validate(
        {
            "id": row.id,
            "time": iso(row.at),
            "client": row.label,
            "colour": colour_of(row.client_id),
            "you": row.client_id == client_id,
            "pageId": row.page_id,
            "sessionId": row.session_id,
            "action": row.action,
            "outcome": row.outcome,
            "durationMs": row.ms,
            "callId": row.call_id,
            **detail,
        }
    )


def _again(outcome: Outcome, via: str) -> Json:
    """Return what it takes to do a call again, for flows."""
    context = object_at(outcome.error.details, "context") if outcome.error else {}
    again: Json = {"targets": cast("Json", outcome.targets), "secretFields": [*outcome.secret_fields]}
    again |= {"pageTools": [*outcome.page_tools]}
    again |= {"came": [*outcome.came], "popups": [*outcome.popups], "files": [*outcome.files]}
    again |= {"done": len(list_at(context, "done")), "stopped": "stoppedBy" in context}
    return {**again, "answered": outcome.answered, "via": via}


def _session(action: Action) -> str | None:
    """Return the session that a call addressed without reaching a page."""
    return action.addressed.session or (DEFAULT_SESSION if action.scope is Scope.SESSION else None)
