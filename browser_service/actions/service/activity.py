"""Reports who did what."""

from browser_service.observability.search import search
from browser_service.spine.ports import ServiceContext
from shared.actions import activity
from shared.model import Json


async def get_activity(service: ServiceContext, action: activity.GetActivity) -> Json:
    return await search(service.activity, action, service.client.client_id)
