"""Reads and writes a site's storage besides cookies: an origin's local storage, a page's session storage."""

import json
from typing import Final

from browser_service.host.pages.handle import BrowserPage
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from browser_service.host.stages.reversal import counted
from browser_service.security.urls import origin_of
from shared.actions import storage
from shared.actions.base import StorageAct
from shared.cuts import cut
from shared.errors import ValidationFailed
from shared.model import Json
from shared.next_calls import next_call

_GET: Final = bounded(script("storage_items"))
_SET: Final = bounded(script("storage_setting"))
_REMOVE: Final = bounded(script("storage_removal"))


async def get_storage(page: BrowserPage, action: storage.GetStorage) -> Json:
    items = await _run(page, _GET, action.kind, action.keys)
    return {
        **await page.files.shown_data("items", items, action.budget),
        "count": len(items),
        "origin": origin_of(page.url),
    }


async def set_storage(page: BrowserPage, action: storage.SetStorage) -> Json:
    texts = [(key, value if isinstance(value, str) else json.dumps(value)) for key, value in action.items.items()]
    previous = await _run(page, _SET, action.kind, texts)
    _undoable(page, action, previous, dict(texts))
    return {"set": len(texts), "observed": f"{counted(len(texts), 'item')} set in {_where(page, action)}"}


async def remove_storage(page: BrowserPage, action: storage.RemoveStorage) -> Json:
    return await _removed(page, action, action.keys)


async def clear_storage(page: BrowserPage, action: storage.ClearStorage) -> Json:
    return await _removed(page, action, None)


async def _removed(page: BrowserPage, action: StorageAct, keys: list[str] | None) -> Json:
    previous = await _run(page, _REMOVE, action.kind, keys)
    count = len(previous)
    _undoable(page, action, previous, {})
    return {"removed": count, "observed": f"{counted(count, 'item')} removed from {_where(page, action)}"}


def _undoable(page: BrowserPage, action: StorageAct, previous: Json, written: Json) -> None:
    if previous:
        state: Json = {"kind": action.kind, "origin": origin_of(page.url), "was": previous, "made": written}
        lost = any(value is not None for value in previous.values())
        page.undoable(f"{counted(len(previous), 'item')} changed in {_where(page, action)}", state, lost=lost)


def _where(page: BrowserPage, action: StorageAct) -> str:
    return f"the {action.kind} storage of {origin_of(page.url)}"


async def _run(page: BrowserPage, script: str, kind: str, what: object) -> Json:
    if origin_of(page.url) is None:
        raise ValidationFailed(
            f"A page at {cut(page.url, 200)} has no storage.",
            hint=f"Go to the site first: {next_call('goto', page_id=page.page_id, url='...')}.",
        )
    return read(Json, await page.playwright.evaluate(script, [kind, what]))
