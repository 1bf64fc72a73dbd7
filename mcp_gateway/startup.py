"""From an answered handshake to a complete server: the tools first, then the service, then the SDK."""

import asyncio
import gc
import sys
from collections.abc import Callable

from pydantic import ValidationError

from mcp_gateway.autostart import Autostart
from mcp_gateway.front import Front
from mcp_gateway.settings import Settings
from mcp_gateway.stdio import Message
from shared import catalogue


def run(front: Front) -> None:
    settings = _settings()
    tools = listed(settings)
    front.show(tools)
    autostart = Autostart(settings)
    if autostart.enabled:
        autostart.begin()
    from mcp_gateway.serving import serve  # noqa: PLC0415 - the SDK takes 0.4 s: the list and the start go first

    gc.freeze()
    gc.enable()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(front, settings, autostart, tools))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop where there is one: a call passes the loop some twenty times."""
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    return uvloop.new_event_loop


def _settings() -> Settings:
    try:
        settings = Settings()
    except ValidationError as error:
        faults = [
            f"BROWSE_{str(fault['loc'][0]).upper().removeprefix('BROWSE_')}: {fault['msg']}" for fault in error.errors()
        ]
        sys.exit(f"mcp-gateway: {'; '.join(faults)}")
    known = {action.toolset for action in catalogue.ACTIONS.values()} | {"all"}
    if unknown := settings.toolsets - known:
        sys.stderr.write(f"No such toolsets: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}.\n")
    return settings


def listed(settings: Settings) -> list[Message]:
    """The tools as the protocol spells them; no network is needed, so that the first list is complete."""
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.schema,
            "annotations": tool.annotations,
        }
        for tool in catalogue.tools(settings.toolsets)
    ]
