"""The secrets that a process knows, hidden in all that leaves it."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from browse_together.contract.cuts import SecretSpan, hide
from browse_together.contract.named_secrets import MOST_SECRETS, NamedSecret
from browser_service.observability.logging import conceal
from browser_service.rules.bounded import Bounded
from browser_service.security.concealment import Clock, Concealment
from browser_service.security.one_time_codes import REMADE_AFTER_S, appearances

T = TypeVar("T")


class KnownSecrets:
    """The secrets to hide: those that calls were given. A process that knows others adds them."""

    def __init__(self) -> None:
        self._given = Bounded[tuple[str, str], NamedSecret](4 * MOST_SECRETS)
        self._concealment: Concealment | None = None
        self._made_at = 0.0
        self.clock: Clock = time.thread_time
        """What counts the time of searches."""

    def known(self) -> Collection[NamedSecret]:
        return self._given.values()

    def note(self, secrets: Iterable[NamedSecret]) -> None:
        """Hide these too. One that had another value is known by both."""
        for secret in secrets:
            if (secret.name, secret.value) not in self._given:
                self._given[secret.name, secret.value] = secret
                self.changed()

    def changed(self) -> None:
        """Hide other secrets from now on."""
        self._concealment = None

    @property
    def concealment(self) -> Concealment:
        """Return what hides today's secrets."""
        now, secrets = time.time(), self.known()
        if self._concealment is None or (
            now - self._made_at > REMADE_AFTER_S and any(secret.codes for secret in secrets)
        ):
            shown = ((secret.name, text) for secret in secrets for text in appearances(secret, now))
            self._concealment, self._made_at = Concealment(shown, self.clock), now
        return self._concealment

    def across(self, text: str, at: int) -> SecretSpan | None:
        return self.concealment.across(text, at)

    async def apart(self, way: Callable[[Concealment, T], T], given: T) -> T:
        """Hide secrets in something large, in a thread."""
        concealment = self.concealment
        return await asyncio.to_thread(way, concealment, given) if concealment.hides_any else given

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Until the context ends, log none of them, and cut none in two."""
        stop = conceal(lambda: hides.text if (hides := self.concealment).hides_any else None)
        try:
            with hide(self.across):
                yield
        finally:
            stop()
