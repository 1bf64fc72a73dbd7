"""Brings back a closed page: its place, its storage, and its settings."""

import asyncio
import contextlib
from typing import Any, Final, cast

from playwright.async_api import Error as PlaywrightError

from browser_service.host.page.entry import PageEntry
from browser_service.host.page.life import Life
from browser_service.host.page.place import history_of, place_of
from browser_service.host.page.record import DialogPolicy, Place
from browser_service.host.registry import PageRegistry
from browser_service.host.session import SessionEntry
from shared.calls import Call
from shared.model import Json
from shared.pages import PageState

_LOOKS_WITHIN_S: Final = 0.5


async def remember(entry: PageEntry) -> Json:
    """Return what brings the page back. If it does not answer, its record has to do."""
    record, tab = entry.record, entry.tab
    place = record.place
    parked, storage, history = place.parked, place.storage, place.history[:-1]
    if tab is not None and entry.live and not record.dialog and record.life is not Life.SUSPECT:
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(_LOOKS_WITHIN_S):
                history = await history_of(tab)
                parked, storage = await place_of(tab.page)
    state = record.state().model_copy(update={"parked": parked, "dialog": None, "person": None, "asker_id": None})
    return {
        "page": state.model_dump(mode="json"),
        "storage": {**storage},
        "history": [*history],
        **entry.settings.kept(),
        "dialogs": [*record.dialog_policy],
    }


def reopen(registry: PageRegistry, session: SessionEntry, call: Call) -> PageEntry:
    """Make an entry for it, held by the client that undoes its closing. The head of the queue opens it."""
    known = call.undo or {}
    former = PageState.model_validate(known["page"])
    named = former.model_copy(update={"page_id": call.page_id, "session_id": session.session_id})
    entry = restore_entry(registry, session, named, known)
    if entry.lease is None or entry.lease.client_id != call.client_id:
        entry.record.ownership.take(call, former.holder_agent)
        entry.share(former.access)
        entry.settings.own(call.client_id)
    entry.record.ownership.used_by(call)
    return entry


def restore_entry(registry: PageRegistry, session: SessionEntry, state: PageState, known: Json | None) -> PageEntry:
    """Make an entry for a page with its settings, at a revision that it has not had."""
    if known is None:
        return registry.add(state, session)
    parked = PageState.model_validate(known["page"]).parked
    anew = {"parked": parked, "revision": state.revision + 1, "target_id": "", "opener_id": None}
    entry, kept = registry.add(state.model_copy(update=anew), session), cast("dict[str, Any]", known)  # Any: JSON
    record = entry.record
    entry.settings.restore(kept, state.holder_id or "")
    record.dialog_policy = DialogPolicy(*kept["dialogs"])
    history = (*kept["history"], state.url) if kept["history"] else ()
    record.place = Place(parked, kept["storage"], history)
    return entry
