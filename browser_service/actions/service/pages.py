"""Lists open pages."""

from browser_service.spine.ports import ServiceContext
from shared.actions import pages
from shared.model import Json


async def list_pages(service: ServiceContext, action: pages.ListPages) -> Json:
    return await service.list_pages(action.session_id, whole=action.whole)
