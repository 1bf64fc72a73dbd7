"""What was done on our side, taken back."""

from browser_service.spine.ports import Service
from shared.actions import undoing
from shared.model import Json


async def undo(service: Service, action: undoing.Undo) -> Json:
    return await service.undo(action)
