"""Logs to stderr what keeps calls from the service, once for each cause."""

from collections import deque
from typing import Final

import structlog

from client.reply import Failure
from shared.errors import InternalError, ServiceUnavailable, Unauthorized
from shared.replies import OTHER_VERSION
from shared.written import fingerprint

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
