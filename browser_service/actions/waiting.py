"""Waiting for time to pass or for an element."""

import asyncio

from browser_service.browser.page import BrowserPage
from shared.actions import waiting
from shared.calls import Json


async def wait_for_selector(page: BrowserPage, action: waiting.WaitForSelector) -> Json:
    element = await page.element(action.selector, action.frame, strict=action.strict, waits=False)
    await element.wait_for(state=action.state, timeout=action.timeout)
    return {"observed": f"{action.selector} is {action.state}"}


async def wait(_: BrowserPage, action: waiting.Wait) -> Json:
    await asyncio.sleep(action.duration / 1000)
    return {"observed": f"waited {action.duration} ms"}
