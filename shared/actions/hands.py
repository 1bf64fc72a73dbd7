"""Hands: how the account's own person takes a page from its agent, and gives it back."""

from pydantic import Field

from shared.actions.base import OwnershipAction
from shared.actions.traits import Claim, Effect, computed


def _claim(action: "TakeOver") -> Claim:
    return Claim.STOPS_OTHERS if action.stop else Claim.BY_PERSON


class TakeOver(OwnershipAction):
    """For people alone: take a page in hand, above its agent's lease. Until you give it back, what agents want to do
    there is refused with HUMAN_IN_CONTROL; its agent goes on first afterwards."""

    effect = Effect.ACTS
    claim = computed(Claim.BY_PERSON, _claim)
    unmetered = True

    stop: bool = Field(default=False, description="Also cancel the act that runs there now.")


class GiveBack(OwnershipAction):
    """For people alone: give a page that you took over back to its agent."""

    effect = Effect.ACTS
    claim = Claim.BY_PERSON
    unmetered = True
