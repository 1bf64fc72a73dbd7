"""Reading a page: its content, and its accessibility tree with refs."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from browse_together.contract.actions.arguments import Part, Selector
from browse_together.contract.actions.base import PageAction
from browse_together.contract.filenames import FileName

MOST_QUERY = 400
MOST_QUERIES = 12

Words = Annotated[str, Field(min_length=1)]
Budget = Annotated[
    int | None,
    Field(ge=100, le=5_000_000, description="Most characters to return; the rest by cursor."),
]
Named = Annotated[FileName | None, Field(description="Save it as this.")]
Cursor = Annotated[str | None, Field(description="From an earlier reply.")]


class Content(PageAction):
    """Read the page, best as markdown; a long one by `query` or `section`.

    `query` returns the passages about it. Without arguments, a short page comes as raw HTML; a long one as its headings
    with handles, its beginning, and a cursor. To find something to act on, `find` and `snapshot` are shorter."""

    everyday = ("format", "query", "section", "cursor")
    text_key = "content"
    extra_keys = ("inFrames", "cut")
    untrusted = True

    query: str | None = Field(default=None, min_length=1, max_length=MOST_QUERY, description="Question or words.")
    section: str | None = Field(default=None, min_length=1, max_length=MOST_QUERY, description="Handle or heading.")
    format: Literal["html", "markdown", "text"] | None = Field(default=None, description="Raw HTML without it.")
    selector: Selector | None = Field(default=None, description="Only this element.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to read.")
    unseen: bool = Field(default=False, description="Only the text that nobody sees, which is otherwise left out.")
    include_shadow: bool = Field(default=False, description="With html: open shadow roots too, as templates.")
    budget: Budget = None
    cursor: Cursor = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.query and self.section:
            raise ValueError("takes 'query' or 'section', not both")
        if self.unseen and (self.query or self.section or self.format):
            raise ValueError("gives what nobody sees as text, of all: leave out 'query', 'section' and 'format'")
        if (self.query or self.section) and self.format not in {None, "text"}:
            raise ValueError("gives a section, and passages about a query, as text: leave out 'format'")
        return self


class Snapshot(PageAction):
    """Get the accessibility tree, with refs (e12). `find` is shorter.

    Elements that can be acted on, and their containers, have refs. Every selector argument takes a ref until the
    document changes."""

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


class FindQuery(Part):
    """One of several questions."""

    text: str | None = Field(default=None, min_length=1, description="Part of what it says, in any case.")
    role: str | None = Field(default=None, min_length=1, description="ARIA role: button, link, textbox, row, ...")
    named: str | None = Field(default=None, alias="name", min_length=1, description="Part of its accessible name.")

    @model_validator(mode="after")
    def _something_to_find(self) -> Self:
        if not (self.text or self.role or self.named):
            raise ValueError("needs 'text', 'role' or 'name'")
        return self


class Find(PageAction):
    """Find at most 12 elements, with refs.

    Each with its state, and its row's or section's heading. Each of `queries` is a text, or {text, role, name}."""

    everyday = ("text", "role", "name", "selector", "queries")
    text_key = "found"
    untrusted = True

    text: str | None = Field(default=None, min_length=1, description="Part of its words.")
    role: str | None = Field(default=None, min_length=1, description="button, link, row, ...")
    named: str | None = Field(default=None, alias="name", min_length=1, description="Part of the name.")
    selector: Selector | None = Field(default=None, description="All that match, or what is in them.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe that `selector` is looked up in.")
    queries: list[Words | FindQuery] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_QUERIES,
        description="Several at once: texts.",
    )

    @model_validator(mode="after")
    def _something_to_find(self) -> Self:
        if self.queries and (self.text or self.role or self.named):
            raise ValueError("takes 'queries', or one of 'text', 'role' and 'name'")
        if not (self.text or self.role or self.named or self.selector or self.queries):
            raise ValueError("needs 'text', 'role', 'name', 'selector' or 'queries'")
        return self

    @property
    def asked(self) -> list[FindQuery]:
        """Return what is asked for of the tree; nothing for a selector alone."""
        if self.queries or not (self.text or self.role or self.named):
            return [FindQuery(text=each) if isinstance(each, str) else each for each in self.queries or []]
        return [FindQuery(text=self.text, role=self.role, name=self.named)]
