"""Pictures of a page."""

from typing import Literal

from pydantic import Field

from shared.actions.base import Clip, PageAction, Selector


class Screenshot(PageAction):
    """Take a picture of what the page shows, of the full page, of one element, or of a region."""

    selector: Selector | None = Field(default=None, description="Only this element; the first match.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to look in.")
    full_page: bool = Field(default=False, description="The whole scrollable page.")
    type: Literal["png", "jpeg", "webp"] = Field(default="png", description="Image format.")
    quality: int = Field(default=80, ge=0, le=100, description="Quality of jpeg and webp; png has none.")
    omit_background: bool = Field(
        default=False, description="Transparent where the page has no background; not with jpeg."
    )
    clip: Clip | None = Field(default=None, description="Only this region of the page.")
    animations: Literal["disabled", "allow"] = Field(default="allow", description="`disabled` finishes them first.")
    caret: Literal["hide", "initial"] = Field(default="hide", description="The text caret.")
    scale: Literal["css", "device"] = Field(
        default="device", description="One picture pixel for each CSS or device pixel."
    )
    mask: list[Selector] | None = Field(default=None, description="Elements to paint over.")
    mask_color: str | None = Field(default=None, description="CSS colour of the paint.")
    style: str | None = Field(default=None, description="CSS to apply while the picture is taken.")
