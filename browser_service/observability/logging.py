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

from shared.errors import BrowseError, InternalError
from shared.quoting import legible


class Unfailing(io.TextIOBase):
    """Wraps a stream for logs: if its disk is full or its reader gone, a line is lost, and nothing else fails."""

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
    """Log for people where they ask for it, and where a terminal shows it; else for programs."""
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
        # it writes, and no more is asked
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", Unfailing(sys.stderr))),
        cache_logger_on_first_use=False,
    )
    BrowseError.debugging = level == "debug"


def conceal(way: Callable[[], Callable[[str], str]]) -> Callable[[], None]:
    """Pass all that is logged through a function that hides the secrets of now, which `way` looks up once a line; call
    what this returns to end that."""

    def hide(_: object, __: str, event: EventDict) -> EventDict:
        texts = way()
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
    """Take what steers a terminal out of a line of the log, which may have words of pages."""
    return {key: legible(value) if isinstance(value, str) else value for key, value in entry.items()}


def unexpected(message: str) -> InternalError:
    """Make the error for the exception being handled; it carries the traceback only when debugging."""
    return InternalError(message, details={"stack": traceback.format_exc()} if BrowseError.debugging else None)
