"""The gateway of a process serves the connections of its wires over one pool of HTTP connections to the service."""

import sys
from typing import Final

import structlog

from client.http import ServiceClient
from client.instance import Autostart
from mcp_gateway.chats import credentials
from mcp_gateway.connection import Connection
from mcp_gateway.settings import Settings
from mcp_gateway.stdio.early import EarlyServer
from mcp_gateway.stdio.relay import Relay
from shared.catalogue import fingerprint

_CLOSE_WITHIN_S: Final = 0.2


async def serve(early: EarlyServer, settings: Settings, autostart: Autostart, instructions: str) -> None:
    """Serve the connection of this process until its client closes stdin."""
    _log_to_stderr(settings)
    service = ServiceClient(settings.url, credentials(settings), autostart, fingerprint())
    await Relay(early).serve(Connection(settings, service, instructions))
    await service.close(_CLOSE_WITHIN_S)


def _log_to_stderr(settings: Settings) -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(settings.log_level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
