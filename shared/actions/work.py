"""Pieces of work that several agents share out among themselves: any name can be claimed."""

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints

from shared.actions.arguments import Quotable, Reason
from shared.actions.base import ServiceAct, ServiceAction


def _printable(key: object) -> object:
    if isinstance(key, str) and not key.strip().isprintable():
        raise ValueError("must be one line of printable characters")
    return key


WorkKey = Annotated[
    str,
    StringConstraints(min_length=1, max_length=120),
    Quotable,
    BeforeValidator(_printable),
    Field(description="Any name that the agents agree on, such as ticket/812."),
]


class ClaimWork(ServiceAct):
    """Claim a piece of work by name, so that no other agent does it. It lapses after 2 idle minutes.

    Claim it again in time, or give minutes. With waitSeconds you wait in line; claim it again within 12 s of its offer.
    With a reason you take it at once (after waitSeconds, if given), and its holder is told."""

    everyday = ("reason", "waitSeconds")
    unmetered = True
    hears_person = True
    loggable_arguments = frozenset({"key"})

    key: WorkKey
    reason: Reason | None = Field(default=None, description="Why you take it now.")
    wait_seconds: int = Field(default=0, ge=0, le=600, description="How long to wait in line.")
    minutes: int | None = Field(default=None, ge=1, le=240, description="Keep it this long even if you are idle.")

    def allowed_ms(self) -> int:
        return self.wait_seconds * 1_000


class ReleaseWork(ServiceAct):
    """Give up a piece of work that you claimed: whoever waits for it is offered it."""

    unmetered = True
    loggable_arguments = frozenset({"key"})

    key: WorkKey


class ListWork(ServiceAction):
    """List the work that is claimed: by whom, why, until when, and who waits for it."""

    unmetered = True
    text_key = "text"

    mine: bool = Field(default=False, description="Only what you hold or wait for.")

    def about_caller(self) -> Self:
        return self.model_copy(update={"mine": True})
