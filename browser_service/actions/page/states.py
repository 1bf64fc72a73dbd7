"""Reads what MCP resources consist of: a page's state, an element, a screenshot."""

import base64
from typing import Final, cast

from pydantic import JsonValue
from typing_extensions import TypedDict

from browse_together.contract.actions import states
from browse_together.contract.actions.extraction import ExtractMetadata
from browse_together.contract.actions.media import Screenshot
from browse_together.contract.errors import ArtifactNotFound
from browse_together.contract.model import Json, object_at
from browse_together.contract.wire import INLINE_BYTES
from browser_service.actions.page import extraction, media
from browser_service.host import world
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import results, script
from browser_service.host.scripts.results import bounded

_READY_STATE: Final = results.bounded("() => document.readyState")
_FACTS: Final = bounded(script("element_facts"))
_NO_BOX: Final[Json] = {"x": 0, "y": 0, "width": 0, "height": 0}
"""The browser reports this box for elements that are not shown."""
_NOT_THERE: Final[Json] = {
    "visible": False,
    "enabled": False,
    "boundingBox": _NO_BOX,
    "attributes": {},
    "text": "",
    "html": "",
}


async def get_page_state(page: BrowserPage, action: states.GetPageState) -> Json:
    async def look() -> Json:
        found = await extraction.extract_metadata(page, ExtractMetadata(timeout=action.timeout))
        ready = results.read(str, await world.evaluate(page.playwright, _READY_STATE))
        return {
            "url": page.url,
            "title": await page.tab.read_title(),
            "readyState": ready,
            "loaded": ready == "complete",
            "frameCount": len(page.playwright.frames),
            "metadata": _metadata(found["metadata"]),
        }

    return await page.looks.cached("state", action.max_age, look)


class _Facts(TypedDict):
    attributes: dict[str, str]
    text: str | None
    html: str


class _Seen(TypedDict):
    value: _Facts


async def get_element(page: BrowserPage, action: states.GetElement) -> Json:
    async def look() -> Json:
        found = await page.elements.find(action.selector, waits=False)
        if not await found.count():
            return {"selector": action.selector, "exists": False, **_NOT_THERE}
        facts = results.read(_Seen, await world.evaluate(found, _FACTS, timeout_ms=action.timeout))["value"]
        return {
            "selector": action.selector,
            "exists": True,
            "visible": await found.is_visible(),
            "enabled": await found.is_enabled(timeout=action.timeout),
            # a FloatRect is JSON
            "boundingBox": cast("Json", await found.bounding_box(timeout=action.timeout) or _NO_BOX),
            "attributes": {**facts["attributes"]},
            "text": facts["text"],
            **await page.files.shown("html", facts["html"], None),
        }

    return await page.looks.cached(f"element {action.selector}", action.max_age, look)


async def get_screenshot(page: BrowserPage, action: states.GetScreenshot) -> Json:
    if action.screenshot_id == states.CURRENT:

        async def look() -> Json:
            return await media.screenshot(page, Screenshot(timeout=action.timeout))

        return await page.looks.cached("screenshot", action.max_age, look)
    data, mime_type = await page.files.data(action.screenshot_id)
    if not mime_type.startswith("image/"):
        raise ArtifactNotFound(f"{action.screenshot_id!r} is no picture, but {mime_type}.")
    whole = base64.b64encode(data).decode() if len(data) <= INLINE_BYTES else None
    picture = (await page.files.describe(action.screenshot_id)).model_copy(update={"data": whole})
    return {"artifact": picture.model_dump(exclude_none=True)}


def _metadata(metadata: JsonValue) -> Json:
    """Return the page's metadata, with "" for missing values, and the first of repeated ones."""
    fields = metadata if isinstance(metadata, dict) else {}
    open_graph = object_at(fields, "openGraph")
    return {
        "description": _first(fields.get("description")),
        "keywords": fields.get("keywords", []),
        "ogTitle": _first(open_graph.get("title")),
        "ogImage": _first(open_graph.get("image")),
    }


def _first(value: JsonValue) -> str:
    return str(value[0] if isinstance(value, list) and value else value or "")
