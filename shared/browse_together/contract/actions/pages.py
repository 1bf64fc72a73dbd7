"""The pages of a session: list, open, close."""

from pydantic import Field

from browse_together.contract.actions.arguments import Address, Reason, SessionId, WaitUntil
from browse_together.contract.actions.base import PageAction, ServiceAction, VisitingAction
from browse_together.contract.actions.traits import Alias, Closing, Effect, Lane, Scope, Unaddressed, computed


class ListPages(ServiceAction):
    """List the open pages: yours, people's, other agents'.

    A long list is shortened to counts; private pages of others are only counted."""

    everyday = ()
    unmetered = True
    aliases = (Alias("listPages"),)

    text_key = "text"

    session_id: SessionId | None = Field(default=None, description="Only pages of this session.")
    whole: bool = Field(default=False, alias="all", description="List every page; don't shorten to a count.")


class OpenPage(VisitingAction):
    """Open a page of your own, with the shared login.

    It goes to a URL if one is given. Without pageId a free name is made and returned."""

    everyday = ("url",)
    unaddressed = Unaddressed.ANOTHER_PAGE
    aliases = (Alias("openPage"),)
    text_key = "observed"

    url: Address | None = Field(default=None, min_length=1, description="Absolute URL.")
    wait_until: WaitUntil = "load"
    referer: Address | None = Field(default=None, description="Referer header value.")


def _closing(action: "ClosePage") -> Closing:
    return Closing(Scope.PAGE, action.reason, action.confirm)


class ClosePage(PageAction):
    """Close a page; what was typed and not sent is lost.

    The login stays."""

    everyday = ()
    gives = False
    effect = Effect.DESTROYS
    lane = Lane.BESIDE
    needs_open_page = False
    serves_reading = True
    closes = computed(Closing(Scope.PAGE), _closing)
    unmetered = True
    aliases = (Alias("closePage"),)
    text_key = "observed"

    run_before_unload: bool = Field(default=False, description="Let the page ask before it closes.")
    reason: Reason | None = Field(default=None, description="Why; needed for a tab that a person opened.")
    confirm: bool = Field(default=False, description="Close it though a sibling behind your client opened it.")

    @property
    def asks_page(self) -> bool:
        return self.run_before_unload
