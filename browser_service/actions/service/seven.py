"""Launches and quits a browser of one's own."""

from browser_service.spine.ports import ServiceContext
from shared.actions import seven
from shared.model import Json


async def browser_launch(service: ServiceContext, action: seven.BrowserLaunch) -> Json:
    browser = service.launched_browser
    return await browser.launch(browser.shared.with_launch(action))


async def browser_quit(service: ServiceContext, _: seven.BrowserQuit) -> Json:
    return await service.launched_browser.quit()
