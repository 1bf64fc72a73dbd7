"""The gateway in full: what is imported while the front already answers."""

import sys

import structlog

from mcp_gateway.autostart import Autostart
from mcp_gateway.forward import Service
from mcp_gateway.front import Front
from mcp_gateway.identity import Identity
from mcp_gateway.relay import Relay
from mcp_gateway.server import Gateway
from mcp_gateway.settings import Settings

_LAST_WORDS_WITHIN_S = 0.2


async def serve(front: Front, settings: Settings, autostart: Autostart, instructions: str) -> None:
    """Until the client closes stdin."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    service = Service(settings, Identity(settings), autostart)
    gateway = Gateway(service, instructions)
    gateway.chats.own.appear()
    await Relay(front).serve(gateway.server())
    gateway.chats.leave()
    await service.close(_LAST_WORDS_WITHIN_S)
