"""What a site keeps in the browser besides cookies: local storage of its origin, session storage of a page."""

from typing import Annotated

from pydantic import Field, StringConstraints

from browse_together.contract.actions.arguments import AnyJson
from browse_together.contract.actions.base import PageAction, StorageAct, StorageKind
from browse_together.contract.actions.reading import Budget
from browse_together.contract.actions.traits import Effect

Key = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class GetStorage(PageAction):
    """Get local or session storage of the page's origin."""

    everyday = ("kind", "keys")
    untrusted = True
    text_key = "items"

    kind: StorageKind = "local"
    keys: list[Key] | None = Field(default=None, max_length=1_000, description="Only these; null where there is none.")
    budget: Budget = None


class SetStorage(StorageAct):
    """Set items of local or session storage of the page's origin; others stay."""

    everyday = ("kind",)

    items: dict[Key, AnyJson] = Field(
        min_length=1, max_length=1_000, description="Key -> value; values that are no text are stored as JSON."
    )


class RemoveStorage(StorageAct):
    """Remove items from local or session storage of the page's origin."""

    everyday = ("kind",)
    gives = False
    loggable_arguments = frozenset({"keys"})

    keys: list[Key] = Field(min_length=1, max_length=1_000, description="Keys to remove.")


class ClearStorage(StorageAct):
    """Remove all of local or session storage of the page's origin. This may sign you out.

    What local storage had is kept for a day, and the reply has the call that puts it back."""

    everyday = ("kind",)
    gives = False
    ends_logins = True
    effect = Effect.DESTROYS
