"""Moves the mouse, drags, and scrolls."""

import asyncio
from contextlib import AsyncExitStack
from typing import Final, cast

from typing_extensions import TypedDict

from browse_together.contract.actions import pointer
from browse_together.contract.errors import ValidationFailed, WithoutEffect, field_details
from browse_together.contract.model import Json
from browse_together.contract.next_calls import next_call
from browse_together.contract.quoting import element_name, one_line
from browser_service.actions.support.drag import Drag, DragEvents, arrive
from browser_service.host import world
from browser_service.host.elements import targets
from browser_service.host.handle.page import BrowserPage
from browser_service.host.scripts import results, script
from browser_service.host.tabs.presses import chord, clicks, sent

_SCRIPT_TURN_S: Final = 0.2
"""Time for a page's script to notice that the end was reached, and to start loading more."""
_MORE_CONTENT_S: Final = 1.0
_EXAMPLES: Final = {
    "to": next_call("mouse", do="drag", x=10, y=10, to={"x": 0, "y": 200}),
    "by": next_call("mouse", do="wheel", x=10, y=10, by={"x": 0, "y": 200}),
}
_NOWHERE: Final[Json] = {"to": None, "x": 0, "y": 0}
_VIEWPORT: Final = results.bounded("() => [innerWidth, innerHeight]")

_SCROLL: Final = results.bounded(script("scroll"))


async def drag_and_drop(page: BrowserPage, action: pointer.DragAndDrop) -> Json:
    source = await page.elements.find(action.selector, action.frame, strict=action.strict)
    target = await page.elements.find(action.target, action.frame, strict=action.strict)
    drag = await Drag.begin(source, target, action.timeout)
    try:
        await drag.move(target, action)
    finally:
        events = await drag.events()
    if action.trial:
        return {}
    await page.observer.wait_for_effects(_MORE_CONTENT_S)
    moved = await drag.movement()
    where = (
        "the dragged element is no longer there" if moved is None else moved or "the dragged element is where it was"
    )
    if events["dragstart"] and "drop" not in events and moved == "":
        raise WithoutEffect(
            f"An HTML drag began, and nothing accepted the drop; {where}.",
            hint=f"Name what takes the drop, maybe what is around it or in it: {next_call('snapshot')}.",
            details={"selector": action.target, "context": {"reason": "not accepted"}},
        )
    return {
        "drag": "html" if events["dragstart"] else "pointer",
        "dropped": "drop" in events,
        **({} if moved is None else {"moved": bool(moved)}),
        "observed": f"{_describe_drag(events)}; {where}",
    }


class Position(TypedDict):
    """The result of _SCROLL."""

    what: str
    position: dict[str, int]
    moved: dict[str, int]
    more: dict[str, int]


async def mouse(page: BrowserPage, action: pointer.Mouse) -> Json:
    check_button(page, action.button)
    await _check_points(page, action)
    element = await targets.element_name_at(page.playwright, action.x, action.y)
    async with AsyncExitStack() as held:
        for key in action.modifiers or ():
            await sent(page.playwright.keyboard.down(key), chord(key))
            held.push_async_callback(page.playwright.keyboard.up, key)
        await page.playwright.mouse.move(action.x, action.y, steps=action.steps if action.do == "move" else 1)
        observed = await _use_mouse(page, action)
    return {"element": element, "observed": observed.format(f"at {action.x:g},{action.y:g} on {element_name(element)}")}


async def scroll(page: BrowserPage, action: pointer.Scroll) -> Json:
    element = await page.elements.find(action.selector or ":root", action.frame, strict=action.strict)
    target = {"to": action.to, "x": action.x, "y": action.y}
    if action.selector and target == {"to": None, "x": None, "y": None}:
        target["to"] = "view"
    if target["to"] == "view":
        await element.scroll_into_view_if_needed(timeout=action.timeout)
    position = results.read(Position, await world.evaluate(element, _SCROLL, target, timeout_ms=action.timeout))
    if position["more"]["down"]:
        # _SCROLL returns JSON
        return {**cast("Json", position), "observed": _describe_scroll(position, into_view=target["to"] == "view")}
    await asyncio.sleep(_SCRIPT_TURN_S)  # the page's scroll handlers send their requests a little later
    await page.observer.wait_for_effects(_MORE_CONTENT_S)
    later = results.read(Position, await world.evaluate(element, _SCROLL, _NOWHERE, timeout_ms=action.timeout))
    added = later["more"]["down"] - position["more"]["down"]
    position = {**later, "moved": position["moved"]}
    pending = page.pending()
    observed = _describe_scroll(position, into_view=target["to"] == "view", pending=len(pending))
    return {
        **cast("Json", position),
        "observed": f"{observed} (came when the end was reached)" if added > 0 else observed,
    }


