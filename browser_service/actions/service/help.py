"""Explains what there is to call, and how."""

from browser_service.spine.ports import ServiceContext
from shared import help_text
from shared.actions import help as asking
from shared.model import Json


async def help_(service: ServiceContext, action: asking.Help) -> Json:
    limits = service.limits
    if action.toolset is None:
        return {"help": help_text.action_help(action.tool, limits) if action.tool else help_text.overview(limits)}
    texts = [help_text.action_help(action.tool, limits)] if action.tool else []
    return {"help": "\n\n".join([*texts, help_text.toolset_help(action.toolset, limits)]), "toolset": action.toolset}
