"""Several actions in one call."""

from typing import Annotated

from pydantic import Field

from shared.actions.base import MOST_PARTS, Carried, Effect, PageAction, Part, Selector, by_parts, strongest


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


class FormField(Part):
    selector: Selector = Field(description="Ref, CSS, role=... or //xpath; of radio buttons, all of the group.")
    value: str | bool | int | float | list[str] = Field(
        description="Text; true or false for a checkbox; an option's value or label, or a list of them."
    )


class FillForm(PageAction):
    """Fill many fields of a form at once: text, checkboxes, radio buttons and selects are told apart by themselves.
    The reply says what each has afterwards."""

    effect = Effect.ACTS
    shown = "observed"
    told = frozenset({"submit"})

    fields: Annotated[
        list[FormField],
        Field(min_length=1, max_length=100, description="In the order in which they are to be filled."),
    ]
    submit: Selector | None = Field(default=None, description="Button to click when all are filled.")
    frame: Selector | None = Field(default=None, description="Selector of the iframe to look in.")
    timeout: int = Field(default=30_000, ge=1, le=120_000, description="Milliseconds for all of it.")


class Refill(PageAction):
    """Fill again what you had filled and not sent when the page was lost, as its notice offers. Secrets are not kept:
    they are named, for you to give again."""

    effect = Effect.ACTS
    shown = "observed"
    idempotent = True

    timeout: int = Field(default=30_000, ge=1, le=120_000, description="Milliseconds for all of it.")
