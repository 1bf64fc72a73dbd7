"""Drags an element as a person does, and observes what the page does with it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Self

from playwright.async_api import ElementHandle, Locator, Mouse
from typing_extensions import TypedDict

from browse_together.contract.actions.pointer import DragAndDrop
from browser_service.actions.support import scaled_frames
from browser_service.host import world
from browser_service.host.elements import targets
from browser_service.host.elements.locators import evaluate_all, none_if_gone
from browser_service.host.scripts import call_of, results, script
from browser_service.host.tabs.presses import clicks, sent

_WATCH: Final = script("drag_watch")
_FIRST_TWO: Final = "look => found => found.slice(0, 2).map(look)"
_EVENTS: Final = results.bounded(script("drag_end"))
_PLACE: Final = script("drag_place")
_AROUND: Final = script("shown_around")
_CAN_BE_HIT: Final = results.bounded(script("can_be_hit"))
_MOVED: Final = results.bounded(script("drag_moved"))
_SETTLED: Final = results.bounded(script("drag_settled"))
_DRAWN_MS: Final = 500
_SLIDES_MS: Final = 400
"""The longest that cards slide to where a drag moves them."""
_PAUSE_S: Final = 0.05
_BESIDE_PX: Final = 2

DragEvents = dict[str, bool | str | None]


class DragPlace(TypedDict):
    there: bool
    x: int
    y: int
    parent: str
    index: int


@dataclass(frozen=True)
class Drag:
    """A drag: observes the documents at both ends, and where the dragged element is afterwards."""

    source: Locator
    element: ElementHandle
    place: DragPlace
    listeners: list[world.Held]

    @classmethod
    async def begin(cls, source: Locator, target: Locator, timeout_ms: int) -> Self:
        element = await world.handle_of(source, timeout_ms)
        await _reveal(element, timeout_ms)
        place = await _place(element)
        listeners = [await world.hold(end, _WATCH, timeout_ms=timeout_ms) for end in (source, target)]
        return cls(source, element, place, listeners)

    async def move(self, target: Locator, action: DragAndDrop) -> None:
        """Drag the element to the target. Both are checked before the mouse goes down, so that no drag begins in vain.
        Where the target can be hit as it is, the mouse stays at the source meanwhile: a handle may show only as long as
        the mouse is on what has it. The mouse approaches from beside the target's middle, because a sortable list
        cannot tell from the exact middle of a card on which side to insert."""
        mouse, end = self.source.page.mouse, action.own_arguments().get("target_position")
        if await scaled_frames.has(self.source.page, self.source):
            await scaled_frames.hover(self.source.page, self.source, action.source_position, action.timeout)
        else:
            await self._check(target, action)
        if action.trial:
            return
        await sent(mouse.down(), clicks())
        try:
            if action.scroll == "auto":
                await target.scroll_into_view_if_needed(timeout=action.timeout)
            element = await world.handle_of(target, action.timeout)
            x, y = await targets.point_of(element, end)
            await arrive(mouse, x - _BESIDE_PX, y - _BESIDE_PX, action.steps, partial(_settled, element))
            await mouse.move(x, y)
            await asyncio.sleep(_PAUSE_S)
        finally:
            await mouse.up()

    async def _check(self, target: Locator, action: DragAndDrop) -> None:
        """Check both ends, and leave the mouse at the source."""
        given = action.own_arguments()
        start, end = given.get("source_position"), given.get("target_position")
        checks = {name: given.get(name) for name in ("force", "scroll")}
        on_source = partial(self.source.hover, **checks, position=start, timeout=action.timeout)
        await on_source(trial=action.trial)
        element = await world.handle_of(target, action.timeout)
        if action.trial or not results.value_of(await world.evaluate(element, _CAN_BE_HIT, end)):
            await target.hover(**checks, position=end, trial=True, timeout=action.timeout)
            if not action.trial:
                await _reveal(self.element, action.timeout)
                await on_source()

    async def events(self) -> DragEvents:
        events: DragEvents = {"dragstart": False}
        for listener in self.listeners:
            received = await none_if_gone(_events(listener)) or {}
            events |= {name: value for name, value in received.items() if value}
        return events

    async def movement(self) -> str | None:
        """Word where the dragged element went; "" if it stayed, None if that is unknown."""
        before, after = self.place, await none_if_gone(_moved(self.element, self.place))
        if after is None or not after["there"]:  # the page may have replaced it
            places = await none_if_gone(evaluate_all(list[DragPlace], self.source, call_of(_FIRST_TWO, _PLACE))) or []
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


async def arrive(
    mouse: Mouse, x: float, y: float, steps: int, settled: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Drag to a point at a person's pace. Sortable lists ignore the mouse for a moment after they moved a card, and
    notice no drag over a card that the mouse has only just reached."""
    for each in (steps, 1):
        await mouse.move(x, y, steps=each)
        await asyncio.sleep(_PAUSE_S)
        if settled is not None:
            await settled()


async def _settled(target: ElementHandle) -> None:
    """Wait until what a drag over a target moved is where it goes."""
    await none_if_gone(world.evaluate(target, _SETTLED, _SLIDES_MS, timeout_ms=2 * _SLIDES_MS))


async def _place(element: ElementHandle) -> DragPlace:
    return results.read(DragPlace, await world.evaluate(element, results.bounded(_PLACE)))


async def _reveal(element: ElementHandle, timeout_ms: float) -> None:
    """Bring the mouse to what has the element, if it is not shown: it may show under the mouse."""
    around = await world.element(element, _AROUND)
    if around is not None:
        await around.hover(timeout=timeout_ms)


async def _moved(element: ElementHandle, before: DragPlace) -> DragPlace:
    return results.read(DragPlace, await world.evaluate(element, _MOVED, [before, _DRAWN_MS]))


async def _events(listener: world.Held) -> DragEvents:
    return results.read(DragEvents, await listener.evaluate(_EVENTS))
