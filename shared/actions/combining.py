"""Several actions in one call."""

from typing import Annotated

from pydantic import Field

from shared.actions.base import MOST_PARTS, Carried, Effect, PageAction, by_parts, strongest


class Batch(PageAction):
    """Do several actions on one page in one turn, such as {"action": "click", "selector": "#buy"}. Stops at the first
    that fails, and says what was done before it. Cheaper than single calls where you need not look in between."""

    effect = by_parts(Effect.DESTROYS, strongest)
    carries = ("steps",)
    shown = "steps"

    steps: Annotated[
        list[Carried],
        Field(
            strict=True,
            min_length=1,
            max_length=MOST_PARTS,
            description="Done in this order.",
        ),
    ]
    timeout: int = Field(default=60_000, ge=1, le=120_000, description="Milliseconds for all steps together.")
