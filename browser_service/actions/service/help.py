"""Explains what there is to call, and how."""

from browser_service.spine.ports import ServiceContext
from shared import helping
from shared.actions import help as asking
from shared.model import Json


async def help_(_: ServiceContext, action: asking.Help) -> Json:
    if action.toolset is None:
        return {"help": helping.described(action.tool) if action.tool else helping.overview()}
    texts = [helping.described(action.tool)] if action.tool else []
    return {"help": "\n\n".join([*texts, helping.in_toolset(action.toolset)]), "toolset": action.toolset}
