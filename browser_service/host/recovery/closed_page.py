"""A page that was closed, as it can be had again: where it was, what it kept there, and what was set for it.

Its history is walked without asking the site: each entry is an empty document until one goes back to it.
"""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.host.network.routes import Rule
from browser_service.host.page.entry import DialogPolicy, PageEntry
from browser_service.host.page.parking import History, place_of
from browser_service.host.page.recovery import BLANK
from browser_service.host.registry import PageRegistry
from shared.calls import Call
from shared.model import Json
from shared.pages import PageState

if TYPE_CHECKING:
    from browser_service.host.session import SessionEntry

_LOOKS_WITHIN_S: Final = 0.5
_WALKS_WITHIN_S: Final = 5.0
_MOST_ENTRIES: Final = 10


@dataclass(frozen=True)
class Walk:
    """Gives a new window the history of the former one, and leaves it where that was."""

    urls: list[str]

    async def __call__(self, page: Page) -> None:
        with contextlib.suppress(TimeoutError, PlaywrightError):  # the page itself comes back all the same
            async with asyncio.timeout(_WALKS_WITHIN_S):
                cdp = await page.context.new_cdp_session(page)
                await cdp.send("Network.enable")
                await cdp.send("Network.setBypassServiceWorker", {"bypass": True})  # which would answer in our place
                await page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
                for url in self.urls:
                    await page.goto(url, wait_until="commit")
                await cdp.detach()
        with contextlib.suppress(PlaywrightError):
            if page.url != self.urls[-1]:  # it got no further, and must not be taken for being there
                await page.goto(BLANK, wait_until="commit")
            await page.unroute("**/*")


async def remember(entry: PageEntry) -> Json:
    """What brings the page back. One that does not answer is known by what its entry has of it."""
    use, page = entry.use, entry.page
    history = use.former.urls[:-1] if isinstance(use.former, Walk) else []
    parked, storage = use.parked, use.storage
    if page is not None and entry.live and not entry.dialog and not entry.suspect:
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(_LOOKS_WITHIN_S):
                history = await _history(entry)
                parked, storage = await place_of(page)
    state = entry.state().model_copy(update={"parked": parked, "dialog": None, "person": None, "asker_id": None})
    return {
        "page": state.model_dump(mode="json"),
        "storage": {**storage},
        "history": [*history],
        "rules": [rule.kept() for rule in entry.network.rules],
        "headers": {**entry.network.headers},
        "initScripts": {**entry.init_scripts.texts},
        "emulation": {**entry.emulation.settings},
        "dialogs": [*entry.dialog_policy],
    }


async def _history(entry: PageEntry) -> list[str]:
    """Where it was before, the last entry the latest."""
    if entry.cdp is None:
        return []
    found = await entry.cdp.send("Page.getNavigationHistory")
    before = [str(each["url"]) for each in found["entries"][: found["currentIndex"]]]
    return [url for url in before if url.startswith(("http:", "https:"))][-_MOST_ENTRIES:]


async def history_of(entry: PageEntry) -> History | None:
    """What gives the window that follows the history of this one; none where it has none."""
    before = await _history(entry)
    return Walk([*before, entry.url]) if before else None


def reopen(registry: PageRegistry, session: "SessionEntry", call: Call) -> PageEntry:
    """An entry for it, of who takes its closing back; the head of the queue opens it."""
    known = call.undo or {}
    former = PageState.model_validate(known["page"])
    named = former.model_copy(update={"page_id": call.page_id, "session_id": session.session_id})
    entry = bring_back(registry, session, named, known)
    if entry.lease is None or entry.lease.client_id != call.client_id:
        entry.ownership.take(call, former.holder_agent)
        entry.share(former.access)
        entry.network.owner = entry.emulation.owner = entry.init_scripts.owner = call.client_id
    entry.ownership.used_by(call)
    return entry


def bring_back(registry: PageRegistry, session: "SessionEntry", state: PageState, known: Json | None) -> PageEntry:
    """An entry for a page, with what was set for it, and at a revision that it has not had."""
    if known is None:
        return registry.add(state, session)
    parked = PageState.model_validate(known["page"]).parked
    anew = {"parked": parked, "revision": state.revision + 1, "target_id": "", "opener_id": None}
    entry, kept = registry.add(state.model_copy(update=anew), session), cast("dict[str, Any]", known)  # Any: JSON
    entry.network.owner = entry.emulation.owner = entry.init_scripts.owner = state.holder_id or ""
    entry.network.rules, entry.network.headers = [Rule.of(rule) for rule in kept["rules"]], kept["headers"]
    entry.emulation.settings = kept["emulation"]
    entry.init_scripts.texts = {**kept.get("initScripts", {})}
    entry.dialog_policy = DialogPolicy(*kept["dialogs"])
    entry.use.storage = kept["storage"]
    if kept["history"]:
        entry.use.former = Walk([*kept["history"], state.url])
    return entry
