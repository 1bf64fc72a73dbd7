"""Shares out pieces of work among agents."""

from browser_service.spine.ports import ServiceContext
from shared.actions import work
from shared.model import Json


async def claim_work(service: ServiceContext, action: work.ClaimWork) -> Json:
    return await service.work.claim(service.client, action, service.record.call_id, service.record.cancel)


async def release_work(service: ServiceContext, action: work.ReleaseWork) -> Json:
    return service.work.release(service.client, action.key)


async def list_work(service: ServiceContext, action: work.ListWork) -> Json:
    return service.work.listed(service.client.client_id, mine=action.mine)
