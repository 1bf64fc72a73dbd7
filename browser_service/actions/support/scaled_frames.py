"""Acts by the mouse in frames that are drawn smaller or larger: those of other sites, and zoomed ones. Playwright adds
up the places of their elements as if each pixel were one of the page's."""

from contextlib import AsyncExitStack

from playwright.async_api import Locator, Page

from browse_together.contract.actions import interaction
from browse_together.contract.actions.arguments import Position
from browser_service.host import world
from browser_service.host.elements import targets
from browser_service.host.world.handles import taken


async def has(page: Page, element: Locator) -> bool:
    """Return whether an element is in such a frame. It waits for none."""
    found = await element.element_handles() if len(page.frames) > 1 else []
    return len(found) == 1 and await targets.is_scaled(taken(found[0]))


async def hover(
    page: Page,
    element: Locator,
    position: Position | None,
    timeout_ms: float,
    *,
    steps: int = 1,
    ticks: bool = False,
) -> targets.Point:
    """Move the mouse to an element, once it is shown, and return where that is. With `ticks`, a label stands for its
    control."""
    await element.wait_for(state="visible", timeout=timeout_ms)
    await element.scroll_into_view_if_needed(timeout=timeout_ms)
    handle = await world.handle_of(element, timeout_ms)
    point = await targets.point_of(handle, position.model_dump() if position else None, ticks=ticks)
    await page.mouse.move(*point, steps=steps)
    return point


async def click(page: Page, element: Locator, action: interaction.Click) -> None:
    """Click an element by the mouse alone."""
    x, y = await hover(page, element, action.position, action.timeout, steps=action.steps or 1)
    if action.trial:
        return
    async with AsyncExitStack() as held:
        for key in action.modifiers or ():
            await page.keyboard.down(key)
            held.push_async_callback(page.keyboard.up, key)
        await page.mouse.click(x, y, button=action.button, click_count=action.click_count, delay=action.delay)


async def tick(page: Page, element: Locator, action: interaction.Check | interaction.Uncheck, *, ticked: bool) -> None:
    """Set or remove the tick of a box by the mouse alone."""
    x, y = await hover(page, element, action.position, action.timeout, ticks=True)
    if not action.trial and await element.is_checked(timeout=action.timeout) is not ticked:
        await page.mouse.click(x, y)
