"""The trace of a session, which shows all of its pages. A page that becomes private to another client drops the
trace."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, Protocol

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from browse_together.contract.actions.tracing import StartTracing
from browse_together.contract.calls import Call
from browse_together.contract.errors import BrowserCrashed, Forbidden, ResourceExhausted, ValidationFailed
from browse_together.contract.events import NoticeGiven
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host.background import bounded
from browser_service.host.errors import has_ended
from browser_service.host.files import Files, dated
from browser_service.host.record.record import PageRecord

_IN_THE_WAY: Final = ("already started", "Target crashed")
_CLEARED_WITHIN_S: Final = 12.0
"""Closing a crashed window takes at most two tries of 5 s."""
_AGAIN_S: Final = 0.1
_MIME_TYPE: Final = "application/zip"
_MOST_BYTES: Final = 200_000_000
GROWN_BYTES: Final = 80_000_000
"""A trace ends once the browser has written so much since it began, also for traces of other sessions, whose files no
name tells apart. Until the end is done, a page may load as much again, and the file is kept all the same."""
_LOOKS_EVERY_S: Final = 0.5


class TracedSession(Protocol):
    """A session as one call sees it."""

    call: Call
    files: Files

    @property
    def session_id(self) -> str: ...

    @property
    def attached(self) -> bool: ...

    @property
    def traces_dir(self) -> Path: ...

    async def context(self) -> BrowserContext: ...


class Trace:
    """A trace that runs, or has ended and has not been fetched."""

    def __init__(self, session: TracedSession, context: BrowserContext) -> None:
        self.client_id = session.call.client_id
        self.label = session.call.client_label or "another client"
        self.context = context
        self._files = session.files
        self._name = dated("trace", session.session_id)
        self._began_at = time.monotonic()
        self._ended_at: float | None = None
        self.notified_pages: set[str] = set()
        self.reason = ""
        self.dropped = ""
        self.ending: asyncio.Task[Json] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.watching: asyncio.Task[None] | None = None

    @property
    def seconds(self) -> float:
        return (self._ended_at or time.monotonic()) - self._began_at

    def end(self, reason: str, *, dropped: str = "") -> "asyncio.Task[Json]":
        """End the trace at the first call, and keep it as a file. A dropped trace is not even read."""
        for each in (self.timer, self.watching):
            if each is not None:
                each.cancel()
        if self.ending is None:
            self.reason, self.dropped, self._ended_at = reason, dropped, time.monotonic()
            self.ending = asyncio.create_task(self._end())
            self.ending.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return self.ending

    async def end_once_grown(self, folder: Path) -> None:
        """End the trace once the browser has written too much in its folder."""
        before = await asyncio.to_thread(_written, folder)
        while await asyncio.to_thread(_written, folder) - before < GROWN_BYTES:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(_LOOKS_EVERY_S)  # between two looks
        self.end(f"its browser had written {GROWN_BYTES // 1_000_000} MB of traces since it began")

    async def _end(self) -> Json:
        if self.dropped:
            await bounded(self.context.tracing.stop())
            return {}
        with tempfile.TemporaryDirectory(prefix="trace-") as folder:
            path = Path(folder) / "trace.zip"
            await self.context.tracing.stop(path=path)
            return await self._files.keep(
                await asyncio.to_thread(_read, path), _MIME_TYPE, "trace", self._name, inline=False
            )


class Tracing:
    """The tracing of one session: at most one trace at a time."""

    def __init__(self) -> None:
        self._trace: Trace | None = None

    @property
    def begun(self) -> bool:
        """True if a trace was begun and has not been fetched."""
        return self._trace is not None

    @property
    def running(self) -> bool:
        return self._trace is not None and self._trace.ending is None

    async def start(self, session: TracedSession, action: StartTracing) -> None:
        """Begin a trace. Raises ValidationFailed while another runs, and Forbidden in an attached browser."""
        if session.attached:
            raise Forbidden(
                "A trace would show people's own tabs: this browser is one that runs without us (BROWSE_CDP_URL).",
                hint=f"{next_call('create_session')} makes a session of your own.",
            )
        context = await session.context()
        running = self._trace
        if running is not None and running.ending is None and running.context is context:
            raise ValidationFailed(
                f'Session "{action.session_id}" is being traced by "{running.label}", for {running.seconds:.0f} s now.',
                hint=f"Who began it ends it: {next_call('stop_tracing')}.",
                details={"sessionId": action.session_id},
            )
        trace = self._trace = Trace(session, context)
        try:
            await self._begin(context, action)
        except BaseException:
            trace.end("it could not begin", dropped="it could not begin")
            self._trace = None
            raise
        if trace.ending is not None:  # it was ended while it began, when there was nothing to stop yet
            await bounded(context.tracing.stop())
        else:
            end = f"its {action.max_seconds} s were over"
            trace.timer = asyncio.get_running_loop().call_later(action.max_seconds, trace.end, end)
            trace.watching = asyncio.create_task(trace.end_once_grown(session.traces_dir))

    async def stop(self, session: TracedSession) -> Json:
        """End the trace, and return its file to the client that began it."""
        trace = self._trace
        if trace is None or trace.client_id != session.call.client_id:
            running_note = f', but "{trace.label}" is' if trace is not None and trace.ending is None else ""
            raise ValidationFailed(
                f"You are not tracing this session{running_note}.",
                hint=f"Begin: {next_call('start_tracing')}.",
                details={"sessionId": session.session_id},
            )
        self._trace = None
        try:
            artifact = await asyncio.shield(trace.end("it was stopped"))
        except PlaywrightError as error:
            if not has_ended(error):
                raise  # such as a full disk
            hint = f"Begin anew: {next_call('start_tracing')}."
            raise BrowserCrashed("The trace was lost with its browser.", hint=hint) from error
        if trace.dropped:
            raise Forbidden(
                f"The trace was dropped, because {trace.dropped}.",
                hint=f"In a session of your own no page is another's: {next_call('create_session')}.",
            )
        line = f"{trace.seconds:.1f} s; it ended because {trace.reason}; npx playwright show-trace FILE shows it"
        return {"observed": line, "artifact": artifact}

    def check_page(self, page: PageRecord) -> list[NoticeGiven]:
        """Check a new page, or one whose readers changed: a private one drops the trace. Returns the notices to
        send."""
        trace, holder = self._trace, page.lease
        if trace is None or trace.ending is not None:
            return []
        if page.of_person or page.hidden_from(trace.client_id):
            named = f'"{page.page_id}"' if page.holder_id == trace.client_id else "a page"
            trace.end("", dropped=f"{named} became private to somebody else")
            return []
        if holder is None or holder.client_id == trace.client_id or page.page_id in trace.notified_pages:
            return []
        trace.notified_pages.add(page.page_id)
        text = (
            f'"{trace.label}" records a trace of this session, {page.page_id} included; a page that you make private '
            "(share_page) ends it."
        )
        return [page.notice(holder.client_id, text)]

    async def _begin(self, context: BrowserContext, action: StartTracing) -> None:
        """Begin a trace once nothing is in its way. Stop a trace whose start was given up and happened all the same,
        and wait until crashed windows are closed."""
        options = {"screenshots": action.screenshots, "snapshots": action.snapshots, "title": action.trace_title}
        gives_up_at = time.monotonic() + _CLEARED_WITHIN_S
        while error := await _failed(context.tracing.start(**options)):  # type: ignore[arg-type] # as the action names
            passes = any(each in str(error) for each in _IN_THE_WAY)
            if not passes or time.monotonic() >= gives_up_at:
                raise error
            await _failed(context.tracing.stop())
            await asyncio.sleep(_AGAIN_S)  # nothing tells that a window is closed


async def _failed(call: Awaitable[object]) -> PlaywrightError | None:
    """Return the error with which a call to Playwright fails; None if it does not."""
    try:
        await call
    except PlaywrightError as error:
        return error
    return None


def _written(folder: Path) -> int:
    """Return how many bytes all files in a folder have."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # it has just gone
            total += path.stat().st_size
    return total


def _read(path: Path) -> bytes:
    if (size := path.stat().st_size) > _MOST_BYTES:
        raise ResourceExhausted(
            f"The trace has {size} bytes, and was dropped.",
            hint='Trace less: "screenshots": false, or a shorter time.',
        )
    return path.read_bytes()
