"""Going to a URL, back, forward, and where the page is."""

from types import MappingProxyType
from typing import Any

from pydantic import Field

from browse_together.contract.actions.arguments import Address, WaitUntil
from browse_together.contract.actions.base import NavigationAction, PageAction, VisitingAction
from browse_together.contract.actions.traits import Alias, Navigation, Unaddressed, computed


def _is_in_new_session(action: "Goto") -> bool:
    return action.new_session and action.page_id is None and action.session_id is None


class Goto(VisitingAction):
    """Go to a URL; the reply outlines the page. Without pageId each call opens a new page.

    A new pageId opens a page of that name, in the shared login. A page that has not loaded after 8 s counts as loaded
    once it can be used."""

    everyday = ("params",)
    unaddressed = Unaddressed.NEW_PAGE
    makes_session = computed(False, _is_in_new_session)  # noqa: FBT003 - the class's value
    navigates = Navigation.REPLACES
    aliases = (Alias("navigate_to", presets=MappingProxyType({"newSession": True})),)
    text_key = "observed"

    url: Address = Field(min_length=1, description="Absolute URL.")
    wait_until: WaitUntil = "load"
    referer: Address | None = Field(default=None, description="Referer header value.")
    new_session: bool = Field(
        default=False, description="Without pageId and sessionId: in a session of its own, with no login."
    )

    def own_arguments(self) -> dict[str, Any]:  # Any: as there
        return {name: value for name, value in super().own_arguments().items() if name != "new_session"}


class GoBack(NavigationAction):
    """Go back one entry in the page's history."""

    everyday = ()
    gives = False
    text_key = "observed"

    wait_until: WaitUntil = "load"


class GoForward(NavigationAction):
    """Go forward one entry in the page's history."""

    everyday = ()
    gives = False
    text_key = "observed"

    wait_until: WaitUntil = "load"


class ReloadPage(NavigationAction):
    """Reload the page. Also brings back a page that no longer responds."""

    everyday = ("ignoreCache",)
    gives = False
    navigates = Navigation.REPLACES
    text_key = "observed"

    ignore_cache: bool = Field(default=False, description="Fetch everything anew from the servers.")
    wait_until: WaitUntil = "load"


class GetCurrentUrl(PageAction):
    """Get the URL that the page is at."""

    text_key = "url"

    @property
    def asks_page(self) -> bool:
        return False


class GetPageTitle(PageAction):
    """Get the title of the page's document."""

    text_key = "title"
