"""Launching and quitting a browser of one's own."""

from browser_service.spine.ports import Service
from shared.actions import seven
from shared.model import Json


async def browser_launch(service: Service, action: seven.BrowserLaunch) -> Json:
    return await service.launch(action)


async def browser_quit(service: Service, _: seven.BrowserQuit) -> Json:
    return await service.quit()
