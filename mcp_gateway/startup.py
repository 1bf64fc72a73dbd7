"""An answered handshake becomes a complete server: the tools come first, then the service, then the SDK."""

import asyncio
import gc
import sys
from collections.abc import Callable

from pydantic import ValidationError

from client.autostart import Autostart
from client.instance import is_local
from mcp_gateway.front import Front
from mcp_gateway.listing import known, messages
from mcp_gateway.settings import Settings
from mcp_gateway.stdio import Message
from shared import settings_errors, toolsets
from shared.instructions import instructed


def run(front: Front) -> None:
    settings = _settings()
    if problem := _toolset_problem(settings):
        sys.stderr.write(f"mcp-gateway: {problem}\n")
    instructions = instructed(problem)
    front.show(listed(settings), instructions)
    autostart = Autostart(settings.url, settings.data_dir, enabled=settings.autostart and is_local(settings.url))
    if autostart.enabled:
        autostart.begin()
    from mcp_gateway.relay import serve  # noqa: PLC0415 - the SDK takes 0.4 s: the list and the start go first

    gc.freeze()
    gc.enable()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(front, settings, autostart, instructions))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Take uvloop where there is one: a call passes the loop some twenty times."""
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    return uvloop.new_event_loop


def _settings() -> Settings:
    try:
        return Settings()
    except ValidationError as error:
        sys.exit(f"mcp-gateway: {'; '.join(settings_errors.explain(error, Settings))}")


def _toolset_problem(settings: Settings) -> str:
    """Say which names are no toolset's. The others are listed, or `core` where there is none."""
    known = toolsets.NAMES
    unknown = sorted(settings.toolsets.difference(known))
    if not unknown:
        return ""
    instead = ", ".join(sorted(settings.toolsets.intersection(known))) or "core"
    no_such = f"BROWSE_TOOLSETS: no toolset is called {', '.join(unknown)}; listed is {instead}."
    return f"{no_such} There are: {', '.join(known)}."


def listed(settings: Settings) -> list[Message]:
    """Return the first list, which is complete without a network."""
    return [*messages(known(settings.toolsets))]
