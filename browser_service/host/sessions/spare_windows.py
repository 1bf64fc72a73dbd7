"""A blank window of the shared login, ready for the next page: opening one takes longer than most documents."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from browse_together.contract.actions.base import Action
from browse_together.contract.actions.traits import Effect
from browser_service.host.sessions.session import SessionEntry

_CLOSES_WITHIN_S: Final = 2.0


class SpareWindows:
    """The choice of sessions that have a spare window: those with the shared login and unseen windows, while pages are
    opened there."""

    def __init__(self, lasts_s: float) -> None:
        """`lasts_s` is the time since the last window but one within which a session has a spare one; 0 means never."""
        self._lasts_s = lasts_s

    def prepare(self, session: SessionEntry) -> None:
        """Begin to open a spare window if pages are being opened, unless people or a trace would see it."""
        windows = session.windows
        if windows is None or windows.cdp is None or not windows.spare.is_lacking(self._lasts_s):
            return
        seen = session.attached or not session.headless or session.tracing.running
        if session.profile and session.live and not seen:
            windows.spare.make()

    @contextlib.asynccontextmanager
    async def kept_from(self, session: SessionEntry, action: Action) -> AsyncIterator[None]:
        """Keep no spare window while an action changes the session: a trace would show it, or fail if it closes
        meanwhile, and settings for all documents would miss its blank one."""
        spare = session.windows.spare if session.windows and action.effect is not Effect.READS else None
        if spare is None:
            yield
            return
        if closing := spare.drop():
            await asyncio.wait({closing}, timeout=_CLOSES_WITHIN_S)
        try:
            yield
        finally:
            spare.drop()

    def drop_unused(self, session: SessionEntry, *, short: bool) -> None:
        """Close a spare window that nobody has taken, sooner if memory is `short`."""
        if session.windows is not None and (short or not session.windows.spare.is_wanted(self._lasts_s)):
            session.windows.spare.drop()
