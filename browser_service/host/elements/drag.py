"""Observes what a page makes of a drag."""

from dataclasses import dataclass
from typing import Any, Final, Self

from playwright.async_api import ElementHandle, JSHandle, Locator

from browser_service.host.elements.locators import evaluate_all, none_if_gone
from browser_service.host.scripts import call_of, script

_WATCH: Final = script("drag_watch")
_FIRST_TWO: Final = "look => found => found.slice(0, 2).map(look)"
_EVENTS: Final = script("drag_end")
_PLACE: Final = script("drag_place")

DragEvents = dict[str, Any]  # Any: whatever JSON the page's listeners note


@dataclass(frozen=True)
class Drag:
    """Observes the documents of a drag's two ends, and where the dragged element is afterwards."""

    source: Locator
    element: ElementHandle
    place: DragEvents
    listeners: list[JSHandle]

    @classmethod
    async def begin(cls, source: Locator, target: Locator, timeout_ms: int) -> Self:
        element = await source.element_handle(timeout=timeout_ms)
        place = await element.evaluate(_PLACE)
        listeners = [await end.evaluate_handle(_WATCH, timeout=timeout_ms) for end in (source, target)]
        return cls(source, element, place, listeners)

    async def events(self) -> DragEvents:
        events: DragEvents = {"dragstart": False}
        for listener in self.listeners:
            received = await none_if_gone(listener.evaluate(_EVENTS)) or {}
            events |= {name: value for name, value in received.items() if value}
        return events

    async def movement(self) -> str | None:
        """Say where the dragged element went; "" if it stayed, None if that cannot be told."""
        before, after = self.place, await none_if_gone(self.element.evaluate(_PLACE))
        if after is None or not after["there"]:  # the page may have made it anew
            places = await none_if_gone(evaluate_all(self.source, call_of(_FIRST_TWO, _PLACE))) or []
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
