"""Keeps a blank window of the shared login ready for the next page: to make one takes longer than most documents."""

import contextlib
from collections.abc import Iterator

from browser_service.host.sessions.session import SessionEntry
from shared.actions.base import Action
from shared.actions.traits import Effect


class SpareWindows:
    """Says which sessions have one: those whose windows nobody sees, and that all share, as long as pages are opened
    there."""

    def __init__(self, lasts_s: float) -> None:
        """Have one while so many seconds have not passed since the last windows but one; 0 is never."""
        self._lasts_s = lasts_s

    def prepare(self, session: SessionEntry) -> None:
        """Have one made if pages are being opened. A trace would show it."""
        windows = session.windows
        if windows is None or windows.cdp is None or not windows.spare.is_lacking(self._lasts_s):
            return
        seen = session.attached or not session.headless or session.tracing.running
        if session.profile and session.live and not seen:
            windows.spare.make()

    @contextlib.contextmanager
    def kept_from(self, session: SessionEntry, action: Action) -> Iterator[None]:
        """Have none while a session is changed: a trace would show it, and what is set for all documents would not be
        for its blank one."""
        spare = session.windows.spare if session.windows and action.effect is not Effect.READS else None
        if spare is None:
            yield
            return
        spare.drop()
        try:
            yield
        finally:
            spare.drop()

    def drop_unused(self, session: SessionEntry, *, short: bool) -> None:
        """Close one that nobody has taken, sooner if memory is `short`."""
        if session.windows is not None and (short or not session.windows.spare.is_wanted(self._lasts_s)):
            session.windows.spare.drop()
