"""Continues to wait for calls that take long, or stops them."""

from browser_service.spine.ports import ServiceContext
from shared.actions import calls
from shared.model import Json


async def get_call(service: ServiceContext, action: calls.GetCall) -> Json:
    return await service.get_call(action.call_id, action.wait)


async def cancel_call(service: ServiceContext, action: calls.CancelCall) -> Json:
    return await service.cancel_call(action.call_id)
