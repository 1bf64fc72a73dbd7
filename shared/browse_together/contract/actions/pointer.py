"""The mouse by itself, dragging, and scrolling."""

from typing import Literal

from pydantic import AliasChoices, Field

from browse_together.contract.actions.arguments import Part, Selector
from browse_together.contract.actions.base import ElementAction, PageAct
from browse_together.contract.actions.interaction import At, Force, Modifiers, NoWaitAfter, Trial
from browse_together.contract.actions.interaction import Scroll as Scrolling
from browse_together.contract.actions.traits import Aim, Input


class DragAndDrop(ElementAction):
    """Drag an element onto another one.

    The reply says what the page made of it: an HTML drag and where it was dropped, or where the element is now."""

    everyday = ()
    input = Input.POINTER  # where it is let go on the same element, that is a click

    selector: Selector = Field(
        validation_alias=AliasChoices("source", "selector"),
        serialization_alias="source",
        description="Element to drag: ref, CSS, text=, role=.",
    )
    target: Selector = Field(description="Element to drop it on.")
    source_position: At = None
    target_position: At = None
    force: Force = False
    no_wait_after: NoWaitAfter = False
    trial: Trial = False
    steps: int = Field(default=5, ge=1, le=1_000, description="Mouse moves on the way.")
    scroll: Scrolling = "auto"

    @property
    def aim(self) -> Aim:
        return super().aim._replace(onto=self.target, point=self.source_position)


class Point(Part):
    x: float = Field(description="Px to the right.")
    y: float = Field(description="Px down.")


class Mouse(PageAct):
    """Use the mouse at a point of the window, where no selector helps.

    Points are in CSS px of the viewport. It is for places such as on a canvas; the reply names the element there."""

    everyday = ("to",)

    do: Literal["move", "click", "down", "up", "drag", "wheel"] = Field(description="What to do there.")
    x: float = Field(ge=0, description="Px from the left.")
    y: float = Field(ge=0, description="Px from the top.")
    to: Point | None = Field(default=None, description="drag: let go at this {x, y}.")
    by: Point | None = Field(default=None, description="wheel: by this {x, y}.")
    button: Literal["left", "right", "middle"] = Field(default="left", description="Mouse button.")
    click_count: int = Field(default=1, ge=1, le=3, description="2 is a double click.")
    delay: float | None = Field(default=None, ge=0, le=10_000, description="click: ms between down and up.")
    steps: int = Field(default=5, ge=1, le=1_000, description="move, drag: mouse moves on the way.")
    modifiers: Modifiers = None


class Scroll(PageAct):
    """Scroll the page or an element: one screen down, by px or to an end; or an element into view.

    The reply says where it is then, and how much more there is."""

    everyday = ("selector", "to", "y")
    gives = False

    selector: Selector | None = Field(default=None, description="Element to show, or to scroll in.")
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=True, description="false takes the first of several.")
    to: Literal["top", "bottom", "view"] | None = Field(default=None, description="Where to first.")
    x: float | None = Field(default=None, description="Px to the right; negative is left.")
    y: float | None = Field(default=None, description="Px down; negative is up.")
