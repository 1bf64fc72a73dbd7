"""Tracks how often a call has been sent to the service, and until when it may be sent again."""

import asyncio
from dataclasses import dataclass


@dataclass
class LastReply:
    """Remembers when the service replied last, to whichever client shares its connections."""

    at: float = 0.0


@dataclass
class Delivery:
    """Tracks the sending of one call."""

    may_start: bool
    attempt: int = 1
    """2 once the service may have received the call: it then looks whether it knows it."""
    give_up_at: float = 0.0
    """Is set by the first failure."""

    @property
    def is_over(self) -> bool:
        return self.give_up_at > 0 and now() > self.give_up_at


def now() -> float:
    """Return the time by the event loop's clock, s."""
    return asyncio.get_running_loop().time()
