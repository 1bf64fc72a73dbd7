"""Calls people by Web Push: their browsers show that an agent waits for them, also while the wall is closed."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

import httpx
import structlog
from pydantic import Field

from browser_service.clients.notifications import outside, post
from browser_service.store.tables import PushTable, Subscribed
from shared.errors import JournalFailed, ValidationFailed, field_details
from shared.model import Model

if TYPE_CHECKING:
    from browser_service.security.web_push import Sender

SERVICES: Final = re.compile(
    r"https://(fcm\.googleapis\.com|jmt17\.google\.com|web\.push\.apple\.com"
    r"|[a-z0-9.-]+\.(push\.services\.mozilla\.com|notify\.windows\.com))/[!-~]+"
)
"""The push services of browsers. No port and no user's name stands there, so that every parser finds the same host."""
_CALLED_FOR_S: Final = 30 * 86_400.0
"""How long a browser is called after its last visit to the wall."""
_KEPT_S: Final = 3_600
"""How long a push service keeps a message for a browser that is away, and our signature holds."""
_LENGTH: Final = 128
"""Bytes of every message, so that its length says nothing."""
_MOST_AT_ONCE: Final = 10
_HEADERS: Final = {
    "Content-Type": "application/octet-stream",
    "Content-Encoding": "aes128gcm",
    "TTL": str(_KEPT_S),
    "Urgency": "high",
}
_GONE: Final = frozenset({404, 410})

log = structlog.get_logger(__name__)


class Subscription(Model):
    """Where a browser is called, and the keys that its messages are encrypted with."""

    endpoint: str = Field(max_length=1_000, repr=False)
    p256dh: str = Field(pattern=r"^[A-Za-z0-9_-]{87}$", repr=False)
    auth: str = Field(pattern=r"^[A-Za-z0-9_-]{22}$", repr=False)


@dataclass(eq=False)
class Push:
    """Calls the browsers of people who want that."""

    table: PushTable
    secret: str = field(repr=False)
    is_watched: Callable[[], bool]
    """Returns whether a person looks at the wall."""
    services: re.Pattern[str] = SERVICES
    _calling: int = 0

    @property
    def key(self) -> str:
        """Return the public key that a browser is to take calls from."""
        return self._sender.key

    async def subscribe(self, viewer_id: str, wanted: Subscription | None) -> None:
        """Call a viewer's browser as it says from now on, or no more. Raises ValidationFailed."""
        if wanted is None:
            await self.table.forget("viewer_id", viewer_id)
            return
        self._check(wanted)
        await self.table.keep(Subscribed(wanted.endpoint, wanted.p256dh, wanted.auth, viewer_id, self.key))

    async def call(self, request_id: str, kind: str) -> None:
        """Have people's browsers show a request, unless a person looks at the wall, or many are shown right now. No
        page's or agent's words are in it."""
        if self.is_watched() or self._calling >= _MOST_AT_ONCE:
            return
        self._calling += 1
        try:
            called = [each for each in await self.table.since(time.time() - _CALLED_FOR_S) if each.key == self.key]
            text = json.dumps({"id": request_id, "kind": kind}).ljust(_LENGTH).encode()
            if called:
                async with outside() as http:
                    await asyncio.gather(*(self._call(http, each, text) for each in called))
        except JournalFailed as error:
            log.warning("who is to be called cannot be read", reason=str(error))
        finally:
            self._calling -= 1

    async def _call(self, http: httpx.AsyncClient, one: Subscribed, text: bytes) -> None:
        headers = {**_HEADERS, "Authorization": self._sender.signature(one.endpoint, _KEPT_S)}
        message = self._sender.encrypted(text, one.p256dh, one.auth)
        if await post(http, one.endpoint, "a push service", message, headers) in _GONE:
            try:
                await self.table.forget("endpoint", one.endpoint)
            except JournalFailed as error:  # it is called once more, and the others are called
                log.warning("who is gone cannot be forgotten", reason=str(error))

    def _check(self, wanted: Subscription) -> None:
        """Raise ValidationFailed for a browser that cannot be called."""
        if self.services.fullmatch(wanted.endpoint) is None:
            raise _refused("endpoint", "The push service of this browser is none that is called from here.")
        try:
            self._sender.encrypted(b"", wanted.p256dh, wanted.auth)
        except ValueError:
            raise _refused("p256dh", "Nothing can be encrypted for this key.") from None

    @cached_property
    def _sender(self) -> "Sender":
        from browser_service.security.web_push import Sender  # noqa: PLC0415 - 9 MB, and maybe nobody wants calls

        return Sender(self.secret)


def _refused(field: str, why: str) -> ValidationFailed:
    return ValidationFailed(why, hint="Notifications come while the wall is open.", details=field_details(field))
