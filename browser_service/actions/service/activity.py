"""The account of who did what."""

from browser_service.spine.ports import Service
from shared.actions import activity
from shared.model import Json


async def get_activity(service: Service, action: activity.GetActivity) -> Json:
    return await service.get_activity(action)
