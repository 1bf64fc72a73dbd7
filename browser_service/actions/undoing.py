"""What was done on our side, taken back. No Playwright: how, the host knows."""

from browser_service.service import Service
from shared.actions import undoing
from shared.calls import Json


async def undo(service: Service, action: undoing.Undo) -> Json:
    return await service.undo(action)
