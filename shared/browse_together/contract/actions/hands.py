"""Hands: how the account's own person takes a page from its agent, writes to agents, and halts them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from browse_together.contract.actions.arguments import PageId, Quotable
from browse_together.contract.actions.base import OwnershipAction, ServiceAct
from browse_together.contract.actions.traits import Claim, computed

_Agent = Annotated[
    str | None,
    Field(min_length=1, max_length=80, description="Its name, or a pageId of one of its; without, all agents."),
]

_Words = Annotated[str, StringConstraints(max_length=500), Quotable]


def _claim(action: "TakeOver") -> Claim:
    return Claim.STOPS_OTHERS if action.stop else Claim.BY_PERSON


class TakeOver(OwnershipAction):
    """For people alone: take a page in hand, above its agent's lease. Until you give it back, what agents want to do
    there is refused with HUMAN_IN_CONTROL; its agent goes on first afterwards."""

    claim = computed(Claim.BY_PERSON, _claim)
    unmetered = True

    stop: bool = Field(default=False, description="Also cancel the act that runs there now.")


class GiveBack(OwnershipAction):
    """For people alone: give a page that you took over back to its agent."""

    claim = Claim.BY_PERSON
    unmetered = True


class TellAgent(ServiceAct):
    """For people alone: write a line to an agent, or to all. It stands in their next reply; a call that waits replies
    at once."""

    gives = False
    claim = Claim.BY_PERSON
    unmetered = True
    id_fields = ("to", "page_id")
    loggable_arguments = frozenset({"to"})

    to: _Agent = None
    message: _Words = Field(default="", description="What to tell them.")
    page_id: PageId | None = Field(default=None, description="The page that it is about.")
    about: _Words = Field(default="", description="The element on it that is meant, with its ref.")


class HaltAgent(ServiceAct):
    """For people alone: pause an agent, so that its calls wait for at most 10 minutes; stop it, so that what runs is
    cancelled and what comes is refused; or let it go on. Without `to`, all agents, and those who come."""

    gives = False
    claim = Claim.BY_PERSON
    unmetered = True
    id_fields = ("to",)
    loggable_arguments = frozenset({"to"})

    to: _Agent = None
    how: Literal["pause", "stop", "go_on"] = Field(description="What to do.")
