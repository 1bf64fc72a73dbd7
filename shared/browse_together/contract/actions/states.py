"""What resources are made of: a page's state, an element, a picture. An answer may be as old as the caller allows."""

from typing import Annotated, Final

from pydantic import Field

from browse_together.contract.actions.arguments import Selector
from browse_together.contract.actions.base import PageAction

CURRENT: Final = "current"

MaxAge = Annotated[
    int,
    Field(ge=0, le=3_600_000, description="Milliseconds that the answer may be old, at the page's same revision."),
]


class GetPageState(PageAction):
    """Get the state of a page: URL, title, how far it has loaded, its frames, and its description."""

    everyday = ()
    untrusted = True

    max_age: MaxAge = 0


class GetElement(PageAction):
    """Get what is known of an element: whether it is there, visible and enabled, its box, attributes, text and HTML."""

    everyday = ()
    untrusted = True

    selector: Selector = Field(description="Ref (e12), CSS or role=...")
    max_age: MaxAge = 0


class GetScreenshot(PageAction):
    """Get a screenshot that you took, by its artifactId, or the current one."""

    everyday = ("screenshotId",)

    screenshot_id: str = Field(default=CURRENT, min_length=1, max_length=64, description="artifactId, or `current`.")
    max_age: MaxAge = 0
