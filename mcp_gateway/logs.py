"""Sends a gateway's log to the stderr of the program that it serves."""

import io
import os
import sys
from typing import Final, TextIO

import structlog
from structlog.types import EventDict, WrappedLogger

from client import caller
from mcp_gateway.settings import Settings

_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_LEVEL: Final = "log_level"
"""The key under which a chat's lowest logged severity is bound to its log lines."""


class CallersStderr(io.TextIOBase):
    """The stderr of the chat on whose behalf code runs; outside of a chat, this process's own."""

    def __init__(self, own: TextIO) -> None:
        self._own = own
        self._line = ""

    def write(self, text: str) -> int:
        self._line += text
        if self._line.endswith("\n"):
            line, self._line = self._line, ""
            if served := caller.current():
                served.say(line)
            else:
                self._own.write(line)
                self._own.flush()
        return len(text)

    def isatty(self) -> bool:
        return False


def to_stderr(level: str) -> None:
    """Log events of at least this severity."""
    colours = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            _of_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def of_chat(settings: Settings) -> None:
    """Log no more than these settings want, in this task and in tasks started by it."""
    structlog.contextvars.bind_contextvars(**{_LEVEL: settings.log_level})


def _of_level(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Drop a line that the chat's settings do not want."""
    least = event.pop(_LEVEL, None)
    if least and _LEVELS.index(str(event["level"])) < _LEVELS.index(least):
        raise structlog.DropEvent
    return event
