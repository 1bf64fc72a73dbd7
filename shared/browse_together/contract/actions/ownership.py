"""Who may act on a page: claim, release, hold, share, hand over."""

from typing import Literal

from pydantic import Field

from browse_together.contract.actions.arguments import Reason
from browse_together.contract.actions.base import OwnershipAction
from browse_together.contract.actions.traits import Claim


class ClaimPage(OwnershipAction):
    """Become a page's owner: in line, or at once with a reason.

    Its owner is told the reason. With both you take it after waitSeconds. A private page stays its owner's until they
    give it up."""

    claim = Claim.CLAIMS
    hears_person = True
    lasts = True
    unmetered = True

    wait_seconds: int = Field(default=0, ge=0, le=600, description="How long to wait in line.")
    reason: Reason | None = Field(default=None, description="Why you take it now.")

    def allowed_ms(self) -> int:
        return self.wait_seconds * 1000 + self.timeout


class ReleasePage(OwnershipAction):
    """Give a page up: whoever waits for it is offered it, else the next to act on it gets it."""

    serves_reading = True
    unmetered = True


class HoldPage(OwnershipAction):
    """Keep a page of yours though you will be idle, as when you wait for a code.

    Others need a reason to take it until then."""

    reason: Reason = Field(description="What you wait for; others read it.")
    minutes: int = Field(default=15, ge=1, le=240, description="For how long.")


class SharePage(OwnershipAction):
    """Say what others may do with a page of yours: nothing, read (the default) or act.

    `private` hides URL and content from those clients. Clients that may act take turns."""

    access: Literal["private", "read", "act"] = Field(description="What others may do with it.")


class HandOverPage(OwnershipAction):
    """Make another client the owner of a page of yours. A private one stays private."""

    id_fields = ("page_id", "session_id", "to")
    loggable_arguments = frozenset({"to"})

    to: str = Field(
        min_length=1, max_length=80, description="The client's name as list_pages shows it, or a pageId of one of its."
    )
    note: Reason | None = Field(default=None, description="What the new owner should know.")

    @property
    def recipient(self) -> str:
        return self.to
