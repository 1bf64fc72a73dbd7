"""Turns an answered handshake into a complete server: the tools come first, then the service, then the SDK."""

import asyncio
import gc
import sys
from collections.abc import Callable

from pydantic import ValidationError

from client.instance import Autostart, is_local
from mcp_gateway import tools
from mcp_gateway.settings import Settings
from mcp_gateway.stdio.early import EarlyServer
from shared import settings_errors
from shared.instructions import instructed


def run(early: EarlyServer) -> None:
    settings = _settings()
    if problem := tools.toolset_problem(settings.toolsets):
        sys.stderr.write(f"mcp-gateway: {problem}\n")
    instructions = instructed(problem)
    early.offer(tools.listed_tools(tools.valid_toolsets(settings.toolsets)), instructions)
    autostart = Autostart(settings.url, settings.data_dir, enabled=settings.autostart and is_local(settings.url))
    if autostart.enabled:
        autostart.begin()
    from mcp_gateway.gateway import serve  # noqa: PLC0415 - the SDK takes 0.4 s: the list and the start go first

    gc.freeze()
    gc.enable()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(early, settings, autostart, instructions))


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        sys.exit(f"mcp-gateway: {'; '.join(settings_errors.explain(error, Settings))}")


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's if it is installed, because a call passes the loop some twenty times."""
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    return uvloop.new_event_loop
