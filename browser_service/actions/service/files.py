"""Lists downloads."""

from browser_service.spine.ports import ServiceContext
from shared.actions import files
from shared.model import Json


async def list_downloads(service: ServiceContext, _: files.ListDownloads) -> Json:
    return service.list_downloads()
