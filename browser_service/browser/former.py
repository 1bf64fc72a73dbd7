"""A page that was closed, as it can be had again: where it was, what it kept there, and what was set for it.

Its history is walked without asking the site: each entry is an empty document until one goes back to it.
"""

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final, cast

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser_service.browser.entry import BLANK, DialogPolicy, PageEntry
from browser_service.browser.network import Rule
from browser_service.browser.registry import PageRegistry
from shared.calls import Call, Json, PageState, weight

if TYPE_CHECKING:
    from browser_service.browser.session import SessionEntry

_LOOKS_WITHIN_S: Final = 0.5
_WALKS_WITHIN_S: Final = 5.0
_MOST_ENTRIES: Final = 10
_MOST_STORAGE: Final = 1_000_000
_LOOK: Final = """() => {
  const read = () => { try { return {...sessionStorage}; } catch { return {}; } };
  return {scroll: [Math.round(scrollX), Math.round(scrollY)], storage: read()};
}"""
_KEEP: Final = "items => Object.entries(items).forEach(([key, value]) => sessionStorage.setItem(key, value))"
_SCROLL: Final = "([x, y]) => { scrollTo(x, y); return [Math.round(scrollX), Math.round(scrollY)]; }"


async def remember(entry: PageEntry) -> Json:
    """What brings the page back. One that does not answer is known by what its entry has of it."""
    known: Json = {
        "page": entry.state().model_dump(mode="json", exclude={"dialog", "person", "asker_id"}),
        "rules": [rule.kept() for rule in entry.network.rules],
        "headers": {**entry.network.headers},
        "emulation": {**entry.emulation.settings},
        "dialogs": [*entry.dialog_policy],
    }
    page = entry.page
    if page is None or not entry.live or entry.dialog or entry.suspect:
        return known
    with contextlib.suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(_LOOKS_WITHIN_S):
            known["history"] = [*await _history(entry)]
            looked: dict[str, Any] = await page.evaluate(_LOOK)  # Any: JSON
            known["scroll"] = looked["scroll"]
            known["storage"] = looked["storage"] if weight(looked["storage"]) <= _MOST_STORAGE else {}
    return known


async def _history(entry: PageEntry) -> list[str]:
    """Where it was before, the last entry the latest."""
    if entry.cdp is None:
        return []
    found = await entry.cdp.send("Page.getNavigationHistory")
    before = [str(each["url"]) for each in found["entries"][: found["currentIndex"]]]
    return [url for url in before if url.startswith(("http:", "https:"))][-_MOST_ENTRIES:]


def reopen(registry: PageRegistry, session: "SessionEntry", call: Call) -> PageEntry:
    """An entry for it, of who takes its closing back; the head of the queue opens it."""
    known = call.undo or {}
    former = PageState.model_validate(known["page"])
    named = former.model_copy(update={"page_id": call.page_id, "session_id": session.session_id})
    entry = bring_back(registry, session, named, known)
    if entry.lease is None or entry.lease.client_id != call.client_id:
        entry.ownership.take(call, former.holder_agent)
        entry.share(former.access)
        entry.network.owner = entry.emulation.owner = call.client_id
    entry.ownership.used_by(call)
    return entry


def bring_back(registry: PageRegistry, session: "SessionEntry", state: PageState, known: Json | None) -> PageEntry:
    """An entry for a page, with what was set for it, and at a revision that it has not had."""
    if known is None:
        return registry.add(state, session)
    anew = {"revision": state.revision + 1, "target_id": "", "opener_id": None}
    entry, kept = registry.add(state.model_copy(update=anew), session), cast("dict[str, Any]", known)  # Any: JSON
    entry.network.owner = entry.emulation.owner = state.holder_id or ""
    entry.network.rules, entry.network.headers = [Rule.of(rule) for rule in kept["rules"]], kept["headers"]
    entry.emulation.settings = kept["emulation"]
    entry.dialog_policy = DialogPolicy(*kept["dialogs"])
    entry.former = lambda page: _walk(page, [*kept.get("history", []), state.url], kept.get("storage", {}))
    return entry


async def _walk(page: Page, urls: list[str], storage: dict[str, str]) -> None:
    """Give a new window the history of the former one, and what that kept for its session."""
    if urls[-1] == BLANK or not (storage or urls[:-1]):
        return
    with contextlib.suppress(TimeoutError, PlaywrightError):  # the page itself comes back all the same
        async with asyncio.timeout(_WALKS_WITHIN_S):
            await page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
            for url in urls:
                await page.goto(url, wait_until="commit")
            await page.evaluate(_KEEP, storage)
    with contextlib.suppress(PlaywrightError):
        await page.unroute("**/*")


async def scroll(page: Page, known: Json) -> list[int]:
    """To where it was, as far as it is that long by now."""
    with contextlib.suppress(TimeoutError, PlaywrightError):
        async with asyncio.timeout(_LOOKS_WITHIN_S):
            return cast("list[int]", await page.evaluate(_SCROLL, known.get("scroll") or [0, 0]))
    return [0, 0]
