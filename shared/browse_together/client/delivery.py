"""Tracks how often a call was sent to the service, and until when it may be sent again."""

import asyncio
from dataclasses import dataclass


@dataclass
class LastReply:
    """The time of the service's last reply to any client that shares the connections."""

    at: float = 0.0


@dataclass
class Delivery:
    """The sending of one call."""

    may_start: bool
    attempt: int = 1
    """2 once the service may have received the call: it then checks whether it knows the call."""
    give_up_at: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.give_up_at > 0 and now() >= self.give_up_at


def now() -> float:
    """Return the event loop's time in seconds."""
    return asyncio.get_running_loop().time()
