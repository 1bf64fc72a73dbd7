"""Looking into a page as its developers do: its elements, its console, and the frames that it is made of."""

from typing import Literal

from pydantic import Field

from browse_together.contract.actions.arguments import Selector
from browse_together.contract.actions.base import PageAction
from browse_together.contract.actions.reading import Budget
from browse_together.contract.actions.traits import Lane

ConsoleType = Literal["exception", "error", "warning", "info", "log", "debug", "other"]


class FindElements(PageAction):
    """Look at all that match a selector: how many, with ref, text, state and box.

    As they are now; the box is in px of the window. No match is an answer, not an error."""

    everyday = ("attributes",)
    untrusted = True
    selector: Selector = Field(description="Ref (e12), CSS or role=...")
    limit: int = Field(default=20, ge=1, le=100, description="Most elements to return.")
    attributes: bool = Field(default=False, description="With their attributes.")
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    budget: Budget = None


class GetConsoleMessages(PageAction):
    """Get what the page's scripts logged and threw, oldest first.

    Console messages and uncaught exceptions of the page's document: the last 200 of each."""

    everyday = ()
    lane = Lane.BESIDE
    needs_open_page = False
    untrusted = True
    text_key = "messages"
    extra_keys = ("last", "earlier")

    types: list[ConsoleType] | None = Field(
        default=None, max_length=20, description="Only these; exception: thrown, with its stack."
    )
    text: str | None = Field(default=None, min_length=1, max_length=1_000, description="Only with this text in it.")
    since: int = Field(default=0, ge=0, description="Only after this number: `last` of an earlier reply.")
    all: bool = Field(default=False, description="Earlier documents too.")
    limit: int = Field(default=50, ge=1, le=400, description="Most messages; the latest.")
    budget: Budget = None


class ListFrames(PageAction):
    """List the iframes of a page: URL, name, and the selector that `frame` arguments take."""

    everyday = ()
    untrusted = True
    text_key = "frames"

    budget: Budget = None
