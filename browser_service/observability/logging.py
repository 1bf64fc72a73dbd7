"""Configures structlog: JSON in production, readable lines otherwise, always to stderr."""

import contextlib
import io
import logging
import os
import sys
import traceback
from collections.abc import Callable
from typing import TextIO, cast

import structlog
from structlog.typing import EventDict

from browse_together.contract.errors import BrowseError, InternalError
from browse_together.contract.quoting import legible


class Unfailing(io.TextIOBase):
    """A stream for logs that never raises: if the disk is full or the reader gone, only a line is lost."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


def configure(level: str, *, for_people: bool) -> None:
    """Log readable lines if asked to or if stderr is a terminal, else JSON."""
    on_terminal = sys.stderr.isatty()
    readable = structlog.dev.ConsoleRenderer(colors=on_terminal and "NO_COLOR" not in os.environ)
    renderer = readable if for_people or on_terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _legible,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # WriteLogger only writes and flushes, so this much of a TextIO is enough
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", Unfailing(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    BrowseError.debugging = level == "debug"


def log_always(**values: str) -> None:
    """Add these values to everything that this process logs from now on."""
    structlog.configure(processors=[lambda _, __, event: {**values, **event}, *structlog.get_config()["processors"]])


def conceal(way: Callable[[], Callable[[str], str] | None]) -> Callable[[], None]:
    """Hide secrets in everything that is logged. `way` returns the function that hides today's secrets, None if there
    are none, and is asked once per line. Call the result to stop hiding."""

    def hide(_: object, __: str, event: EventDict) -> EventDict:
        if (texts := way()) is None:
            return event
        return {
            key: texts(value if isinstance(value, str) else repr(value)) if _is_text(value) else value
            for key, value in event.items()
        }

    before = structlog.get_config()["processors"]
    structlog.configure(processors=[*before[:-1], hide, before[-1]])
    return lambda: structlog.configure(processors=before)


def _is_text(value: object) -> bool:
    return not isinstance(value, bool | int | float | None)


def _legible(_: object, __: str, entry: EventDict) -> EventDict:
    """Remove terminal control characters from a log entry, which may quote a page."""
    return {key: legible(value) if isinstance(value, str) else value for key, value in entry.items()}


def unexpected(message: str) -> InternalError:
    """Make an InternalError for the exception being handled; only in debug mode does it carry the traceback."""
    return InternalError(message, details={"stack": traceback.format_exc()} if BrowseError.debugging else None)
