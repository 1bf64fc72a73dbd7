"""Observes what a page makes of a drag."""

from typing import Any, Final

from playwright.async_api import ElementHandle, JSHandle, Locator

from browser_service.host.elements.locators import in_page, unless_gone
from browser_service.host.scripts import applied, script

_WATCH: Final = script("drag_watch")
_OF_TWO: Final = "look => found => found.slice(0, 2).map(look)"
_SEEN: Final = script("drag_end")
_PLACE: Final = script("drag_place")

DragEvents = dict[str, Any]  # Any: whatever JSON the page's listeners note


class Drag:
    """Observes the documents of a drag's two ends, and where the dragged element is afterwards."""

    def __init__(self, source: Locator, held: ElementHandle, before: DragEvents, listeners: list[JSHandle]) -> None:
        self._source = source
        self._held = held
        self._before = before
        self._listeners = listeners

    @classmethod
    async def begin(cls, source: Locator, target: Locator, timeout_ms: int) -> "Drag":
        held = await source.element_handle(timeout=timeout_ms)
        before = await held.evaluate(_PLACE)
        ends = [await end.evaluate_handle(_WATCH, timeout=timeout_ms) for end in (source, target)]
        return cls(source, held, before, ends)

    async def events(self) -> DragEvents:
        found: DragEvents = {"dragstart": False}
        for listener in self._listeners:
            noted = await unless_gone(listener.evaluate(_SEEN)) or {}
            found |= {name: value for name, value in noted.items() if value}
        return found

    async def movement(self) -> str | None:
        """Say where the dragged element went; "" if it stayed, None if that cannot be told."""
        before, after = self._before, await unless_gone(self._held.evaluate(_PLACE))
        if after is None or not after["there"]:  # the page may have made it anew
            places = await unless_gone(in_page(self._source, applied(_OF_TWO, _PLACE))) or []
            after = places[0] if len(places) == 1 else None
        if after is None:
            return None
        if after["parent"] != before["parent"]:
            return f"it moved into {after['parent']}"
        if after["index"] != before["index"]:
            return f"it is number {after['index'] + 1} in {after['parent']} now"
        if (after["x"], after["y"]) != (before["x"], before["y"]):
            return f"it moved from {before['x']},{before['y']} to {after['x']},{after['y']}"
        return ""
