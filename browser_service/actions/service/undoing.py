"""Takes back what was done on our side."""

from browser_service.spine.ports import ServiceContext
from shared.actions import undoing
from shared.model import Json


async def undo(service: ServiceContext, action: undoing.Undo) -> Json:
    if action.only_list:
        return service.list_undoable()
    return await service.undo(action.call_id, affects_others=action.affect_others)
