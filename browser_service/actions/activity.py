"""The account of who did what. No Playwright: the service keeps it."""

from browser_service.service import Service
from shared.actions import activity
from shared.calls import Json


async def get_activity(service: Service, action: activity.GetActivity) -> Json:
    return await service.get_activity(action)
