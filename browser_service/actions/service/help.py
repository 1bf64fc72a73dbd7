"""Explains what there is to call, and how."""

from browser_service.spine.ports import ServiceContext
from shared import help_text
from shared.actions import help as asking
from shared.model import Json


async def help_(_: ServiceContext, action: asking.Help) -> Json:
    if action.toolset is None:
        return {"help": help_text.action_help(action.tool) if action.tool else help_text.overview()}
    texts = [help_text.action_help(action.tool)] if action.tool else []
    return {"help": "\n\n".join([*texts, help_text.toolset_help(action.toolset)]), "toolset": action.toolset}
