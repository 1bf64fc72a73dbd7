"""Waiting for time to pass or for an element, beside the turns of the page."""

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from shared.actions.arguments import Selector, WaitUntil
from shared.actions.base import PageAction, WaitingAction
from shared.actions.traits import Lane


class WaitForSelector(WaitingAction):
    """Wait until an element is there, or gone.

    `state` chooses: visible, hidden, attached or detached."""

    everyday = ("state",)
    text_key = "observed"

    selector: Selector = Field(description="Ref (e12), CSS or role=...")
    state: Literal["attached", "detached", "visible", "hidden"] = Field(
        default="visible", description="What to wait for."
    )
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=False, description="Refuse when several match.")


UrlGlob = Annotated[
    str, Field(min_length=1, max_length=2_000, description="Glob (`*` is any text), /path, or /regex/flags.")
]


class WaitForNavigation(WaitingAction):
    """Wait for the page's next navigation to load.

    One that began after your own last act on the page counts too."""

    everyday = ("url",)
    text_key = "observed"

    pattern: UrlGlob | None = Field(default=None, alias="url", description="Only to a URL that matches.")
    wait_until: WaitUntil = "load"


class WaitForUrl(WaitingAction):
    """Wait until the page is at a URL that matches, and has loaded."""

    everyday = ()
    text_key = "observed"

    pattern: UrlGlob = Field(alias="url")
    wait_until: WaitUntil = "load"


class WaitForLoad(WaitingAction):
    """Wait until the page's document has loaded."""

    text_key = "observed"

    state: Literal["load", "domcontentloaded", "networkidle"] = Field(
        default="load",
        validation_alias=AliasChoices("state", "waitUntil"),
        description="networkidle: no requests for 500 ms.",
    )


class Wait(PageAction):
    """Wait for a duration. Prefer wait_for_selector, which goes on as soon as it can."""

    lane = Lane.BESIDE
    text_key = "observed"

    duration: int = Field(ge=0, le=60_000, description="Milliseconds.")

    def allowed_ms(self) -> int:
        return self.duration + 1_000

    @property
    def wakes_page(self) -> bool:
        return False