def _describe_drag(events: DragEvents) -> str:
    """Describe which events of the drag reached the page's documents."""
    if not events["dragstart"]:
        where = f"pressed on {_named(events, 'pressed')} and released on {_named(events, 'released')}"
        return f"{where}: no HTML drag, the page may have followed the mouse"
    if "drop" not in events:
        return "an HTML drag began, and nothing accepted the drop"
    effect = one_line(str(events.get("effect", "not told")))
    return f"an HTML drag was dropped on {_named(events, 'drop')} (effect: {effect})"


def _named(events: DragEvents, event: str) -> str:
    return element_name(str(events[event])) if event in events else "nothing"


def check_button(page: BrowserPage, button: str) -> None:
    """Raise ValidationFailed for the middle button in a browser that somebody else started. There it pastes the
    screen's last selection, which may come from a private page or from another program."""
    if button == "middle" and page.session.in_persons_browser:
        raise ValidationFailed(
            "In a browser that is attached to (BROWSE_CDP_URL) the middle button may paste what others selected, and "
            "is not pressed.",
            hint=f"A link in a page of its own: {next_call('open_page', url='...')}. Text: "
            f"{next_call('paste', text='...')}.",
            details=field_details("button"),
        )


async def _check_points(page: BrowserPage, action: pointer.Mouse) -> None:
    for field, does, given in (("to", "drag", action.to), ("by", "wheel", action.by)):
        if (action.do == does) != (given is not None):
            problem = f"{does} needs '{field}'" if action.do == does else f"{field} is for {does}, not for {action.do}"
            raise ValidationFailed(
                f"mouse: {problem}.",
                hint=f"{_EXAMPLES[field]}.",
                details=field_details(field),
            )
    width, height = results.read(tuple[int, int], await world.evaluate(page.playwright, _VIEWPORT))
    for field, value, most in (
        *(("x", action.x, width), ("y", action.y, height)),
        *((("to.x", action.to.x, width), ("to.y", action.to.y, height)) if action.to else ()),
    ):
        if not 0 <= value < most:
            raise ValidationFailed(
                f"{field} {value:g} lies outside of the viewport, which is {width} x {height} px.",
                hint=f"Bring it there first: {next_call('scroll', y=600)}. A screenshot in scale css has the "
                "coordinates.",
                details=field_details(field, viewport={"width": width, "height": height}),
            )


async def _use_mouse(page: BrowserPage, action: pointer.Mouse) -> str:
    """Use the mouse where it is now. Return what was done, with a placeholder for the position."""
    device, button, times = page.playwright.mouse, action.button, action.click_count
    match action.do:
        case "down":
            await sent(device.down(button=button, click_count=times), clicks())
            return "pressed, and not released, {}"
        case "up":
            await device.up(button=button, click_count=times)
            return "released {}"
        case "click":
            clicking = device.click(action.x, action.y, button=button, click_count=times, delay=action.delay)
            await sent(clicking, clicks(times))
            return "clicked {}"
        case "wheel" if action.by:
            await device.wheel(action.by.x, action.by.y)
            return "turned the wheel {}"
        case "drag" if action.to:
            await sent(device.down(button=button), clicks())
            try:
                await arrive(device, action.to.x, action.to.y, action.steps)
            finally:
                await device.up(button=button)
            return f"dragged {{}} to {action.to.x:g},{action.to.y:g}"
    return "moved the mouse: it is {}"


def _describe_scroll(result: Position, *, into_view: bool, pending: int = 0) -> str:
    name, moved, more, position = element_name(result["what"]), result["moved"], result["more"], result["position"]
    place = f"{name} is at x={position['x']}, y={position['y']}" if position["x"] else f"{name} is at y={position['y']}"
    if into_view:
        first = f"the element is in view; {place}"
    elif moved["x"] or moved["y"]:
        first = f"scrolled by {moved['x']},{moved['y']} px; {place}"
    else:
        first = f"nothing moved; {place}"
    rest = [f"{px} px more {where}" for where, px in more.items() if px]
    if not pending:
        return f"{first}; {', '.join(rest) if rest else 'all of it is shown'}"
    waits = f"{pending} request{'s are' if pending > 1 else ' is'} pending: more may come, scroll again in a moment"
    return "; ".join([first, *([", ".join(rest)] if rest else []), waits])
