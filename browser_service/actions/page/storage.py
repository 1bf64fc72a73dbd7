"""Reads and writes a site's storage besides cookies: an origin's local storage, a page's session storage."""

import json
from typing import Final

from pydantic import JsonValue

from browse_together.contract.actions import storage
from browse_together.contract.actions.base import StorageAct
from browse_together.contract.cuts import cut
from browse_together.contract.errors import ValidationFailed
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browser_service.host import world
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import script
from browser_service.host.scripts.results import bounded, read
from browser_service.host.sessions.login_import import part_of_state
from browser_service.security.urls import origin_of

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
    await _run(page, _SET, action.kind, texts)
    return {"set": len(texts), "observed": f"{_counted(len(texts), 'item')} set in {_where(page, action)}"}


async def remove_storage(page: BrowserPage, action: storage.RemoveStorage) -> Json:
    return _told(page, action, await _run(page, _REMOVE, action.kind, action.keys))


async def clear_storage(page: BrowserPage, action: storage.ClearStorage) -> Json:
    removed = await _run(page, _REMOVE, action.kind, None)
    if removed and action.kind == "local":
        items: list[JsonValue] = [{"name": name, "value": value} for name, value in removed.items()]
        page.take_logins(part_of_state(origins=[{"origin": origin_of(page.url), "localStorage": items}]))
    return _told(page, action, removed)


def _told(page: BrowserPage, action: StorageAct, removed: Json) -> Json:
    count = len(removed)
    return {"removed": count, "observed": f"{_counted(count, 'item')} removed from {_where(page, action)}"}


def _counted(count: int, what: str) -> str:
    """Write a number of things as a subject with its verb."""
    return f"1 {what} is" if count == 1 else f"{count} {what}s are"


def _where(page: BrowserPage, action: StorageAct) -> str:
    return f"the {action.kind} storage of {origin_of(page.url)}"


async def _run(page: BrowserPage, script: str, kind: str, what: object) -> Json:
    if origin_of(page.url) is None:
        raise ValidationFailed(
            f"A page at {cut(page.url, 200)} has no storage.",
            hint=f"Go to the site first: {next_call('goto', page_id=page.page_id, url='...')}.",
        )
    return read(Json, await world.evaluate(page.playwright, script, [kind, what]))
