"""Logs: structlog, JSON in production and readable otherwise, always to stderr."""

import logging
import sys

import structlog


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
