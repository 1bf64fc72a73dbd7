"""Reading a page: its content, and its accessibility tree with refs."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.actions.arguments import Selector
from shared.actions.base import PageAction
from shared.filenames import FileName

Budget = Annotated[
    int | None,
    Field(ge=100, le=5_000_000, description="Characters to return at most; the rest by cursor."),
]
Named = Annotated[FileName | None, Field(description="Save it as this.")]
Cursor = Annotated[str | None, Field(description="Of the reply before, to read on.")]


class Content(PageAction):
    """Read the page as HTML, markdown or text. Long content ends with a cursor.

    To find something to act on, `find` and `snapshot` are shorter."""

    everyday = ("format", "selector", "cursor")
    text_key = "content"
    extra_keys = ("inFrames", "cut")
    untrusted = True

    format: Literal["html", "markdown", "text"] = Field(default="html", description="Form of the content.")
    selector: Selector | None = Field(default=None, description="Only this element.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to read.")
    include_shadow: bool = Field(default=False, description="With html: open shadow roots too, as templates.")
    budget: Budget = None
    cursor: Cursor = None


class Snapshot(PageAction):
    """Get the page as an accessibility tree with refs (e12). `find` is shorter.

    What can be acted on, and what it is in, has a ref that any selector argument takes until the page's document
    changes."""

    everyday = ("selector", "interactiveOnly")
    text_key = "snapshot"
    untrusted = True

    selector: Selector | None = Field(default=None, description="Only this element.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe that `selector` is looked up in.")
    depth: int | None = Field(default=None, ge=1, le=100, description="Levels of the tree to show.")
    interactive_only: bool = Field(default=False, description="Only controls and headings.")
    boxes: bool = Field(default=False, description="Add each element's box: x, y, width, height in px.")
    since: bool = Field(default=False, description="Only what changed since your last snapshot of the page.")
    filename: Named = None
    budget: Budget = None
    cursor: Cursor = None


class Find(PageAction):
    """Find elements by text, by role and name, or by selector: at most 12, with refs to act on.

    Each with its state, and its row's or section's heading."""

    everyday = ("text", "role", "name", "selector")
    text_key = "found"
    untrusted = True

    text: str | None = Field(default=None, min_length=1, description="Part of its words.")
    role: str | None = Field(default=None, min_length=1, description="button, link, row, ...")
    named: str | None = Field(default=None, alias="name", min_length=1, description="Part of the name.")
    selector: Selector | None = Field(default=None, description="All that match, or what is in them.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe that `selector` is looked up in.")

    @model_validator(mode="after")
    def _something_to_find(self) -> Self:
        if not (self.text or self.role or self.named or self.selector):
            raise ValueError("needs 'text', 'role', 'name' or 'selector'")
        return self
