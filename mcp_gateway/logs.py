"""Sends a gateway's log to the stderr of the program that it serves, and each cause that stops calls only once."""

import io
import os
import sys
from collections import deque
from typing import Final, TextIO

import structlog
from structlog.types import EventDict, WrappedLogger

from browse_together.client import caller
from browse_together.client.reply import Failure
from browse_together.contract.errors import InternalError, ServiceUnavailable, Unauthorized
from browse_together.contract.replies import OTHER_VERSION
from browse_together.contract.written import fingerprint
from mcp_gateway.settings import Settings

_LOGGED: Final = frozenset(error.code for error in (ServiceUnavailable, Unauthorized, InternalError))
_REMEMBERED: Final = 200

log = structlog.get_logger()


class Faults:
    """The logged causes. Each is logged once until the service answers that client again, because models repeat
    calls."""

    def __init__(self) -> None:
        self._logged: deque[tuple[str, str, str]] = deque(maxlen=_REMEMBERED)
        self._other_catalogue = ""

    @property
    def advice(self) -> str:
        """The last line of failed results while the service has another catalogue, else ""."""
        return OTHER_VERSION if self._other_catalogue else ""

    def note_catalogue(self, other: str) -> None:
        """Store the fingerprint of the service's catalogue; empty if it equals ours."""
        if other and not self._other_catalogue:
            log.warning(OTHER_VERSION, gateway=fingerprint(), service=other)
        self._other_catalogue = other

    def note(self, client_id: str, failure: Failure | None) -> None:
        """Log a client's failure. Without one, forget earlier causes, because they are over."""
        if failure is None or failure.code not in _LOGGED:
            over = {(ServiceUnavailable.code, ""), (Unauthorized.code, client_id)}
            self._logged = deque((cause for cause in self._logged if cause[:2] not in over), maxlen=_REMEMBERED)
            return
        client = "" if failure.code == ServiceUnavailable.code else client_id  # affects every client
        cause = (failure.code, client, str(failure.context.get("reason") or failure.message))
        if cause not in self._logged:
            self._logged.append(cause)
            log.error(failure.message, code=failure.code, hint=failure.hint)


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
