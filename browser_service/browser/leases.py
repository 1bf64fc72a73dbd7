"""Leases: who may act on a page. Checked when a call comes in, and again when its turn has come."""

import fnmatch
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from shared.actions.base import Action, Effect, NavigationAction
from shared.calls import Call, Json, PageState
from shared.errors import PageNotFound, PageOwned, StaleRevision

if TYPE_CHECKING:
    from browser_service.browser.entry import PageEntry

Busy = Callable[[str, str], bool]
"""Whether a client has a call queued or running on a page: its lease does not lapse meanwhile."""


@dataclass
class Lease:
    """A client's right to act on a page, renewed by use."""

    client_id: str
    label: str
    seq: int = 0
    """The front's number of the last call that used it."""
    acted_at: float = field(default_factory=time.monotonic)

    def renew(self, seq: int) -> None:
        self.seq = max(seq, self.seq)
        self.acted_at = time.monotonic()

    @property
    def idle_ms(self) -> int:
        return round((time.monotonic() - self.acted_at) * 1000)

    def free_at(self, idle_lease_ms: int) -> str:
        """The time of day when it lapses if its holder does nothing."""
        free = datetime.now().astimezone() + timedelta(milliseconds=idle_lease_ms - self.idle_ms)
        return free.strftime("%H:%M:%S")


def admit(entry: "PageEntry", call: Call, action: Action, idle_lease_ms: int, busy: Busy) -> Lease | None:
    """Let `call` pass or raise; an act takes the lease, or renews it. Returns the lease of whom it was taken from."""
    if entry.closed:
        raise PageNotFound(f"Page {entry.page_id!r} was closed.", hint="Open a page of your own: open_page {}.")
    check_preconditions(action, entry.state)
    if action.effect is Effect.READS:
        return None
    held = entry.lease
    if held is not None and held.client_id == call.client_id:
        held.renew(call.seq)
        return None
    if held is not None and (held.idle_ms < idle_lease_ms or busy(held.client_id, entry.page_id)):
        raise owned(entry, held, action, idle_lease_ms)
    entry.lease = Lease(call.client_id, call.client_label, call.seq)
    return held


def owned(entry: "PageEntry", held: Lease, action: Action, idle_lease_ms: int) -> PageOwned:
    """The refusal, with the calls that lead on. It names the holder's label, never its id."""
    free_at = held.free_at(idle_lease_ms)
    url = entry.state().url
    wanted = (getattr(action, "url", None) if isinstance(action, NavigationAction) else None) or url
    own_copy = "open_page {}" if wanted == "about:blank" else f'open_page {{"url": {json.dumps(wanted)}}}'
    return PageOwned(
        f'"{entry.page_id}" is in use by "{held.label or "another client"}" '
        f"(acted {held.idle_ms // 1000} s ago; free at {free_at} if idle).",
        hint=f"Own copy, same login: {own_copy}. Reading is free: snapshot "
        f'{{"pageId": "{entry.page_id}"}}. Or repeat this call after {free_at}.',
        details={"url": url, "context": {"pageId": entry.page_id, "owner": held.label, "freeAt": free_at}},
    )


def check_preconditions(action: Action, now: Callable[[], PageState]) -> None:
    """`ifRevision` and `expectUrl` refuse before anything happens."""
    revision, url = getattr(action, "if_revision", None), getattr(action, "expect_url", None)
    if revision is None and url is None:
        return
    state = now()
    if revision is not None and revision != state.revision:
        raise StaleRevision(
            f"Page {state.page_id!r} is at revision {state.revision}, not {revision}. Nothing was done.",
            hint="Look again, then act: snapshot {}.",
            details=_field("ifRevision", revision=state.revision),
        )
    if url is not None and not fnmatch.fnmatchcase(state.url, url):
        raise StaleRevision(
            f"Page {state.page_id!r} is at {state.url}, which does not match {url!r}. Nothing was done.",
            hint="Look again, then act: snapshot {}.",
            details=_field("expectUrl", url=state.url),
        )


def _field(name: str, **context: str | int) -> Json:
    return {"context": {"field": name, **context}}
