"""Waiting for time to pass or for an element, beside the turns of the page."""

from typing import Literal

from pydantic import Field

from shared.actions.base import Lane, PageAction, Selector, WaitingAction


class WaitForSelector(WaitingAction):
    """Wait until an element appears (or, by `state`, is attached, hidden or gone)."""

    shown = "observed"

    selector: Selector = Field(description='Ref (e12), CSS, text=..., role=button[name="..."] or //xpath.')
    state: Literal["attached", "detached", "visible", "hidden"] = Field(
        default="visible", description="What to wait for."
    )
    frame: Selector | None = Field(default=None, description="Selector of its iframe.")
    strict: bool = Field(default=False, description="Refuse when several match.")


class Wait(PageAction):
    """Wait for a duration. Prefer wait_for_selector, which goes on as soon as it can."""

    lane = Lane.BESIDE
    shown = "observed"

    duration: int = Field(ge=0, le=60_000, description="Milliseconds.")

    def allowed_ms(self) -> int:
        return self.duration + 1_000
