"""Looking into a page as its developers do: its console, and the frames that it is made of."""

from typing import Literal

from pydantic import Field

from shared.actions.base import Alias, Lane, PageAction
from shared.actions.reading import Budget

ConsoleType = Literal["exception", "error", "warning", "info", "log", "debug", "other"]


class GetConsoleMessages(PageAction):
    """Get what scripts of the page said on the console, and what they threw without catching it: the last 200 of each,
    oldest first. What was said on earlier documents is for who held the page then."""

    lane = Lane.BESIDE
    opens = False
    toolset = "inspection"
    untrusted = True
    shown = "messages"
    aliases = (Alias("get_page_errors", presets={"types": ["exception"]}),)

    types: list[ConsoleType] | None = Field(default=None, description="Only these; exception: thrown, with its stack.")
    text: str | None = Field(default=None, min_length=1, max_length=1_000, description="Only with this text in it.")
    since: int = Field(default=0, ge=0, description="Only after this number: `last` of an earlier reply.")
    limit: int = Field(default=50, ge=1, le=400, description="At most; the latest.")
    budget: Budget = None


class ListFrames(PageAction):
    """List the iframes of a page: URL, name, and the selector that `frame` arguments take."""

    toolset = "inspection"
    untrusted = True
    shown = "frames"

    budget: Budget = None
