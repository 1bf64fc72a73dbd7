"""Clicks in frames of other sites that are drawn smaller or larger. Playwright adds up the places of their elements as
if each pixel were one of the page's."""

from contextlib import AsyncExitStack

from playwright.async_api import Locator, Page

from browse_together.contract.actions import interaction
from browser_service.host import world
from browser_service.host.elements import targets
from browser_service.host.elements.frames import origin_of_frame


async def has(page: Page, element: Locator, timeout_ms: float) -> bool:
    """Return whether an element is in such a frame."""
    if not any(
        each.parent_frame and origin_of_frame(each) != origin_of_frame(each.parent_frame) for each in page.frames
    ):
        return False
    return await targets.is_scaled(await world.handle_of(element, timeout_ms))


async def click(page: Page, element: Locator, action: interaction.Click) -> None:
    """Click an element by the mouse alone, once it is shown."""
    await element.wait_for(state="visible", timeout=action.timeout)
    await element.scroll_into_view_if_needed(timeout=action.timeout)
    handle = await world.handle_of(element, action.timeout)
    x, y = await targets.point_of(handle, action.position.model_dump() if action.position else None)
    await page.mouse.move(x, y, steps=action.steps or 1)
    if action.trial:
        return
    async with AsyncExitStack() as held:
        for key in action.modifiers or ():
            await page.keyboard.down(key)
            held.push_async_callback(page.keyboard.up, key)
        await page.mouse.click(x, y, button=action.button, click_count=action.click_count, delay=action.delay)
