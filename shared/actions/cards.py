"""Cards: what a chat's own card does with a page of that chat."""

from shared.actions.base import OwnershipAction
from shared.actions.traits import Effect


class StopPage(OwnershipAction):
    """Cancel what you do on a page of yours, and leave the page to a person: until they give it back, what you want to
    do there is refused with HUMAN_IN_CONTROL."""

    effect = Effect.ACTS
    unmetered = True

    @property
    def stops_others(self) -> bool:
        return True
