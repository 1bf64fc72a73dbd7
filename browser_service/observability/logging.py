"""Logs: structlog, JSON in production and readable otherwise, always to stderr."""

import logging
import sys
import traceback

import structlog

from shared.errors import InternalError


def configure(level: str, *, for_people: bool) -> None:
    renderer = structlog.dev.ConsoleRenderer() if for_people else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def unexpected(message: str) -> InternalError:
    """What a caller is told of the exception being handled: where it came from only when debugging."""
    debugging = structlog.get_logger().is_enabled_for(logging.DEBUG)
    return InternalError(message, details={"stack": traceback.format_exc()} if debugging else None)
