"""The gateway in full: what is imported while the front already answers."""

import sys

import structlog

from client.autostart import Autostart
from client.http import ServiceClient
from mcp_gateway.connection import Connection
from mcp_gateway.front import Front
from mcp_gateway.identity import credentials
from mcp_gateway.relay import Relay
from mcp_gateway.settings import Settings
from shared.catalogue import fingerprint

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
    service = ServiceClient(settings.url, credentials(settings), autostart, fingerprint())
    await Relay(front).serve(Connection(settings, service, instructions))
    await service.close(_LAST_WORDS_WITHIN_S)
