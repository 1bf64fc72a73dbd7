"""Observes what a page makes of a drag."""

from dataclasses import dataclass
from typing import Final, Self

from playwright.async_api import ElementHandle, JSHandle, Locator
from typing_extensions import TypedDict

from browser_service.host import results
from browser_service.host.elements.locators import evaluate_all, none_if_gone
from browser_service.host.scripts import call_of, script

_WATCH: Final = script("drag_watch")
_FIRST_TWO: Final = "look => found => found.slice(0, 2).map(look)"
_EVENTS: Final = results.bounded(script("drag_end"))
_PLACE: Final = script("drag_place")

DragEvents = dict[str, bool | str | None]


class Place(TypedDict):
    there: bool
    x: int
    y: int
    parent: str
    index: int


@dataclass(frozen=True)
class Drag:
    """Observes the documents of a drag's two ends, and where the dragged element is afterwards."""

    source: Locator
    element: ElementHandle
    place: Place
    listeners: list[JSHandle]

    @classmethod
    async def begin(cls, source: Locator, target: Locator, timeout_ms: int) -> Self:
        element = await source.element_handle(timeout=timeout_ms)
        place = await _place(element)
        listeners = [await end.evaluate_handle(_WATCH, timeout=timeout_ms) for end in (source, target)]
        return cls(source, element, place, listeners)

    async def events(self) -> DragEvents:
        events: DragEvents = {"dragstart": False}
        for listener in self.listeners:
            received = await none_if_gone(_events(listener)) or {}
            events |= {name: value for name, value in received.items() if value}
        return events

    async def movement(self) -> str | None:
        """Say where the dragged element went; "" if it stayed, None if that cannot be told."""
        before, after = self.place, await none_if_gone(_place(self.element))
        if after is None or not after["there"]:  # the page may have made it anew
            places = await none_if_gone(evaluate_all(list[Place], self.source, call_of(_FIRST_TWO, _PLACE))) or []
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


async def _place(element: ElementHandle) -> Place:
    return results.read(Place, await element.evaluate(results.bounded(_PLACE)))


async def _events(listener: JSHandle) -> DragEvents:
    return results.read(DragEvents, await listener.evaluate(_EVENTS))
