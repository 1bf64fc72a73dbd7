"""Faults keep calls from the service; who reads the gateway's stderr is told of each once."""

from typing import Final

import structlog

from client.reply import Failure
from shared.catalogue import fingerprint
from shared.replies import OTHER_VERSION

_UNAVAILABLE: Final = "SERVICE_UNAVAILABLE"
_LOGGED: Final = frozenset({_UNAVAILABLE, "UNAUTHORIZED", "INTERNAL_ERROR"})
_MOST: Final = 200

log = structlog.get_logger()


class Faults:
    """Logs each cause once, until the service answers that client again: a model repeats its calls."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, str, str]] = set()
        self._other_catalogue = ""

    @property
    def advice(self) -> str:
        """A failed result gets this line while the service has another catalogue."""
        return OTHER_VERSION if self._other_catalogue else ""

    def note_catalogue(self, other: str) -> None:
        """Take in the fingerprint of the service's catalogue, empty where it is ours."""
        if other and not self._other_catalogue:
            log.warning(OTHER_VERSION, gateway=fingerprint(), service=other)
        self._other_catalogue = other

    def note(self, client_id: str, failure: Failure | None) -> None:
        """Take in how a call of a client ended."""
        if failure is None or failure.code not in _LOGGED:
            over = {(_UNAVAILABLE, ""), ("UNAUTHORIZED", client_id)}  # what the answer shows to be gone
            self._logged = {cause for cause in self._logged if cause[:2] not in over}
            return
        client = "" if failure.code == _UNAVAILABLE else client_id
        cause = (failure.code, client, str(failure.context.get("reason") or failure.message))
        if cause not in self._logged:
            self._logged = {cause} | (self._logged if len(self._logged) < _MOST else set())
            log.error(failure.message, code=failure.code, hint=failure.hint)
